package people_test

import (
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestJournalOfAColleague checks that somebody who works for a school is handed what is recorded
// about them, also by others, and what they did, but not what that says about others.
func TestJournalOfAColleague(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.save(t, lyceum.User{ID: 1, Email: "a@example.com", Role: lyceum.Student}, lyceum.User{ID: 2, Email: "b@example.com", Role: lyceum.Student})
	manager := lyceum.By{School: d.school, Actor: "user:1"}
	for user, tag := range map[lyceum.UserID]string{1: "colleague", 2: "owes money"} {
		if _, err := d.service.SetTags(t.Context(), manager, lyceum.UserTags{User: user, Tags: []string{tag}}); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
		detail := lyceum.EntryDetail{Role: lyceum.ManagerRole}
		tx.NoteDetail(lyceum.StaffMemberCreated, 1, detail.JSON())
		tx.NoteDetail(lyceum.StaffMemberCreated, 2, detail.JSON())
		return nil
	})
	var b strings.Builder
	err := d.service.HandOver(t.Context(), manager, 1, func(noun string, row []byte) error {
		if noun == "journal" {
			b.Write(append(row, '\n'))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		`"type":"user.tagged"`: 2, `"name":"colleague"`: 1, "owes money": 0, `"role":"manager"`: 1, `"user.data_handed_over"`: 1,
	} {
		if got := strings.Count(b.String(), text); got != want {
			t.Errorf("%d times %s, want %d, in\n%s", got, text, want, b.String())
		}
	}
}
