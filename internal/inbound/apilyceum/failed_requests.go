package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

func (f *Face) failedRequests() []wire.Operation {
	return []wire.Operation{
		wire.Many("listFailedRequests", "/lyceum/v1/failed_requests", perPage, bindFailedRequests, f.Failures.List,
			"failed_requests", failedRequest),
	}
}

func bindFailedRequests(in *wire.Input) lyceum.FailedRequestFilter {
	return lyceum.FailedRequestFilter{RequestID: wire.Parsed(in.Query("request_id"), access.ParseRequestID)}
}

func failedRequest(r lyceum.FailedRequest) gen.FailedRequest {
	return gen.FailedRequest{
		ID: int32(r.ID), RequestID: r.RequestID, RequestedAt: wire.Moment(r.At), Method: r.Method, Path: r.Path,
		Status: r.Status, TookUs: r.Took, Actor: r.Actor, UserID: wire.Number(r.User), Message: r.Message,
	}
}
