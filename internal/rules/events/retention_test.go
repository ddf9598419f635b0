package events_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// TestDeliveriesOutliveTheirEvents checks that a delivery whose event is no longer stored is
// shown without it, and is not sent again.
func TestDeliveriesOutliveTheirEvents(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	to := p.hook(t, events.WebhookForm{Events: []string{string(lyceum.SaleCreatedEvent)}})
	p.sell(t)
	p.rounds(t)
	_, ids := p.states(t, to.ID)
	if err := p.store.Sweep(t.Context(), p.school, lyceum.Expired{EventUntil: p.clock.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.events.ResendOne(t.Context(), p.by(), ids[0]); lyceum.Public(err).Code != "event_not_stored" {
		t.Errorf("sent again: %v", err)
	}
	n, err := p.events.Resend(t.Context(), p.by(), lyceum.ResendFilter{Webhook: to.ID})
	if err != nil || n != 0 {
		t.Errorf("%d are sent again: %v", n, err)
	}
	d, err := p.events.Show(t.Context(), p.by(), ids[0])
	if err != nil || d.State != lyceum.DeliveryDelivered || d.Body() != nil || len(d.Attempts) != 1 {
		t.Errorf("it is %+v: %v", d, err)
	}
	p.rounds(t)
	if came := to.letters(); len(came) != 1 {
		t.Errorf("%d messages came", len(came))
	}
}
