package apilyceum

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// Rules are what the face calls.
type Rules struct {
	Sales    *sales.Service
	People   *people.Service
	Learning *learning.Service
	Events   *events.Service
	Accounts *access.Accounts
	Feed     *events.Feed
	// SecretText writes the secret of a webhook as Standard Webhooks has it.
	SecretText func([]byte) string
	// School gives what the school of a key chose.
	School func(context.Context, lyceum.SchoolID) (lyceum.School, error)
}

// Face answers the requests of contract/lyceum.yaml.
type Face struct{ Rules }

var _ wire.Face = (*Face)(nil)

// New makes the face over the rules it calls.
func New(r Rules) *Face { return &Face{r} }

// Name implements wire.Face.
func (f *Face) Name() string { return "lyceum" }

// Operations implements wire.Face.
func (f *Face) Operations() []wire.Operation {
	const sale, transaction, order = "/lyceum/v1/sales/{sale_id}", "/lyceum/v1/transactions/{transaction_id}", "/lyceum/v1/orders/{order_id}"
	const webhook, delivery = "/lyceum/v1/webhooks/{webhook_id}", "/lyceum/v1/deliveries/{delivery_id}"
	const user = "/lyceum/v1/users/{user_id}"
	const comments = "/lyceum/v1/lectures/{lecture_id}/comments"
	const created, ok = http.StatusCreated, http.StatusOK
	return []wire.Operation{
		post("createSale", "/lyceum/v1/sales", created, bindNewSale, f.Sales.Record, oneSale),
		read("showSale", sale, wire.With(bindSale, f.ShowSale)),
		post("createRenewal", sale+"/renewals", created, bindNewRenewal, f.renew, oneTransaction),
		post("cancelSale", sale+"/cancel", ok, bindCancel, f.Sales.Cancel, oneSaleSummary),
		read("showTransaction", transaction, wire.With(bindTransaction, f.ShowTransaction)),
		post("createRefund", transaction+"/refunds", created, bindNewRefund, f.refund, oneTransaction),
		post("openChargeback", transaction+"/chargebacks", created, bindNewChargeback, f.openChargeback, oneTransaction),
		post("closeChargeback", transaction+"/chargebacks/close", ok, bindOutcome, f.closeChargeback, oneTransaction),
		post("createOrder", "/lyceum/v1/orders", created, bindNewOrder, f.Sales.OpenOrder, oneOrder),
		read("showOrder", order, wire.With(bindOrder, f.ShowOrder)),
		post("completeOrder", order+"/complete", created, bindOrderPayment, f.completeOrder, oneSale),
		post("abandonOrder", order+"/abandon", ok, bindAbandon, f.Sales.AbandonOrder, oneOrder),
		read("showSchool", "/lyceum/v1/school", wire.With(bindNothing, f.ShowSchool)),
		write("updateSchool", http.MethodPatch, "/lyceum/v1/school", wire.With(bindSchoolChange, f.UpdateSchool)),
		write("setUserTags", http.MethodPut, user+"/tags", wire.With(bindUserTags, f.SetUserTags)),
		post("disableUser", user+"/disable", ok, bindUser, f.Accounts.SwitchOff, oneUserState),
		post("enableUser", user+"/enable", ok, bindUser, f.Accounts.SwitchOn, oneUserState),
		post("createQuizResponse", "/lyceum/v1/quizzes/{quiz_id}/responses", created, bindAnswer, f.Learning.Answer, oneResponse),
		heavy(read("listComments", comments, wire.With(bindListComments, f.ListComments))),
		post("createComment", comments, created, bindNewComment, f.Learning.Comment, oneComment),
		gone(write("deleteComment", http.MethodDelete, "/lyceum/v1/comments/{comment_id}", wire.With(bindComment, f.DeleteComment))),
		waiting(heavy(read("listEvents", "/lyceum/v1/events", wire.With(bindListEvents, f.ListEvents)))),
		read("listWebhooks", "/lyceum/v1/webhooks", wire.With(bindNothing, f.ListWebhooks)),
		secretPost(f, "createWebhook", "/lyceum/v1/webhooks", bindNewWebhook, f.Events.Create),
		read("showWebhook", webhook, wire.With(bindWebhook, f.ShowWebhook)),
		write("updateWebhook", http.MethodPatch, webhook, wire.With(bindWebhookChange, f.UpdateWebhook)),
		gone(write("deleteWebhook", http.MethodDelete, webhook, wire.With(bindWebhook, f.DeleteWebhook))),
		secretPost(f, "rotateWebhookSecret", webhook+"/secret", bindBare, f.Events.Rotate),
		post("testWebhook", webhook+"/test", created, bindTest, f.test, oneDelivery),
		post("resumeWebhook", webhook+"/resume", ok, bindResume, f.resume, oneWebhook),
		post("resendDeliveries", webhook+"/resend", ok, bindResend, f.Events.Resend, resent),
		read("listDeliveries", webhook+"/deliveries", wire.With(bindListDeliveries, f.ListDeliveries)),
		heavy(read("showDelivery", delivery, wire.With(bindShowDelivery, f.ShowDelivery))),
		post("resendDelivery", delivery+"/resend", ok, bindBareDelivery, f.Events.ResendOne, oneDelivery),
		waiting(heavy(read("listChanges", "/lyceum/v1/changes", wire.With(bindListChanges, f.ListChanges)))),
	}
}

func read(id, path string, serve wire.Endpoint) wire.Operation {
	return wire.Operation{ID: id, Method: http.MethodGet, Path: path, Needs: lyceum.Read, Serve: serve}
}

func waiting(op wire.Operation) wire.Operation {
	op.Waits = longestWait * time.Second
	return op
}

// heavy marks lists whose rows have no fixed size, or that pass over many.
func heavy(op wire.Operation) wire.Operation {
	op.Heavy = true
	return op
}

func gone(op wire.Operation) wire.Operation {
	op.Success = http.StatusNoContent
	return op
}

func write(id, method, path string, serve wire.Endpoint) wire.Operation {
	return wire.Operation{ID: id, Method: method, Path: path, Needs: lyceum.Write, Serve: serve}
}

// asked is what a request wants, and the key under which it happens once.
type asked[P any] struct {
	params P
	key    lyceum.Opt[string]
	hash   lyceum.KeyHash
}

// post is an operation that happens once for an Idempotency-Key. What it
// answers the first time it answers again.
func post[P, T any](id, path string, success int, bind func(*wire.Input) P, run func(context.Context, lyceum.By, P) (T, error), render func(T) any) wire.Operation {
	again := func(_ lyceum.SchoolID, kept []byte) ([]byte, error) { return kept, nil }
	return onceOnly(id, path, success, bind, run, render, render, again)
}

// onceOnly is post where what is kept with a key differs from what is answered;
// again makes the answer of it.
func onceOnly[P, T any](id, path string, success int, bind func(*wire.Input) P, run func(context.Context, lyceum.By, P) (T, error),
	render, keep func(T) any, again func(lyceum.SchoolID, []byte) ([]byte, error),
) wire.Operation {
	serve := wire.With(func(in *wire.Input) asked[P] {
		q := asked[P]{params: bind(in)}
		q.key, q.hash = in.Once()
		return q
	}, func(ctx context.Context, who wire.Principal, q asked[P]) (wire.Text, error) {
		by := lyceum.By{School: who.Caller.School, Actor: who.Caller.Actor()}
		if q.key.Present {
			by.Once = &lyceum.Once{Key: q.key.Value, Request: q.hash, Render: func(result any) ([]byte, error) { return json.Marshal(keep(result.(T))) }}
		}
		result, err := run(ctx, by, q.params)
		if before, ok := errors.AsType[*lyceum.RepeatError](err); ok {
			return again(by.School, before.Body)
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(render(result))
	})
	return wire.Operation{ID: id, Method: http.MethodPost, Path: path, Needs: lyceum.Write, Serve: serve, Success: success}
}

// codes has the word of each kind of error, for errors that have no code of their own.
var codes = map[lyceum.Kind]string{
	lyceum.Internal:        "internal_error",
	lyceum.Invalid:         "invalid_request",
	lyceum.Unauthenticated: "unauthenticated",
	lyceum.Forbidden:       "access_forbidden",
	lyceum.NotFound:        "not_found",
	lyceum.Conflict:        "conflict",
	lyceum.TooLarge:        "too_large",
	lyceum.RateLimited:     "rate_limit_exceeded",
	lyceum.Unavailable:     "unavailable",
}

// keyReused is the one code with a status of its own
// (draft-ietf-httpapi-idempotency-key-header-07, section 2.7).
const keyReused = "idempotency_key_reused"

// Failure implements wire.Face.
func (f *Face) Failure(e *lyceum.Error, _ string) (int, wire.Body) {
	body := gen.Error{Code: cmp.Or(e.Code, codes[e.Kind]), Message: strings.Join(e.Sentences(), "; "), Errors: []gen.FieldError{}}
	for _, wrong := range e.Fields {
		body.Errors = append(body.Errors, gen.FieldError{Field: wrong.Field, Message: wrong.Message})
	}
	if e.Code == keyReused {
		return http.StatusUnprocessableEntity, wire.JSON{Value: body}
	}
	return wire.Status(e.Kind), wire.JSON{Value: body}
}
