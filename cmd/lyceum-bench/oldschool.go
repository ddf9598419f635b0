package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// oldBinary builds the lyceum of a commit, in a worktree that is removed afterwards.
func oldBinary(ctx context.Context, work, commit string) (string, error) {
	tree, binary := filepath.Join(work, "old-source"), filepath.Join(work, "old-lyceum")
	if err := runIn(ctx, ".", "git", "worktree", "add", "--force", "--detach", tree, commit); err != nil {
		return "", err
	}
	defer func() { _ = runIn(context.WithoutCancel(ctx), ".", "git", "worktree", "remove", "--force", tree) }()
	return binary, runIn(ctx, tree, "go", "build", "-trimpath", "-o", binary, "./cmd/lyceum")
}

func runIn(ctx context.Context, dir, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir, command.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, said)
	}
	return nil
}

// shopper fills a school of an older lyceum through its API.
type shopper struct {
	ctx    context.Context //nolint:containedctx // of the run
	server *server
	users  int
	sales  int
	once   plan // access does not end
	limit  plan // access ends after a while
	repeat plan // a subscription
}

type plan struct {
	ID        int    `json:"id"`
	CourseID  int    `json:"course_id"`
	Currency  string `json:"currency"`
	Cap       *int   `json:"enrollment_cap"`
	Frequency struct {
		Type string `json:"type"`
	} `json:"frequency"`
}

// limitedPlan is the plan that gives access only for a while; the sandbox has none.
const limitedPlan = 9001

// oldFiles are imported into the school of the older lyceum, by kind, in order: a plan with a
// limit, its sale to the learner, and enrollments that end, one of which belongs to that sale.
var oldFiles = [][2]string{
	{"pricing-plans", `id,course_id,name,price,currency,frequency,access_limit_interval,access_limit_duration
9001,3,Half a year,9900,USD,one_time_payment,month,6
`},
	{"transactions", `id,user_id,pricing_plan_id,sale_id,created_at,purchased_at,charge,final_price,currency,tax_charge,` +
		`revenue,status,has_chargeback,chargeback_fee,affiliate_id,affiliate_fees,author_id,author_fees,coupon_id,` +
		`refunded_at,amount_refunded
900001,5,9001,900001,2026-02-10T12:00:00Z,2026-02-10T12:00:00Z,9900,9900,USD,0,9900,paid,,,,0,,0,,,0
`},
	{"enrollments", `user_id,course_id,enrolled_at,expires_at,ended_at
5,3,2026-02-10T12:00:00Z,2099-08-10T12:00:00Z,
6,3,2026-02-11T12:00:00Z,2099-08-11T12:00:00Z,
7,3,2025-02-11T12:00:00Z,2025-08-11T12:00:00Z,2025-08-11T12:00:00Z
`},
}

// importOld imports oldFiles.
func importOld(ctx context.Context, s settings, old string, place oldPlace) error {
	for _, of := range oldFiles {
		path := filepath.Join(s.work, of[0]+".csv")
		if err := os.WriteFile(path, []byte(of[1]), 0o600); err != nil {
			return err
		}
		if err := runIn(ctx, ".", old, append([]string{"import", of[0], path}, place.database...)...); err != nil {
			return err
		}
	}
	return nil
}

// send sends a request to the server, and fails unless the response is a success.
func (s *server) send(ctx context.Context, method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("apiKey", s.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s %s is a %d: %s", method, path, text, response.StatusCode, said)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(said, into)
}

func newShopper(ctx context.Context, s *server) (*shopper, error) {
	b := &shopper{ctx: ctx, server: s}
	var list struct {
		Plans []plan `json:"pricing_plans"`
	}
	if err := s.send(ctx, http.MethodGet, "/v1/pricing_plans?per=100", nil, &list); err != nil {
		return nil, err
	}
	for _, listed := range list.Plans { // the list does not have their frequency
		var shown struct {
			Plan plan `json:"pricing_plan"`
		}
		if err := s.send(ctx, http.MethodGet, fmt.Sprintf("/v1/pricing_plans/%d", listed.ID), nil, &shown); err != nil {
			return nil, err
		}
		p := shown.Plan
		switch of := p.Frequency.Type; {
		case p.ID == limitedPlan:
			b.limit = p
		case p.Cap != nil || p.CourseID == 0 || p.Currency != "USD":
		case of == "subscription" && b.repeat.ID == 0:
			b.repeat = p
		case of == "one_time_payment" && b.once.ID == 0:
			b.once = p
		}
	}
	if b.once.ID == 0 || b.limit.ID == 0 || b.repeat.ID == 0 {
		return nil, fmt.Errorf("the school lacks a plan: %+v", list.Plans)
	}
	return b, nil
}

// user creates a learner.
func (b *shopper) user() (int, error) {
	b.users++
	var made struct {
		ID int `json:"id"`
	}
	form := map[string]any{"email": fmt.Sprintf("history%d@example.com", b.users), "name": fmt.Sprint("History ", b.users)}
	err := b.server.send(b.ctx, http.MethodPost, "/v1/users", form, &made)
	return made.ID, err
}

type bought struct {
	Sale struct {
		ID           int `json:"id"`
		Transactions []struct {
			ID int `json:"id"`
		} `json:"transactions"`
	} `json:"sale"`
}

// buy records a sale and returns it with its first payment.
func (b *shopper) buy(user int, p plan) (sale, payment int, err error) {
	b.sales++
	var made bought
	err = b.server.send(b.ctx, http.MethodPost, "/lyceum/v1/sales", map[string]any{
		"user_id": user, "pricing_plan_id": p.ID, "tax_charge": 190, "reference": fmt.Sprint("history-", b.sales),
	}, &made)
	if err == nil && len(made.Sale.Transactions) == 0 {
		err = fmt.Errorf("sale %d has no payment", made.Sale.ID)
	}
	if err != nil {
		return 0, 0, err
	}
	return made.Sale.ID, made.Sale.Transactions[0].ID, nil
}

func (b *shopper) post(body map[string]any, path string, args ...any) error {
	return b.server.send(b.ctx, http.MethodPost, fmt.Sprintf(path, args...), body, nil)
}

func (b *shopper) refund(payment int, body map[string]any) error {
	return b.post(body, "/lyceum/v1/transactions/%d/refunds", payment)
}

func (b *shopper) enroll(user, course int) error {
	return b.post(map[string]any{"user_id": user, "course_id": course}, "/v1/enroll")
}

// histories returns functions that each make up one learner's history.
func (b *shopper) histories() []func(user int) error {
	everything := map[string]any{}
	twice := func(refunded int) func(int) error {
		return func(user int) error {
			_, first, e1 := b.buy(user, b.once)
			_, second, e2 := b.buy(user, b.once)
			if err := errors.Join(e1, e2); err != nil || refunded == 0 {
				return err
			}
			return b.refund([]int{first, second}[refunded-1], everything)
		}
	}
	paid := func(p plan, then func(user, sale, payment int) error) func(int) error {
		return func(user int) error {
			sale, payment, err := b.buy(user, p)
			if err != nil {
				return err
			}
			return then(user, sale, payment)
		}
	}
	chargeback := func(outcome string) func(int) error {
		return paid(b.once, func(_, _, payment int) error {
			err := b.post(map[string]any{"fee": 1500}, "/lyceum/v1/transactions/%d/chargebacks", payment)
			if err != nil || outcome == "" {
				return err
			}
			return b.post(map[string]any{"outcome": outcome}, "/lyceum/v1/transactions/%d/chargebacks/close", payment)
		})
	}
	byHand := func(then func(int) error) func(int) error {
		return func(user int) error { return errors.Join(b.enroll(user, b.once.CourseID), then(user)) }
	}
	return []func(int) error{
		twice(0), twice(1), twice(2),
		byHand(func(int) error { return nil }),
		byHand(paid(b.once, func(_, _, _ int) error { return nil })),
		byHand(paid(b.once, func(_, _, payment int) error { return b.refund(payment, everything) })),
		paid(b.once, func(_, _, payment int) error { return b.refund(payment, everything) }),
		paid(b.once, func(_, _, payment int) error { return b.refund(payment, map[string]any{"amount": 100}) }),
		paid(b.limit, func(_, _, _ int) error { return nil }),
		paid(b.limit, func(user, _, _ int) error { return b.enroll(user, b.once.CourseID) }),
		paid(b.repeat, func(_, _, _ int) error { return nil }),
		paid(b.repeat, func(_, sale, _ int) error { return b.post(everything, "/lyceum/v1/sales/%d/cancel", sale) }),
		paid(b.repeat, func(_, sale, payment int) error {
			return errors.Join(b.post(everything, "/lyceum/v1/sales/%d/renewals", sale), b.refund(payment, everything))
		}),
		paid(b.once, func(user, _, _ int) error {
			return b.post(map[string]any{"user_id": user, "course_id": b.once.CourseID}, "/v1/unenroll")
		}),
		chargeback(""), chargeback("won"), chargeback("lost"),
		func(int) error {
			return b.post(map[string]any{
				"email": fmt.Sprintf("history%d@example.com", b.users), "pricing_plan_id": b.once.ID,
			}, "/lyceum/v1/orders")
		},
	}
}

// live runs every history for a new learner.
func (b *shopper) live() error {
	for i, history := range b.histories() {
		user, err := b.user()
		if err == nil {
			err = history(user)
		}
		if err != nil {
			return fmt.Errorf("history %d: %w", i, err)
		}
	}
	return nil
}
