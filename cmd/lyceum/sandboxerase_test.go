package main

import (
	"fmt"
	"strings"
	"testing"
)

// A sandbox on SQLite does not mention PostgreSQL when it asks for confirmation to erase a
// person.
func TestErasePageOfASandbox(t *testing.T) {
	t.Parallel()
	_, login := openSandbox(t)
	page := signedIn(t, &shop{addr: strings.TrimPrefix(login.BaseURL, "http://"), key: login.APIKey}, login)
	for user := login.Learner.ID + 1; ; user++ {
		text := page(t, fmt.Sprintf("/admin/people/%d/erase", user))
		if !strings.Contains(text, "Permanently erase") { // they have a subscription
			continue
		}
		if strings.Contains(text, "PostgreSQL") {
			t.Errorf("the page is %s", text)
		}
		return
	}
}
