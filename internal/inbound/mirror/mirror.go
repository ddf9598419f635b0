package mirror

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// Options are the settings of a copy.
type Options struct {
	From   string // address of the other server
	Key    string // API key of the other school
	School lyceum.SchoolID

	Store    lyceum.Store
	People   *people.Service
	Learning *learning.Service
	Sales    *sales.Service
	Events   *events.Service

	LastIDs  bool // also accept ids above lyceum.MaxImportedID
	Clock    func() time.Time
	Sleep    func(context.Context, time.Duration) error // nil: time.Sleep with a context
	Parallel int                                        // concurrent requests; 0 means 4

	Files *Files // nil: no files are downloaded

	State    State             // zero: start from the beginning
	Keep     func(State) error // saves the state
	Resume   func(State)       // called with the state to resume, zero if State does not fit
	Progress func(phase string, rows int)
	Problem  func(text string) // called with each thing that could not be copied
}

// Result is what a copy did.
type Result struct {
	Saved    lyceum.Saved
	Problems int // rows that could not be copied
}

// actor is the name of a copy in the journal.
const actor = "mirror"

// Run copies the school, or resumes at State. Existing rows are updated, so that a copy
// can be repeated at any time.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	c, err := newClient(o.From, o.Key, o.Clock, o.Sleep)
	if err != nil {
		return Result{}, err
	}
	m := &mirror{Options: o, client: c, reported: map[string]bool{}}
	if err := m.resume(ctx); err != nil {
		return Result{}, err
	}
	if m.downloads, err = newDownloads(o.Files, o.From); err != nil {
		return Result{}, err
	}
	return m.result, m.run(ctx)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// mirror is one run of a copy.
type mirror struct {
	Options
	client    *client
	downloads *downloads // nil: no downloads
	result    Result
	rows      int // of the current phase
	reporting sync.Mutex
	reported  map[string]bool
}

// by returns the caller that saves the copied rows.
func (m *mirror) by() lyceum.By { return lyceum.By{School: m.School, Actor: actor} }

// phases returns the phases in an order in which every row comes after those that it
// refers to.
func (m *mirror) phases() []struct {
	name string
	run  func(context.Context) error
} {
	return []struct {
		name string
		run  func(context.Context) error
	}{
		{"users", m.users},
		{"courses", m.courses},
		{"pricing plans", m.plans},
		{"learners", m.learners},
		{"enrollments", m.enrollments},
		{"transactions", m.transactions},
		{"quiz responses", m.responses},
		{"webhooks", m.webhooks},
	}
}

func (m *mirror) run(ctx context.Context) error {
	going := m.State.Phase == ""
	for _, phase := range m.phases() {
		if !going && phase.name != m.State.Phase {
			continue
		}
		if !going || m.State.Phase == "" {
			going, m.State.Phase = true, phase.name
		} else {
			m.State.Phase, m.State.Cursor = phase.name, 0
		}
		m.rows = 0
		if err := phase.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sink is a rule that saves rows.
type sink[T any] interface {
	Save(ctx context.Context, batch []T) (lyceum.Saved, []lyceum.RowProblem, error)
}

// keep passes rows to a rule and reports those that were rejected.
func keep[T any](ctx context.Context, m *mirror, to sink[T], what string, id func(*T) string, rows ...T) error {
	if len(rows) == 0 {
		return nil
	}
	report := func(problems []lyceum.RowProblem) {
		for _, p := range problems {
			m.problem(fmt.Sprintf("%s %s: %s %s", what, id(&rows[p.Index]), p.Field, p.Message))
		}
	}
	all := len(rows)
	if !m.LastIDs {
		above := lastIDs(rows)
		report(above)
		rows = lyceum.WithoutProblems(rows, above)
	}
	saved, problems, err := to.Save(ctx, rows)
	if err != nil {
		return err
	}
	m.result.Saved.Add(saved)
	report(problems)
	m.rows += all
	m.Progress(m.State.Phase, m.rows)
	return nil
}

// lastIDs rejects rows whose ids would leave none for new rows.
func lastIDs[T any](rows []T) (problems []lyceum.RowProblem) {
	for i := range rows {
		if above := lyceum.LastIDs(&rows[i]); len(above) > 0 {
			problems = append(problems, lyceum.RowProblem{Index: i, FieldError: above[0]})
		}
	}
	return problems
}

// per is the requested page size, the largest of the contract.
const per = 100

// mostReturns is how often pages goes back from the same page at most: a list may be changed all the
// time, or have a different total on each page.
const mostReturns = 3

// pages requests every page of a list and calls visit with each response. Visit returns
// the meta, or nil to stop, and the number of rows.
func pages[L any](
	ctx context.Context,
	c *client,
	path string,
	query url.Values,
	visit func(*L) (meta *gen.PaginationMeta, rows int, err error),
) error {
	total, farthest, returns := int32(-1), int32(0), 0 // total is that of the previous response
	for page := int32(1); ; page++ {
		parameters := url.Values{"page": {strconv.Itoa(int(page))}, "per": {strconv.Itoa(per)}}
		for name, values := range query {
			parameters[name] = values
		}
		list := new(L)
		if err := c.get(ctx, path, parameters, list); err != nil {
			return err
		}
		meta, rows, err := visit(list)
		if err != nil || meta == nil {
			return err
		}
		gone := total - meta.Total
		if total = meta.Total; page > farthest {
			farthest, returns = page, 0
		}
		switch {
		case gone > 0 && returns < mostReturns: // the rows after the deleted ones moved to pages that were already read
			returns++
			page = max(1, page-(gone+per-1)/per) - 1
		case meta.Page != page && meta.Page != 0:
			return lyceum.Invalidf("%s answers page %d of %s with page %d", c.base, page, path, meta.Page)
		case rows == 0 || page >= meta.NumberOfPages:
			return nil
		}
	}
}

// idsOf returns the ids of the rows of a list that is in their order. Rows move to earlier pages if one
// is deleted, and if another one is added meanwhile, the total does not show that. So a list of several
// pages is requested until it has nothing new.
func idsOf[L any](
	ctx context.Context, c *client, path string, of func(*L) (*gen.PaginationMeta, []int32),
) ([]int32, error) {
	all := map[int32]bool{}
	for again := true; again; {
		before := len(all)
		err := pages(ctx, c, path, nil, func(list *L) (*gen.PaginationMeta, int, error) {
			meta, some := of(list)
			for _, id := range some {
				all[id] = true
			}
			return meta, len(some), nil
		})
		if err != nil {
			return nil, err
		}
		again = len(all) > max(before, per)
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// plans copies the pricing plans. Version 1 omits those without a course; the transactions
// make up for them.
func (m *mirror) plans(ctx context.Context) error {
	to := m.Learning.ImportPricingPlans(m.by(), lyceum.RefuseMissing)
	const path = "/v1/pricing_plans"
	all, err := idsOf(ctx, m.client, path, func(list *gen.PricingPlanList) (meta *gen.PaginationMeta, ids []int32) {
		for i := range list.PricingPlans {
			ids = append(ids, list.PricingPlans[i].ID)
		}
		return &list.Meta, ids
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(all, per) {
		rows := make([]lyceum.PricingPlan, len(some))
		err := together(ctx, len(rows), m.Parallel, func(ctx context.Context, i int) error {
			var one gen.OnePricingPlan
			found, err := m.listed(
				ctx, fmt.Sprintf("pricing plan %d", some[i]), fmt.Sprintf("%s/%d", path, some[i]), &one,
			)
			if found {
				rows[i] = plan(&one.PricingPlan)
			}
			return err
		})
		if err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(p lyceum.PricingPlan) bool { return p.ID == 0 })
		if err := keep(
			ctx, m, to, "pricing plan", func(p *lyceum.PricingPlan) string { return strconv.Itoa(int(p.ID)) }, rows...,
		); err != nil {
			return err
		}
	}
	return nil
}

func plan(p *gen.PricingPlanDetail) lyceum.PricingPlan {
	row := lyceum.PricingPlan{
		ID: lyceum.PricingPlanID(p.ID), CourseID: lyceum.Some(lyceum.CourseID(p.CourseID)), Name: p.Name,
		Price: lyceum.Minor(p.Price), Currency: lyceum.Currency(p.Currency),
		Frequency: lyceum.Frequency(p.Frequency.Type), Description: wire.Opt(p.Description),
		FreeTrialLength: wire.Opt(p.FreeTrialLength), EnrollmentCap: wire.Opt(p.EnrollmentCap),
		BillingIntervalCount: wire.Opt(p.Frequency.BillingIntervalCount),
		AccessLimitDate:      wire.Opt(p.Frequency.AccessLimitDate),
		AccessLimitDuration:  wire.Opt(p.Frequency.AccessLimitDuration),
		CreatedAt:            p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
	if recurs := row.Frequency == lyceum.Subscription || row.Frequency == lyceum.PaymentPlan; recurs &&
		p.Frequency.BillingInterval != nil {
		row.BillingInterval = lyceum.Some(string(*p.Frequency.BillingInterval)) // for the others, month is a placeholder
	}
	if p.Frequency.AccessLimitInterval != nil {
		row.AccessLimitInterval = lyceum.Some(string(*p.Frequency.AccessLimitInterval))
	}
	return row
}

// listed requests an object of a list, and reports whether it exists: it may have been
// deleted since. It can be called concurrently.
func (m *mirror) listed(ctx context.Context, what, path string, into any) (found bool, err error) {
	err = m.client.get(ctx, path, nil, into)
	if !errors.Is(err, errNotThere) {
		return err == nil, err
	}
	m.problem(fmt.Sprintf("%s: %s lists it, but has nothing at %s; it may have been deleted since", what, m.From, path))
	return false, nil
}

// problem reports something that could not be copied, but only once: users and those who enrolled late
// are saved more than once. It can be called concurrently.
func (m *mirror) problem(text string) {
	m.reporting.Lock()
	defer m.reporting.Unlock()
	if !m.reported[text] {
		m.reported[text] = true
		m.result.Problems++
		m.Problem(text)
	}
}

// window is how many transactions are requested by page number before the list is
// requested again with an earlier end: lists may stop at 10,000 rows, and distant pages
// cost the other server more.
const window = 9000
