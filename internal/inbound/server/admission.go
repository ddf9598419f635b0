package server

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// errMethod marks a method that a path does not support.
var errMethod = errors.New("method not allowed")

// admit finds the operation and decides whether the caller may call it. Requests are counted
// against the school's limit, or by address for a caller without a school.
func (h *handler) admit(x *exchange, r *http.Request, to *route) error {
	if to.pattern == "" {
		return h.refuse(x, r, lyceum.Errorf(lyceum.NotFound, noRoute))
	}
	op, ok := to.operations[r.Method]
	if !ok {
		return h.refuse(x, r, &lyceum.Error{
			Kind: lyceum.NotFound, Code: "method_not_allowed", Detail: "this path accepts " + to.allow, Err: errMethod,
		})
	}
	x.op = op
	switch op.Credential {
	case wire.Bearer:
		return h.admitLearner(x, r, op)
	case wire.Open:
		x.who.Count = func(b access.Bucket) error { return h.count(x, b) }
		return nil
	case wire.APIKey:
	}
	return h.admitKey(x, r, op)
}

// admitKey admits a program that sends a valid API key.
func (h *handler) admitKey(x *exchange, r *http.Request, op *operation) error {
	keys := r.Header["Apikey"]
	if len(keys) > 1 {
		return h.refuse(x, r, lyceum.Invalidf("the header apiKey must be sent once"))
	}
	presented := ""
	switch {
	case len(keys) == 1:
		presented = keys[0]
	case op.BearerKey:
		token, err := bearerOf(r)
		if err != nil {
			return h.refuse(x, r, err)
		}
		presented = token
	}
	by, err := h.Keys.Check(r.Context(), presented)
	if err != nil {
		return h.refuse(x, r, err)
	}
	x.who.By = by
	if err := h.limit(x, r); err != nil {
		return err
	}
	entry, err := h.reach(x, r)
	if err == nil && entry > 0 {
		x.who.By, err = h.Keys.CheckSince(r.Context(), presented, entry)
		by = x.who.By
	}
	if err != nil {
		return err
	}
	if err := access.PermitDoor(by, op.Method+" "+op.Path); err != nil {
		return err
	}
	return by.Permit(op.Needs)
}

// admitLearner admits an app that sends a valid access token (RFC 6750, section 2.1). A token
// anywhere but in the header is ignored.
func (h *handler) admitLearner(x *exchange, r *http.Request, op *operation) error {
	token, err := bearerOf(r)
	if err == nil && token == "" {
		err = access.ErrNoBearer
	}
	if err != nil {
		return h.refuse(x, r, err)
	}
	learner, err := h.OAuth.Bearer(r.Context(), token)
	if err != nil {
		return h.refuse(x, r, err)
	}
	x.who.Learner, x.who.By = &learner, learner.By()
	if err := h.limit(x, r); err != nil {
		return err
	}
	entry, err := h.reach(x, r)
	if err == nil && entry > 0 {
		learner, err = h.OAuth.BearerSince(r.Context(), token, entry)
	}
	if err != nil {
		return err
	}
	return learner.May(op.Version, op.ID)
}

// bearerOf returns the bearer token of a request, or "" if it has none.
func bearerOf(r *http.Request) (string, error) {
	headers := r.Header["Authorization"]
	switch len(headers) {
	case 0:
		return "", nil
	case 1:
		if scheme, rest, _ := strings.Cut(headers[0], " "); strings.EqualFold(scheme, "bearer") {
			return strings.TrimSpace(rest), nil
		}
		return "", nil
	}
	return "", lyceum.Invalidf("the header Authorization must be sent once")
}

// refuse counts a request that is rejected whether or not the limit is exceeded.
func (h *handler) refuse(x *exchange, r *http.Request, err error) error {
	if exceeded := h.limit(x, r); exceeded != nil {
		return exceeded
	}
	return err
}

const noRoute = "no Route matched with those values"

// limit counts the request against its school, or otherwise its address.
func (h *handler) limit(x *exchange, r *http.Request) error {
	if school := x.school(); school != 0 {
		return h.count(x, access.Bucket{School: school})
	}
	return h.count(x, access.BucketOf(wire.AddressOf(r)))
}

// count counts the request and sets the rate limit headers of its response.
func (h *handler) count(x *exchange, bucket access.Bucket) error {
	if !h.Limiter.Enabled() {
		return nil
	}
	quota, err := h.Limiter.Count(&x.held, bucket)
	if err != nil {
		return err
	}
	header := x.Header()
	limit, remaining := []string{strconv.FormatInt(quota.Limit, 10)}, []string{strconv.FormatInt(quota.Remaining, 10)}
	reset := []string{strconv.Itoa(quota.Reset)}
	header["Ratelimit-Limit"] = limit
	header["Ratelimit-Remaining"] = remaining
	header["Ratelimit-Reset"] = reset
	header["X-Ratelimit-Limit-Minute"] = limit
	header["X-Ratelimit-Remaining-Minute"] = remaining
	if !quota.Exceeded {
		return nil
	}
	header["Retry-After"] = reset
	return lyceum.Errorf(lyceum.RateLimited, "API rate limit exceeded")
}
