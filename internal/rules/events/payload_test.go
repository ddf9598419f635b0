package events_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// told has the bodies of messages by type, raw and as a receiver decodes them.
type told struct {
	raw    map[string]string
	object map[string]map[string]any
}

// lesson makes a learner of a classroom enroll, complete a lecture, answer quizzes and write a
// comment, and returns what a receiver gets.
func lesson(t *testing.T, store lyceum.Store) told {
	t.Helper()
	p := newPost(t, store)
	p.school, _ = storetest.MakeClassroom(t, store, "ours")
	p.clock.Set(storetest.Day(10))
	lessons := learning.New(store, p.clock.Now)
	arrived := p.hook(t, events.WebhookForm{Events: []string{}})
	p.clock.Pass(time.Second)
	v := lyceum.By{School: p.school, Actor: "test"}
	if err := lessons.Enroll(t.Context(), v, 1, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := lessons.Complete(t.Context(), v, 2, 1, 13); err != nil { // the second of three
		t.Fatal(err)
	}
	// Quiz 901, attachment 107, has two questions, of which the first counts;
	// quiz 902, attachment 120, has none.
	if _, err := lessons.Answer(t.Context(), p.by(), learning.Answer{Quiz: 107, User: 2, Answers: [][]string{{"red ours"}, {}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := lessons.Answer(t.Context(), p.by(), learning.Answer{Quiz: 120, User: 2, Answers: [][]string{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := lessons.Comment(t.Context(), p.by(), learning.NewComment{
		Lecture: 12, User: 2, Body: "Why?", Attachments: []lyceum.CommentAttachment{{URL: "https://files.example.com/pot.jpg", Kind: "image"}},
	}); err != nil {
		t.Fatal(err)
	}
	p.rounds(t)
	all := told{map[string]string{}, map[string]map[string]any{}}
	for _, m := range arrived.letters() {
		e := opened(t, m.Body)
		if _, twice := all.raw[e.Type]; twice {
			t.Errorf("%s came twice", e.Type)
		}
		all.raw[e.Type], all.object[e.Type] = string(m.Body), e.Object
	}
	want := []string{"Comment.created", "Enrollment.created", "LectureProgress.created", "Response.created"}
	if got := slices.Sorted(maps.Keys(all.raw)); !slices.Equal(got, want) {
		t.Fatalf("came %v, want %v", got, want)
	}
	return all
}

// TestPayloadsAreAsReceiversKnowThem checks for what deliveries of the original were seen with.
func TestPayloadsAreAsReceiversKnowThem(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, store lyceum.Store) {
		all := lesson(t, store)
		for event, parts := range map[string][]string{
			// Times end in Z except for the envelope's. The percentage of an enrollment is a
			// float, that of a lecture an integer.
			"Enrollment.created":      {`"created":"2024-01-10T12:00:01+00:00"`, `"enrolled_at":"2024-01-10T12:00:01Z"`, `"percent_complete":0.0,`},
			"LectureProgress.created": {`"completed_at":"2024-01-10T12:00:01Z"`, `"percent_complete":66,`},
			"Response.created":        {`"custom_form_id":901`, `"attachable_id":11`, `"correct":1,`, `"submitted_at":"2024-01-10T12:00:01Z"`},
			"Comment.created":         {`"full_url":"https://school.example.com/courses/1/lectures/12"`, `"attachments":[{"url":"https://files.example.com/pot.jpg","kind":"image"}]`},
		} {
			for _, part := range parts {
				if !strings.Contains(all.raw[event], part) {
					t.Errorf("%s is not in %s", part, all.raw[event])
				}
			}
			if n := strings.Count(all.raw[event], "+00:00"); n != 1 {
				t.Errorf("%s has %d times that end in +00:00", event, n)
			}
		}
		course := all.object["Enrollment.created"]["course"].(map[string]any)
		if course["url"] != "https://school.example.com/courses/1" || course["friendly_url"] != "/courses/1" {
			t.Errorf("the course is %v", course)
		}
	})
}

// TestPayloadsHaveEveryFieldSeen checks that users and authors have the same fields wherever
// they appear.
func TestPayloadsHaveEveryFieldSeen(t *testing.T) {
	t.Parallel()
	all := lesson(t, openStore(t))
	user := []string{
		"created_at", "current_sign_in_at", "email", "first_touch", "id", "joined_at", "last_sign_in_at", "last_touch", "name", "phone_number",
		"role", "school_id", "sign_in_count", "src", "unsubscribe_from_marketing_emails",
	}
	author := []string{"bio", "created_at", "headline", "id", "meta", "name", "position", "profile_image_url", "user_id"}
	for event, object := range all.object {
		if diff := cmp.Diff(user, slices.Sorted(maps.Keys(object["user"].(map[string]any)))); diff != "" {
			t.Errorf("the user of %s (-want +got):\n%s", event, diff)
		}
	}
	for _, event := range []string{"Enrollment.created", "LectureProgress.created"} {
		bio := all.object[event]["course"].(map[string]any)["author_bio"].(map[string]any)
		if diff := cmp.Diff(author, slices.Sorted(maps.Keys(bio))); diff != "" {
			t.Errorf("the author of %s (-want +got):\n%s", event, diff)
		}
		if diff := cmp.Diff([]string{"class", "description", "image_url", "name", "url"}, slices.Sorted(maps.Keys(bio["meta"].(map[string]any)))); diff != "" {
			t.Errorf("the author's meta of %s (-want +got):\n%s", event, diff)
		}
	}
}

// TestAffiliateOfASale checks that an affiliate who is a user has an email address, unless the
// user was erased.
func TestAffiliateOfASale(t *testing.T) {
	t.Parallel()
	p := newPost(t, openStore(t))
	storetest.Write(t, p.store, p.school, func(tx lyceum.Tx) error {
		_, failed := tx.Users.Save(tx,
			lyceum.User{ID: 80, Email: "alf@example.com", Role: lyceum.Affiliate, CreatedAt: storetest.Begin},
			lyceum.User{ID: 81, Email: lyceum.ErasedEmail(81), Role: lyceum.Affiliate, CreatedAt: storetest.Begin, ErasedAt: lyceum.Some(storetest.Begin)},
		)
		for id, user := range []lyceum.Opt[lyceum.UserID]{lyceum.Some[lyceum.UserID](80), lyceum.Some[lyceum.UserID](81), {}} {
			_, err := tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: lyceum.AffiliateID(id + 70), UserID: user, Name: lyceum.Some("Alf")})
			failed = errors.Join(failed, err)
		}
		return failed
	})
	arrived := p.hook(t, events.WebhookForm{})
	for id := range lyceum.AffiliateID(3) {
		_, err := p.sales.Record(t.Context(), p.by(), sales.NewSale{User: 1, Plan: 1, Affiliate: lyceum.Some(id + 70)})
		if err != nil {
			t.Fatal(err)
		}
	}
	p.clock.Pass(time.Second)
	p.rounds(t)
	want := map[float64]any{70: "alf@example.com", 71: nil, 72: nil}
	for _, m := range arrived.letters() {
		told := opened(t, m.Body).Object["affiliate"].(map[string]any)
		id := told["id"].(float64)
		if email, open := want[id]; !open || told["email"] != email || told["name"] != "Alf" {
			t.Errorf("affiliate %v is %v, want the address %v", id, told, email)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("nothing was told of %v", want)
	}
}
