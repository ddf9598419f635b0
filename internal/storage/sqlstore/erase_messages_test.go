package sqlstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestFinderFindsWhatIsErased checks that the finder finds everything that the eraser changes.
func TestFinderFindsWhatIsErased(t *testing.T) {
	t.Parallel()
	e := &eraser{user: 7, called: lyceum.Called{
		Emails: []string{`o"neil<x@example.com`}, Names: []string{"Mary Ann", `A "B" & <C>`, "Émile_50%", "Bo"},
	}}
	finds := e.finder(true)
	for _, text := range []string{
		`{"a":"to O\"NEIL\u003cX@example.com"}`, `{"a":"MARY ANN"}`, `["x A \"B\" \u0026 \u003cC\u003e y"]`, `{"a":"Émile_50%!"}`,
		`{"user_name":"Bo"}`, `{"user_id":7,"id":1,"body":"Mine"}`, `{"user_id":7,"answers":{"1":["Mine"]}}`,
	} {
		if e.json(text) == text {
			t.Errorf("%s is not erased", text)
		}
		if !finds(text) {
			t.Errorf("%s is not found", text)
		}
	}
	for _, text := range []string{`{"a":"Mary Bann"}`, `{"user_id":77,"body":"x"}`, `{"body":"x","user_id":7}`, `{"name":"Bob"}`, ""} {
		if finds(text) {
			t.Errorf("%s is found", text)
		}
	}
}

// TestMessagesAreErasedInParts checks that a person is erased from packed events and attempts,
// part by part, and that everything about others stays as it is.
func TestMessagesAreErasedInParts(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, store *Store) {
		school := storetest.MakeSchool(t, store)
		const n = 2*searchedRows + 1
		theirs := func(i int) bool { return i == 1 || i == searchedRows || i == n }
		object := func(i int) string {
			if theirs(i) {
				return fmt.Sprintf(`{"id":%d,"name":"Quentin Zoltan","user_id":7}`, i)
			}
			return fmt.Sprintf(`{"id":%d, "name":"Ann"}`, i)
		}
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			_, err := tx.Webhooks.Save(tx, lyceum.Webhook{ID: 1, State: lyceum.WebhookVerified, URL: "https://hooks.example.com", EventTrigger: lyceum.AllEvents, Live: true})
			if err != nil {
				return err
			}
			for i := 1; i <= n; i++ {
				err := tx.Payloads.Insert(tx, lyceum.EventPayload{Number: int64(i), Event: lyceum.UserUpdatedEvent, At: storetest.Begin, Object: object(i)})
				if err != nil {
					return err
				}
			}
			if err := tx.CreateDeliveries([]lyceum.WebhookEvent{{ID: 1, Webhook: 1, CreatedAt: storetest.Begin}}); err != nil {
				return err
			}
			for i := 1; i <= n; i++ {
				err := tx.CreateAttempt(lyceum.Attempt{Delivery: 1, Number: int32(i), At: storetest.Begin, RequestHeader: "A: b", ResponseBody: object(i)})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if changes := eraseTexts(t, store, school, lyceum.Called{Names: []string{"Quentin Zoltan"}}); changes != 6 {
			t.Errorf("erased in %d changes", changes)
		}
		v := store.In(t.Context(), school)
		err := v.Payloads.Each(v, struct{}{}, func(p *lyceum.EventPayload) error {
			if i := int(p.Number); theirs(i) == (p.Object == object(i)) || strings.Contains(p.Object, "Zoltan") {
				t.Errorf("event %d is %s", i, p.Object)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for more := true; more; {
			var found []lyceum.Attempt
			if found, more, err = v.FindAttempts(1, int32(count)); err != nil {
				t.Fatal(err)
			}
			for _, a := range found {
				if i := int(a.Number); theirs(i) != (a.ResponseBody == "") || a.RequestHeader != "A: b" {
					t.Errorf("attempt %d is %+v", i, a)
				}
				count++
			}
		}
		if count != n {
			t.Errorf("%d attempts", count)
		}
	})
}
