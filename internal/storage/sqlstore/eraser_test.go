package sqlstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestEraser checks that names and addresses are removed, but not from within other ones.
func TestEraser(t *testing.T) {
	e := eraser{user: 7, called: lyceum.Called{
		Emails: []string{"na@example.com"}, Names: []string{"Mary Ann", "Will", "Bo", "\u00c9mile"},
	}}
	const gone = "erased-7@invalid"
	for text, want := range map[string]string{
		"to NA@example.com.":              "to " + gone + ".",
		"<na@example.com>,na@example.com": "<" + gone + ">," + gone,
		"anna@example.com":                "anna@example.com",
		"x.na@example.com":                "x.na@example.com",
		"na@example.com.au":               "na@example.com.au",
		"na@example.community":            "na@example.community",
		"MARY ANN's and mary ann":         gone + "'s and " + gone,
		"Rosemary Ann, Mary Anne":         "Rosemary Ann, Mary Anne",
		"Will will. Willow, WILL":         gone + " will. Willow, WILL",
		"\u00c9mile \u00c9miles":          gone + " \u00c9miles",
		"Bo":                              "Bo",
		"":                                "",
	} {
		if got := e.plain(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		`{"user_id":7,"body":"Mine","attachments":[{"url":"https://example.com/me.jpg"}]}`,
		`{"user_id":7,"answers":{"1":["Mine"]}}`,
		`{"user":{"id":7,"email":"na@example.com"},"body":"Mine"}`,
	} {
		if got := e.json(text); strings.Contains(got, "Mine") || strings.Contains(got, "me.jpg") || strings.Contains(got, "na@") {
			t.Errorf("what they wrote became %s", got)
		}
	}
	const other = `{"id":8,"name":"Marketing","email":"anna@example.com"}`
	if got := e.json(other); got != other && got != `{"email":"anna@example.com","id":8,"name":"Marketing"}` {
		t.Errorf("somebody else's became %s", got)
	}
}

// TestEraserFailedRequests checks that a stored failed request loses a name when its person is
// erased.
func TestEraserFailedRequests(t *testing.T) {
	store := openTest(t)
	school, err := store.CreateSchool(t.Context(), lyceum.School{Name: "Fernwood"}, "test")
	if err != nil {
		t.Fatal(err)
	}
	err = store.Write(t.Context(), lyceum.Stamp{School: school.ID, Actor: "test"}, func(tx lyceum.Tx) error {
		for id, message := range []string{"Mary Ann is there", "nobody is there"} {
			row := lyceum.FailedRequest{ID: lyceum.FailedRequestID(id + 1), Message: message}
			if err := tx.FailedRequests.Insert(tx, row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	eraseTexts(t, store, school.ID, lyceum.Called{Names: []string{"Mary Ann"}})
	v := store.In(t.Context(), school.ID)
	kept, err := v.FailedRequests.Find(v, 1, 2)
	if err != nil || kept[1].Message != "erased-7@invalid is there" || kept[2].Message != "nobody is there" {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestEraserOfManyNames checks that somebody can be erased who had hundreds of names.
func TestEraserOfManyNames(t *testing.T) {
	t.Parallel()
	store := openTest(t)
	school := storetest.MakeSchool(t, store)
	var called lyceum.Called
	for i := range 1000 {
		called.Names = append(called.Names, fmt.Sprintf("\u00c9mile the %dth", i))
	}
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		return tx.FailedRequests.Insert(tx, lyceum.FailedRequest{ID: 1, Message: called.Names[999] + " is there"})
	})
	eraseTexts(t, store, school, called)
	v := store.In(t.Context(), school)
	if kept, err := v.FailedRequests.Find(v, 1); err != nil || kept[1].Message != "erased-7@invalid is there" {
		t.Errorf("%+v, %v", kept, err)
	}
}
