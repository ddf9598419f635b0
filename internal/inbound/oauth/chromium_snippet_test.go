package oauth_test

import (
	"context"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// The script of a school's snippet runs, but can access neither the page, nor its cookies, nor
// the server as the learner.
func TestSnippetInABrowser(t *testing.T) {
	w := show(t)
	emails := templates.New(w.store, time.Now, templates.Options{Ring: lyceum.NewKeyring(lyceum.SecretKey{})})
	const probe = `<p>Ask us.</p><script>
const kept = f => { try { return f(), "reached" } catch { return "kept out" } };
const asked = fetch("/account/apps").then(() => "reached", () => "kept out");
asked.then(server => parent.postMessage([
  kept(() => parent.document.title), kept(() => document.cookie), kept(() => localStorage.length), server].join(", "), "*"));
</script>`
	if _, err := emails.ChangeSnippet(context.Background(), lyceum.By{School: w.school, Actor: "test"}, lyceum.Some(probe)); err != nil {
		t.Fatal(err)
	}
	w.open(w.at + "/secure/sign_in?next=/account/apps")
	w.signIn(password)
	got := webtest.Eval[string](t, w.tab, `new Promise(done => {
		addEventListener("message", e => done(e.data));
		const frame = document.querySelector("iframe.snippet");
		frame.loading = "eager";
		frame.src = frame.src;
	})`)
	if want := "kept out, kept out, kept out, kept out"; got != want {
		t.Errorf("the snippet: %s; want %s", got, want)
	}
	webtest.Axe(t, w.tab)
	webtest.Sound(t, w.tab)
}
