package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.FailedRequests, noun[lyceum.FailedRequestID, lyceum.FailedRequest, lyceum.FailedRequestFilter]{
	table: table[lyceum.FailedRequest]{name: "failed_requests"},
	what:  "failed request",
	key:   idKey("failed_request_id", func(r *lyceum.FailedRequest) *lyceum.FailedRequestID { return &r.ID }),
	rest: []column[lyceum.FailedRequest]{
		textColumn("request_id", func(r *lyceum.FailedRequest) *string { return &r.RequestID }),
		timeColumn("at", func(r *lyceum.FailedRequest) *time.Time { return &r.At }),
		textColumn("method", func(r *lyceum.FailedRequest) *string { return &r.Method }),
		textColumn("path", func(r *lyceum.FailedRequest) *string { return &r.Path }),
		intColumn("status", func(r *lyceum.FailedRequest) *int32 { return &r.Status }),
		intColumn("took", func(r *lyceum.FailedRequest) *int64 { return &r.Took }),
		textColumn("actor", func(r *lyceum.FailedRequest) *string { return &r.Actor }),
		optIntColumn("user_id", func(r *lyceum.FailedRequest) *lyceum.Opt[lyceum.UserID] { return &r.User }),
		textColumn("message", func(r *lyceum.FailedRequest) *string { return &r.Message }),
	},
	narrow: func(w *where, f lyceum.FailedRequestFilter) {
		if f.RequestID.Present {
			w.equal("request_id", f.RequestID.Value)
		}
	},
	order: func(lyceum.FailedRequestFilter) string { return "failed_request_id DESC" },
})
