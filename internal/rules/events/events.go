// Package events has the rules for webhooks: which exist, which events they receive, when a
// delivery is tried again, and how it ended. It also allows others to follow a school's journal.
//
// It must not know HTTP or SQL.
package events

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Service has the rules for webhooks.
type Service struct {
	store lyceum.Store
	clock func() time.Time
	Options
}

// Options are what a Service needs besides a store. Without them, webhooks are only records, and
// none can be created.
type Options struct {
	Ring *lyceum.Keyring
	// CheckURL rejects an address to which nothing could be sent.
	CheckURL func(address string) error
	// BaseURL is the URL of the school, without a slash at the end.
	BaseURL string
}

// New returns a service that uses a store.
func New(store lyceum.Store, clock func() time.Time, o Options) *Service {
	return &Service{store: store, clock: clock, Options: o}
}

// Webhooks lists a school's webhooks by id, without those that were deleted.
func (s *Service) Webhooks(ctx context.Context, by lyceum.By, _ struct{}) ([]lyceum.Webhook, error) {
	v := s.store.In(ctx, by.School)
	return lyceum.All(v.Webhooks, v, lyceum.WebhookFilter{Kept: true})
}

// Webhook returns a webhook that was not deleted.
func (s *Service) Webhook(ctx context.Context, by lyceum.By, id lyceum.WebhookID) (lyceum.Webhook, error) {
	v := s.store.In(ctx, by.School)
	w, err := v.Webhooks.Get(v, id)
	return w, standing(&w, err)
}

// LiveWebhook returns a webhook that this server sends to.
func (s *Service) LiveWebhook(ctx context.Context, by lyceum.By, id lyceum.WebhookID) (lyceum.Webhook, error) {
	w, err := s.Webhook(ctx, by, id)
	if err == nil && !w.Live {
		err = lyceum.Errorf(lyceum.NotFound, "this server sends to no webhook %d", id)
	}
	return w, err
}

// standing rejects a webhook that was deleted.
func standing(w *lyceum.Webhook, err error) error {
	if err == nil && w.DeletedAt.Present {
		return lyceum.Errorf(lyceum.NotFound, "there is no webhook %d", w.ID)
	}
	return err
}

// Events lists the events of a webhook, newest first.
func (s *Service) Events(
	ctx context.Context, by lyceum.By, f lyceum.WebhookEventFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.WebhookEvent], error) {
	if _, err := s.Webhook(ctx, by, f.Webhook); err != nil {
		return lyceum.Listing[lyceum.WebhookEvent]{}, err
	}
	f.Newest = true
	v := s.store.In(ctx, by.School)
	return v.Deliveries.List(v, f, p)
}

// live selects the webhooks that a school sends to.
var live = lyceum.WebhookFilter{Kept: true, Live: true}

// Import imports webhooks or their events, batch by batch, as another school had them. They are
// only a record: they cause nothing to be sent to a receiver.
type Import[T any] struct {
	service *Service
	by      lyceum.By
	clock   func() time.Time
	what    string
	webhook func(*T) lyceum.WebhookID // of the row
	known   bool                      // the webhook must exist
	save    func(lyceum.Tx, []T) (lyceum.Saved, error)
}

// ImportWebhooks begins an import of webhooks. The clock gives the creation time of a new webhook
// without one. One that was deleted stays so.
func (s *Service) ImportWebhooks(by lyceum.By, clock func() time.Time) *Import[lyceum.Webhook] {
	return &Import[lyceum.Webhook]{
		s, by, clock, "webhooks", func(w *lyceum.Webhook) lyceum.WebhookID { return w.ID },
		false, func(tx lyceum.Tx, rows []lyceum.Webhook) (lyceum.Saved, error) {
			ids := make([]lyceum.WebhookID, len(rows))
			for i := range rows {
				ids[i] = rows[i].ID
			}
			kept, err := tx.Webhooks.Find(tx, ids...)
			if err != nil {
				return lyceum.Saved{}, err
			}
			for i := range rows {
				old, there := kept[rows[i].ID]
				if !there {
					old.CreatedAt = lyceum.Second(clock())
				}
				if rows[i].CreatedAt.IsZero() {
					rows[i].CreatedAt = old.CreatedAt
				}
				if !rows[i].DeletedAt.Present {
					rows[i].DeletedAt = old.DeletedAt
				}
			}
			return tx.Webhooks.Save(tx, rows...)
		},
	}
}

// ImportEvents begins an import of the events of webhooks.
func (s *Service) ImportEvents(by lyceum.By, clock func() time.Time) *Import[lyceum.WebhookEvent] {
	return &Import[lyceum.WebhookEvent]{
		s, by, clock, "webhook events",
		func(e *lyceum.WebhookEvent) lyceum.WebhookID { return e.Webhook }, true,
		func(tx lyceum.Tx, rows []lyceum.WebhookEvent) (lyceum.Saved, error) {
			return tx.Deliveries.Save(tx, rows...)
		},
	}
}

// Check returns the problems of the rows of a batch that cannot be imported, and saves nothing.
func (i *Import[T]) Check(ctx context.Context, batch []T) ([]lyceum.RowProblem, error) {
	v := i.service.store.In(ctx, i.by.School)
	return i.problems(batch, v.Webhooks, v)
}

// Save saves the rows of a batch that have no problem, all in one write, and returns the
// problems of the others.
func (i *Import[T]) Save(ctx context.Context, batch []T) (saved lyceum.Saved, problems []lyceum.RowProblem, err error) {
	err = i.service.store.Write(ctx, i.by.Stamp(i.clock()), func(tx lyceum.Tx) error {
		problems, err = i.problems(batch, tx.Webhooks, tx)
		if err != nil {
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

type webhookRows = lyceum.Rows[lyceum.WebhookID, lyceum.Webhook, lyceum.WebhookFilter]

// problems returns a problem for each row whose webhook does not exist, or is one that this
// school sends to, which a file must not change.
func (i *Import[T]) problems(
	batch []T, hooks webhookRows, from lyceum.Source,
) (problems []lyceum.RowProblem, err error) {
	ids := map[lyceum.WebhookID]bool{}
	for n := range batch {
		ids[i.webhook(&batch[n])] = true
	}
	found, err := hooks.Find(from, slices.Collect(maps.Keys(ids))...)
	if err != nil {
		return nil, err
	}
	field := "id"
	if i.known {
		field = "webhook_id"
	}
	for n := range batch {
		id := i.webhook(&batch[n])
		hook, there := found[id]
		var message string
		switch {
		case hook.Live:
			message = fmt.Sprintf("%d is a webhook that this school sends to; a file cannot change it", id)
		case i.known && !there:
			message = fmt.Sprintf("%d matches no webhook of this school; import the webhooks first", id)
		default:
			continue
		}
		problems = append(problems, lyceum.RowProblem{
			Index:      n,
			FieldError: lyceum.FieldError{Field: field, Message: message},
		})
	}
	return problems, nil
}
