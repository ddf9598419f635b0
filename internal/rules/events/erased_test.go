package events_test

import (
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestLateResponsesAboutErasedPeople checks that nothing is stored of a response to an event about
// a person who was completely erased while the receiver took its time.
func TestLateResponsesAboutErasedPeople(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		storetest.Write(t, store, p.school, func(tx lyceum.Tx) error {
			_, err := tx.Users.Save(tx,
				lyceum.User{ID: 80, Email: "zoltan@example.com", Name: lyceum.Some("Zoltan"), CreatedAt: storetest.Begin},
				lyceum.User{ID: 81, Email: "quentin@example.com", Name: lyceum.Some("Quentin"), CreatedAt: storetest.Begin})
			return err
		})
		hook := p.hook(t, events.WebhookForm{Events: []string{"User.updated"}})
		users := people.New(store, p.clock.Now)
		for user, name := range map[lyceum.UserID]string{80: "Zoltan Z", 81: "Quentin Q"} {
			if _, err := users.Update(t.Context(), p.by(), people.Change{User: user, Name: lyceum.Some(lyceum.Some(name))}, people.Doors{Forget: func() {}}); err != nil {
				t.Fatal(err)
			}
		}
		p.dispatch(t)
		parcels, err := p.events.Claim(t.Context(), lyceum.DueWebhook{School: p.school, Webhook: hook.ID}, 10)
		if err != nil || len(parcels) != 2 || !strings.Contains(string(parcels[0].Body)+string(parcels[1].Body), "Zoltan") {
			t.Fatal(parcels, err)
		}
		lessons := learning.New(store, p.clock.Now)
		_, err = users.Erase(t.Context(), p.by(), 80, people.Doors{
			Close: lessons.Close, Left: func(lyceum.SchoolID, string) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		if done, err := users.EraseAll(t.Context()); !done || err != nil {
			t.Fatal(done, err)
		}
		for i := range parcels {
			body := string(parcels[i].Body)
			err := p.events.Report(t.Context(), &parcels[i], events.Outcome{
				Status: 400, Problem: "rejected " + body, RequestHeader: "Webhook-Id: 1", ResponseHeader: "X-Rejected: " + body,
				ResponseBody: "rejected " + body,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		v := store.In(t.Context(), p.school)
		for i := range parcels {
			attempts, _, err := v.FindAttempts(parcels[i].ID, 0)
			if err != nil || len(attempts) != 1 {
				t.Fatal(attempts, err)
			}
			a := &attempts[0]
			for _, text := range []string{a.Problem.Value, a.ResponseHeader, a.ResponseBody} {
				if strings.Contains(text, "oltan") || strings.Contains(text, "Quentin") != (parcels[i].ObjectID == 81) {
					t.Errorf("about user %d is stored %q", parcels[i].ObjectID, text)
				}
			}
		}
	})
}

// TestEventsLoseTheProfilesOfErasedAuthors checks that nothing of the profile of an author who was
// erased is left in the stored events of those who bought their courses.
func TestEventsLoseTheProfilesOfErasedAuthors(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		p := newPost(t, store)
		storetest.Write(t, store, p.school, func(tx lyceum.Tx) error {
			_, err := tx.Users.Save(tx, lyceum.User{
				ID: 80, Email: "zoltan@example.com", Name: lyceum.Some("Zoltan"), CreatedAt: storetest.Begin,
			})
			if err != nil {
				return err
			}
			profile := lyceum.AuthorProfile{
				ID: 70, UserID: lyceum.Some[lyceum.UserID](80), Name: lyceum.Some("Master Zadok"),
				Bio: lyceum.Some("Zadok since 1980"), ProfileImageURL: lyceum.Some("https://example.com/Zadok.jpg"),
			}
			if _, err := tx.Authors.Save(tx, profile); err != nil {
				return err
			}
			course, err := tx.Courses.Get(tx, 1)
			course.AuthorID = lyceum.Some(profile.ID)
			if err != nil {
				return err
			}
			_, err = tx.Courses.Save(tx, course)
			return err
		})
		p.hook(t, events.WebhookForm{})
		p.sell(t)
		p.dispatch(t)
		stored := func() (all string) {
			v := store.In(t.Context(), p.school)
			err := v.Payloads.Each(v, struct{}{}, func(e *lyceum.EventPayload) error { all += e.Object; return nil })
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		if before := stored(); strings.Count(before, "Zadok") != 6 {
			t.Fatal(before)
		}
		users := people.New(store, p.clock.Now)
		_, err := users.Erase(t.Context(), p.by(), 80, people.Doors{
			Close: learning.New(store, p.clock.Now).Close, Left: func(lyceum.SchoolID, string) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		if done, err := users.EraseAll(t.Context()); !done || err != nil {
			t.Fatal(done, err)
		}
		if after := stored(); strings.Contains(after, "Zadok") || !strings.Contains(after, `"name":"Ann"`) {
			t.Errorf("stored are %s", after)
		}
	})
}

// TestUnsentEventsAboutErasedPeople checks that the object of an event that no webhook received is
// an object with the id of the person who was erased meanwhile, and not null.
func TestUnsentEventsAboutErasedPeople(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	storetest.Write(t, p.store, p.school, func(tx lyceum.Tx) error {
		for _, event := range []lyceum.EventName{lyceum.UserCreatedEvent, lyceum.MarketingRefusedEvent} {
			tx.Announce(lyceum.UserUpdated, 80, event, "")
		}
		_, err := tx.Users.Save(tx, lyceum.User{
			ID: 80, Email: lyceum.ErasedEmail(80), Role: lyceum.Student, CreatedAt: storetest.Begin, ErasedAt: lyceum.Some(storetest.Begin),
		})
		return err
	})
	listing, err := p.feed(nil).Events(t.Context(), p.by(), asked(0))
	if err != nil || len(listing.Events) != 2 {
		t.Fatal(listing.Events, err)
	}
	for _, e := range listing.Events {
		if !strings.HasSuffix(string(e.Body), `"object":{"id":80}}`) {
			t.Errorf("%s is %s", e.Event, e.Body)
		}
	}
}
