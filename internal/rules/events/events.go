// Package events decides about webhooks: which there are, and what became of
// the events that were sent to them.
//
// It must not know HTTP or SQL.
package events

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Service answers for webhooks.
type Service struct{ store lyceum.Store }

// New makes the service over a store.
func New(store lyceum.Store) *Service { return &Service{store: store} }

// Webhooks lists a school's webhooks by id.
func (s *Service) Webhooks(ctx context.Context, school lyceum.SchoolID) ([]lyceum.Webhook, error) {
	return s.store.FindWebhooks(ctx, school)
}

// Events lists the events of a webhook, newest first.
func (s *Service) Events(ctx context.Context, school lyceum.SchoolID, f lyceum.WebhookEventFilter, p lyceum.Page) (lyceum.WebhookEventListing, error) {
	if _, err := s.store.GetWebhook(ctx, school, f.Webhook); err != nil {
		return lyceum.WebhookEventListing{}, err
	}
	return s.store.FindWebhookEvents(ctx, school, f, p)
}

// Import takes webhooks or their events in, batch by batch, as another school
// had them. They are a record: nothing is sent to a receiver because of them.
type Import[T any] struct {
	service *Service
	school  lyceum.SchoolID
	actor   string
	clock   func() time.Time
	what    string
	webhook func(*T) lyceum.WebhookID // that must be there; nil for none
	save    func(lyceum.Tx, []T) (lyceum.Saved, error)
}

// ImportWebhooks begins an import of webhooks. The clock says when a webhook
// without a time of creation was created.
func (s *Service) ImportWebhooks(school lyceum.SchoolID, actor string, clock func() time.Time) *Import[lyceum.Webhook] {
	return &Import[lyceum.Webhook]{s, school, actor, clock, "webhooks", nil, func(tx lyceum.Tx, rows []lyceum.Webhook) (lyceum.Saved, error) {
		for i := range rows {
			if rows[i].CreatedAt.IsZero() {
				rows[i].CreatedAt = lyceum.Second(clock())
				if old, err := tx.GetWebhook(rows[i].ID); err == nil {
					rows[i].CreatedAt = old.CreatedAt
				} else if lyceum.KindOf(err) != lyceum.NotFound {
					return lyceum.Saved{}, err
				}
			}
		}
		return tx.SaveWebhooks(rows)
	}}
}

// ImportEvents begins an import of the events of webhooks.
func (s *Service) ImportEvents(school lyceum.SchoolID, actor string, clock func() time.Time) *Import[lyceum.WebhookEvent] {
	return &Import[lyceum.WebhookEvent]{
		s, school, actor, clock, "webhook events",
		func(e *lyceum.WebhookEvent) lyceum.WebhookID { return e.Webhook }, lyceum.Tx.SaveWebhookEvents,
	}
}

// Check tells which rows of a batch cannot be kept, and keeps none.
func (i *Import[T]) Check(ctx context.Context, batch []T) ([]lyceum.RowProblem, error) {
	return i.problems(batch, func(ids []int32) ([]int32, error) {
		return i.service.store.Known(ctx, i.school, lyceum.WebhookSequence, ids)
	})
}

// Save keeps the rows of a batch that have no problem, all in one write, and
// gives the problems of the others.
func (i *Import[T]) Save(ctx context.Context, batch []T) (saved lyceum.Saved, problems []lyceum.RowProblem, err error) {
	err = i.service.store.Write(ctx, lyceum.Stamp{School: i.school, At: i.clock(), Actor: i.actor}, func(tx lyceum.Tx) error {
		if problems, err = i.problems(batch, func(ids []int32) ([]int32, error) { return tx.Known(lyceum.WebhookSequence, ids) }); err != nil {
			return err
		}
		saved, err = i.save(tx, append([]T(nil), lyceum.WithoutProblems(batch, problems)...))
		return err
	})
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import %s: %w", i.what, err)
	}
	return saved, problems, nil
}

func (i *Import[T]) problems(batch []T, known func([]int32) ([]int32, error)) (problems []lyceum.RowProblem, err error) {
	if i.webhook == nil {
		return nil, nil
	}
	ids := make([]int32, len(batch))
	for n := range batch {
		ids[n] = int32(i.webhook(&batch[n]))
	}
	found, err := known(ids)
	if err != nil {
		return nil, err
	}
	for n, id := range ids {
		if !slices.Contains(found, id) {
			problems = append(problems, lyceum.RowProblem{Index: n, FieldError: lyceum.FieldError{
				Field: "webhook_id", Message: fmt.Sprintf("%d is no webhook of this school; import the webhooks first", id),
			}})
		}
	}
	return problems, nil
}
