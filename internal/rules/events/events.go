// Package events decides about webhooks: which there are, and what became of
// the events that were sent to them.
//
// It must not know HTTP or SQL.
package events

import (
	"context"

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
