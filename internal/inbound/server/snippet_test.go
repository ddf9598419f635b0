package server_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// The snippet that a school adds to learners' pages is in a frame that cannot access the page,
// and can sign who the learner is. The pages of the other school have none.
func TestSnippetOfPages(t *testing.T) {
	c := newCampus(t)
	emails, by := templatesOver(c.store, c.clock.Now, nil), lyceum.By{School: c.ours.id, Actor: "test"}
	in := c.browse()
	in.signIn(t, c.ours, learnerEmail)
	const frame = `<iframe class="snippet" src="/account/snippet" title="From the school" sandbox="allow-scripts`
	if page := in.get("/account/apps"); page.Code != http.StatusOK || strings.Contains(page.Body.String(), "iframe") ||
		strings.Contains(page.Header().Get("Content-Security-Policy"), "frame-src") {
		t.Errorf("%d: %s", page.Code, page.Body)
	}
	if w := in.get("/account/snippet"); w.Code != http.StatusNotFound {
		t.Errorf("no snippet is a %d", w.Code)
	}

	if _, err := emails.AddSecret(t.Context(), by, templates.NewSecret{Name: "chat", Secret: "Jefe"}); err != nil {
		t.Fatal(err)
	}
	body := `<script>hello("{{ user.id }}", "{{ user.email | hmac_sha256: secrets.chat }}")</script>`
	if _, err := emails.ChangeSnippet(t.Context(), by, lyceum.Some(body)); err != nil {
		t.Fatal(err)
	}
	page := in.get("/account/apps")
	if policy := page.Header().Get("Content-Security-Policy"); !strings.Contains(page.Body.String(), frame) || !strings.HasSuffix(policy, "; frame-src 'self'") {
		t.Errorf("%s, %s", policy, page.Body)
	}
	wantProtected(t, page.Header())

	w := in.get("/account/snippet")
	sum := hmac.New(sha256.New, []byte("Jefe"))
	sum.Write([]byte(learnerEmail))
	if want := `hello("1007", "` + hex.EncodeToString(sum.Sum(nil)) + `")`; w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
		t.Errorf("%d: %s, want %s", w.Code, w.Body, want)
	}
	for name, want := range map[string]string{
		"X-Frame-Options": "SAMEORIGIN", "Cache-Control": "no-store", "Referrer-Policy": "strict-origin",
		"X-Content-Type-Options": "nosniff", "Content-Type": "text/html; charset=utf-8",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "sandbox allow-scripts ") ||
		!strings.Contains(policy, "frame-ancestors 'self'") || strings.Contains(policy, "allow-same-origin") {
		t.Errorf("the policy is %q", policy)
	}

	other := c.browse()
	other.signIn(t, c.theirs, learnerEmail)
	if w := other.get("/account/snippet"); w.Code != http.StatusNotFound {
		t.Errorf("the other school's is a %d: %s", w.Code, w.Body)
	}
	if w := c.browse().get("/account/snippet"); w.Code != http.StatusSeeOther {
		t.Errorf("without a session it is a %d", w.Code)
	}
}
