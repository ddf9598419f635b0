package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lyceum-school/lyceum"
)

// feed checks that changes are returned in order, each once, with the current state of their
// objects, and without an object if that was deleted.
func feed(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	classroom := NewClassroom("feed")
	Write(t, store, school, classroom.Save)
	Write(t, store, school, func(tx lyceum.Tx) error {
		err := errors.Join(
			tx.Comments.Insert(tx, lyceum.Comment{ID: 1, Lecture: 11, User: 2, Body: "gone soon", CreatedAt: Begin}),
			tx.Comments.Insert(tx, lyceum.Comment{ID: 2, Lecture: 11, User: 2, Body: "stays", CreatedAt: Begin}),
		)
		tx.Announce(lyceum.CommentCreated, 2, lyceum.CommentCreatedEvent, `{"a":1}`)
		tx.Announce(lyceum.EnrollmentUpdated, 2, lyceum.EnrollmentCompletedEvent, "")
		return err
	})
	Write(t, store, school, func(tx lyceum.Tx) error { return tx.Comments.Delete(tx, 1) })
	Write(t, store, school, func(tx lyceum.Tx) error { // deleting it again is not a change
		if err := tx.Comments.Delete(tx, 1); lyceum.KindOf(err) != lyceum.NotFound {
			t.Errorf("a comment is deleted twice: %v", err)
		}
		return nil
	})

	last, err := store.In(t.Context(), school).LastEntry()
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int64
	for after := int64(0); ; {
		part, err := store.In(t.Context(), school).FindChanges(lyceum.ChangeFilter{After: after, Limit: 7})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range part.Changes {
			numbers = append(numbers, c.Number)
		}
		after = part.Next
		if !part.More {
			break
		}
	}
	for i, n := range numbers {
		if n != int64(i+1) {
			t.Fatalf("change %d has the number %d", i+1, n)
		}
	}
	if int64(len(numbers)) != last {
		t.Errorf("%d changes of %d", len(numbers), last)
	}
	told := func(f lyceum.ChangeFilter) (told []string, next int64) {
		t.Helper()
		f.Limit = 100
		part, err := store.In(t.Context(), school).FindChanges(f)
		if err != nil || part.Last != last {
			t.Fatal(part.Last, err)
		}
		for _, c := range part.Changes {
			text := fmt.Sprint(c.Type, " ", c.ObjectID, " ", c.Event.Value, c.Detail.Value)
			if comment, ok := c.Object.(lyceum.Comment); ok {
				text += " " + comment.Body
			}
			told = append(told, text)
		}
		return told, part.Next
	}
	want := []string{"comment.created 1 ", `comment.created 2 Comment.created{"a":1} stays`, "comment.deleted 1 "}
	if got, next := told(lyceum.ChangeFilter{Types: []lyceum.EntryType{
		lyceum.CommentCreated,
		lyceum.CommentDeleted,
	}}); !cmp.Equal(got, want) || next != last {
		t.Errorf("of comments %q, next %d", got, next)
	}
	want = []string{`comment.created 2 Comment.created{"a":1} stays`, "enrollment.updated 2 Enrollment.completed"}
	if got, _ := told(lyceum.ChangeFilter{Events: true}); !cmp.Equal(got, want) {
		t.Errorf("of events %q", got)
	}
	if got, _ := told(lyceum.ChangeFilter{
		Events: true,
		Names:  []lyceum.EventName{lyceum.EnrollmentCompletedEvent},
	}); !cmp.Equal(got, want[1:]) {
		t.Errorf("of one event %q", got)
	}
}

// answersOnce checks that of any number of changes with the same key one is run, and the others
// get its stored response.
func answersOnce(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	request := lyceum.KeyHash{1}
	// answer returns what was stored for the key, or else stores body and returns "".
	answer := func(actor, key, body string, problem error) (kept string, err error) {
		s := stamp(school)
		s.Actor = actor
		s.Once = &lyceum.Once{Key: key, Request: request, Render: func(any) ([]byte, error) { return []byte(body), nil }}
		_, err = lyceum.Change(t.Context(), store, s, func(lyceum.Tx) (any, error) { return nil, problem })
		if repeat, ok := errors.AsType[*lyceum.RepeatError](err); ok {
			return string(repeat.Body), nil
		}
		return "", err
	}
	var mu sync.Mutex
	fresh, kept := 0, 0
	crowd(t, 5, func(int, int) error {
		got, err := answer("test", "k", "body", nil)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if got == "" {
			fresh++
		} else if kept++; got != "body" {
			return fmt.Errorf("kept is %q", got)
		}
		return nil
	})
	if fresh != 1 || kept == 0 {
		t.Errorf("%d were fresh, %d saw what was kept", fresh, kept)
	}
	if got, err := answer("another", "k", "body of another", nil); err != nil || got != "" {
		t.Errorf("a key is taken because another actor has used it: %q, %v", got, err)
	}
	if got, err := answer("test", "k", "again", nil); err != nil || got != "body" {
		t.Errorf("kept is %q, after another actor has used the key; %v", got, err)
	}
	request = lyceum.KeyHash{2}
	if _, err := answer("test", "k", "of another request", nil); lyceum.KindOf(err) != lyceum.Invalid {
		t.Errorf("a key was used for two requests: %v", err)
	}
	undo := errors.New("undo")
	if _, err := answer("test", "undone", "", undo); !errors.Is(err, undo) {
		t.Fatal(err)
	}
	if got, err := answer("test", "undone", "", nil); err != nil || got != "" {
		t.Errorf("a key whose change was undone is taken: %q, %v", got, err)
	}
	if err := store.Sweep(t.Context(), school, lyceum.Expired{AnswerUntil: Begin.Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	if got, err := answer("test", "k", "new", nil); err != nil || got != "" {
		t.Errorf("a key that was swept out is taken: %q, %v", got, err)
	}
}

// deletedWebhooksAreLeftOut checks that deleted webhooks are found only by id, and that webhooks
// to which this school sends are distinguished from records of another server.
func deletedWebhooksAreLeftOut(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	hook := func(id lyceum.WebhookID, live bool, deleted lyceum.Opt[time.Time]) lyceum.Webhook {
		return lyceum.Webhook{
			ID: id, State: lyceum.WebhookPending, URL: "https://hooks.example.com",
			EventTrigger: lyceum.AllEvents, CreatedAt: Begin, Live: live, DeletedAt: deleted,
		}
	}
	standing, gone := lyceum.None[time.Time](), lyceum.Some(Begin)
	Write(t, store, school, func(tx lyceum.Tx) error {
		_, err := tx.Webhooks.Save(tx, hook(1, true, gone), hook(2, true, standing), hook(3, false, standing),
			hook(4, false, gone), hook(5, true, standing))
		return err
	})
	ids := func(found []lyceum.Webhook, err error) (ids []lyceum.WebhookID) {
		if err != nil {
			t.Error(err)
		}
		for i := range found {
			ids = append(ids, found[i].ID)
		}
		return ids
	}
	v := store.In(t.Context(), school)
	if got := ids(lyceum.All(v.Webhooks, v, lyceum.WebhookFilter{Kept: true})); !slices.Equal(got,
		[]lyceum.WebhookID{2, 3, 5}) {
		t.Errorf("webhooks %v", got)
	}
	if got := ids(lyceum.All(v.Webhooks, v, lyceum.WebhookFilter{Kept: true, Live: true})); !slices.Equal(got,
		[]lyceum.WebhookID{2, 5}) {
		t.Errorf("webhooks that are sent to: %v", got)
	}
	Write(t, store, school, func(tx lyceum.Tx) error {
		if got := ids(lyceum.All(tx.Webhooks, tx, lyceum.WebhookFilter{Kept: true, Live: true})); !slices.Equal(got,
			[]lyceum.WebhookID{2, 5}) {
			t.Errorf("webhooks that are sent to, inside a change: %v", got)
		}
		return nil
	})
	if w, err := v.Webhooks.Get(v, 1); err != nil || !w.DeletedAt.Present {
		t.Errorf("a deleted webhook by id: %+v, %v", w, err)
	}
}

// deliveriesAreClaimedOnce checks that among any number of claims, each delivery is in only one
// until its lease expires.
func deliveriesAreClaimedOnce(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	const waiting = 60
	Write(t, store, school, func(tx lyceum.Tx) error {
		if _, err := tx.Webhooks.Save(tx, lyceum.Webhook{
			ID: 1, State: lyceum.WebhookPending,
			URL: "https://hooks.example.com", EventTrigger: lyceum.AllEvents, CreatedAt: Begin, Live: true,
		}); err != nil {
			return err
		}
		if err := tx.Reserve(waiting, lyceum.WebhookEventSequence); err != nil {
			return err
		}
		first, err := tx.Deliveries.NextID(tx)
		var all []lyceum.WebhookEvent
		for n := range int32(waiting) {
			all = append(all, lyceum.WebhookEvent{
				ID: first + lyceum.WebhookEventID(n), Webhook: 1, State: lyceum.DeliveryPending, CreatedAt: Begin,
				ObjectType: "Sale", ObjectID: 1, Number: lyceum.Some[int64](1), NextAttemptAt: lyceum.Some(Begin),
			})
		}
		return errors.Join(err, tx.CreateDeliveries(all))
	})
	var mu sync.Mutex
	claimed := map[lyceum.WebhookEventID]int{}
	claim := func(now time.Time) error {
		return store.Write(t.Context(), stamp(school), func(tx lyceum.Tx) error {
			found, err := tx.ClaimDeliveries(1, now, now.Add(time.Minute), 3)
			mu.Lock()
			defer mu.Unlock()
			for _, d := range found {
				claimed[d.ID]++
			}
			return err
		})
	}
	crowd(t, 6, func(int, int) error { return claim(Begin) })
	for id, n := range claimed {
		if n > 1 {
			t.Errorf("delivery %d was claimed %d times", id, n)
		}
	}
	if len(claimed) != waiting {
		t.Errorf("%d of %d were claimed", len(claimed), waiting)
	}
	due := func(at time.Time) int {
		t.Helper()
		found, err := store.FindDue(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if due(Begin.Add(59*time.Second)) != 0 || due(Begin.Add(time.Minute)) != 1 {
		t.Error("what is claimed is due before its lease is over, or not after it")
	}
	v := store.In(t.Context(), school)
	if w, err := v.Webhooks.Get(v, 1); err != nil || w.EventsCount != waiting {
		t.Errorf("the webhook counts %d, %v", w.EventsCount, err)
	}
	Write(t, store, school, func(tx lyceum.Tx) error {
		if moved, err := tx.MoveCursor("c", 0, 5); err != nil || !moved {
			t.Errorf("a new cursor does not move: %v", err)
		}
		if moved, err := tx.MoveCursor("c", 4, 6); err != nil || moved {
			t.Errorf("a cursor moves from where it is not: %v", err)
		}
		_, err := tx.CancelDeliveries(1)
		return err
	})
	if due(Begin.Add(time.Hour)) != 0 {
		t.Error("what was given up is due")
	}
}

// undispatched checks that a school is found while an event follows its cursor, and when so many
// other entries follow that the cursor should move.
func undispatched(t *testing.T, store lyceum.Store) {
	school, other := MakeSchool(t, store), MakeSchool(t, store)
	note := func(n int, event lyceum.EventName) {
		Write(t, store, school, func(tx lyceum.Tx) error {
			for id := range int32(n) {
				tx.Note(lyceum.LectureUpdated, id+1)
			}
			if event != "" {
				tx.Announce(lyceum.CommentCreated, 1, event, "")
			}
			return nil
		})
	}
	from := map[lyceum.SchoolID]int64{}
	move := func(of lyceum.SchoolID) {
		Write(t, store, of, func(tx lyceum.Tx) error {
			last, err := tx.LastEntry()
			if err != nil {
				return err
			}
			_, err = tx.MoveCursor("c", from[of], last)
			from[of] = last
			return err
		})
	}
	for i, step := range []struct {
		what string
		do   func()
		want bool
	}{
		{"the cursor is at the end", func() { move(school) }, false},
		{"a few entries follow", func() { note(50, "") }, false},
		{"an event follows them", func() { note(0, lyceum.CommentCreatedEvent) }, true},
		{"the cursor is past it", func() { move(school) }, false},
		{"an event comes with entries before it", func() { note(20, lyceum.CommentCreatedEvent) }, true},
		{"and entries follow", func() { note(50, "") }, true},
		{"the cursor is past all", func() { move(school) }, false},
		{"a hundred entries follow", func() { note(100, "") }, false},
		{"and one more", func() { note(1, "") }, true},
		{"the cursor is past these, too", func() { move(school) }, false},
	} {
		step.do()
		if i == 0 {
			move(other)
		}
		found, err := store.FindUndispatched(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(found, school); got != step.want || slices.Contains(found, other) {
			t.Errorf("%s: %v", step.what, found)
		}
	}
}
