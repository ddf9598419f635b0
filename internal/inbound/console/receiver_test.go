package console_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

const (
	hooksPath = "/admin/settings/webhooks"
	receiver  = "https://hooks.example.com/lyceum?token=abc"
)

// newEvents returns the rules of webhooks, without anything that sends.
func newEvents(p *place) *events.Service {
	return events.New(p.store, p.clock.Now, events.Options{
		Ring: lyceum.NewKeyring(lyceum.SecretKey{}),
		CheckURL: func(address string) error {
			if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://127.0.0.1") {
				return nil
			}
			return lyceum.InvalidFields(lyceum.FieldError{Field: "url", Message: "must begin with https://"})
		},
		BaseURL: "https://school.example.com",
	})
}

// secret returns a generation of the secret of a school's first webhook.
func (p *place) secret(school lyceum.SchoolID, generation int32) string {
	p.t.Helper()
	secret, err := p.events.Secret(school, 1, generation, "")
	if err != nil {
		p.t.Fatal(err)
	}
	return events.SecretText(secret)
}

// hook adds a webhook through the console and returns its path and secret.
func (p *place) hook(pairs ...string) (path, signing string) {
	p.t.Helper()
	usual := []string{"url", receiver, "which", "all", "schedule", "contract"}
	before, err := p.events.Webhooks(p.t.Context(), p.by(), struct{}{})
	if err != nil {
		p.t.Fatal(err)
	}
	w := p.send(p.owner, "POST", hooksPath, p.form(hooksPath+"/new", append(usual, pairs...)...))
	want(p.t, w, 200, "Copy the secret now")
	after, err := p.events.Webhooks(p.t.Context(), p.by(), struct{}{})
	if err != nil || len(after) != len(before)+1 {
		p.t.Fatalf("there are %d webhooks after %d: %v", len(after), len(before), err)
	}
	return hookPath(after[len(after)-1].ID), signs.FindString(w.Body.String())
}

func hookPath(id lyceum.WebhookID) string { return fmt.Sprintf("%s/%d", hooksPath, id) }

func deliveryPath(hook lyceum.WebhookID, id lyceum.WebhookEventID) string {
	return fmt.Sprintf("%s/deliveries/%d", hookPath(hook), id)
}

// happen sends everything pending once, with the same outcome for each delivery, and returns
// how many there were.
func (p *place) happen(o events.Outcome) (sent int) {
	p.t.Helper()
	schools, err := p.events.Undispatched(p.t.Context())
	for _, school := range schools {
		for more := true; more && err == nil; {
			more, err = p.events.Dispatch(p.t.Context(), school)
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
	due, err := p.events.Due(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, hook := range due {
		parcels, err := p.events.Claim(p.t.Context(), hook, 1000)
		if err != nil {
			p.t.Fatal(err)
		}
		for i := range parcels {
			if err := p.events.Report(p.t.Context(), &parcels[i], o); err != nil {
				p.t.Fatal(err)
			}
		}
		sent += len(parcels)
	}
	return sent
}

var (
	taken = events.Outcome{
		Delivered: true, Status: 200, Took: 128 * time.Millisecond,
		RequestHeader:  "Content-Type: application/json\nUser-Agent: Lyceum-Webhooks/1\nWebhook-Id: evt_1_1\nWebhook-Signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=\nWebhook-Timestamp: 1773480413",
		ResponseHeader: "Content-Type: application/json", ResponseBody: `{"ok":true}`,
	}
	refusedBy = events.Outcome{
		Status: 500, Took: 1713 * time.Millisecond, RequestHeader: "Webhook-Id: evt_1_1",
		ResponseHeader: "X-Long: " + strings.Repeat("long ", 80), ResponseBody: `<script>alert("1")</script>` + strings.Repeat("wide", 100),
	}
	noResponse = events.Outcome{Problem: "The receiver did not answer in time.", Took: 15 * time.Second, RequestHeader: "Webhook-Id: evt_1_1"}
)

// fail makes every attempt fail until the webhooks have failed.
func (p *place) fail(o events.Outcome) {
	p.t.Helper()
	for range 4 {
		if p.happen(o) == 0 {
			return
		}
		p.clock.Pass(3 * time.Hour)
	}
}

// record imports a webhook of another server with one event.
func (p *place) record(id lyceum.WebhookID) {
	p.t.Helper()
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.Webhooks.Save(tx, lyceum.Webhook{ID: id, State: lyceum.WebhookVerified, URL: "https://old.example.com/hook", EventTrigger: "Sale.created,User.created", EventsCount: 1, CreatedAt: p.clock.Now(), Schedule: lyceum.ContractSchedule})
		if err != nil {
			return err
		}
		_, err = tx.Deliveries.Save(tx, lyceum.WebhookEvent{ID: 900, Webhook: id, State: lyceum.DeliveryDelivered, AttemptCount: 1, CreatedAt: p.clock.Now(), ObjectType: "Sale", ObjectID: 12, ResponseStatus: lyceum.Some[int32](200)})
		return err
	})
}

// hooks returns the existing webhooks of school 1.
func (p *place) hooks() []lyceum.Webhook {
	p.t.Helper()
	all, err := p.events.Webhooks(p.t.Context(), p.by(), struct{}{})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// deliveries returns how many deliveries of a webhook are in a state; "" means any.
func (p *place) deliveries(hook lyceum.WebhookID, state string) int64 {
	p.t.Helper()
	listing, err := p.events.Events(p.t.Context(), p.by(), lyceum.WebhookEventFilter{Webhook: hook, State: lyceum.Opt[string]{Value: state, Present: state != ""}}, lyceum.Page{Number: 1, Size: 1})
	if err != nil {
		p.t.Fatal(err)
	}
	return listing.Total
}
