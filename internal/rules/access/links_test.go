package access_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

func (o *office) link(t *testing.T) string {
	t.Helper()
	o.clock.Pass(time.Second)
	link, err := o.accounts.NewPasswordLink(t.Context(), lyceum.By{School: o.school, Actor: "test"}, learner)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// forgotten requests an email like a stranger could, and returns its link.
func (o *office) forgotten(t *testing.T) string {
	t.Helper()
	o.clock.Pass(time.Hour) // three are sent per hour
	var link string
	pass := func(_ lyceum.Tx, _ lyceum.User, made string) error { link = made; return nil }
	err := o.accounts.Forgotten(t.Context(), o.school, "mira@example.com", pass)
	if err != nil || link == "" {
		t.Fatalf("no link was sent: %v", err)
	}
	return link
}

func (o *office) opens(t *testing.T, link string) bool {
	t.Helper()
	_, err := o.accounts.Link(t.Context(), o.school, link)
	if err != nil {
		wantKind(t, err, lyceum.NotFound)
	}
	return err == nil
}

// Strangers who keep requesting emails do not invalidate links that an owner handed out; a
// user's links end when one of them is used.
func TestR39_LinksEndWhenOneIsUsed(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		handed := []string{o.link(t), o.link(t)}
		var sent []string
		for range 8 {
			sent = append(sent, o.forgotten(t))
		}
		for i, link := range handed {
			if !o.opens(t, link) {
				t.Fatalf("link %d of the owner has ended because strangers asked for letters", i)
			}
		}
		for i, link := range sent {
			if got, want := o.opens(t, link), i >= 3; got != want {
				t.Errorf("letter %d of 8 opens: %v, want %v (five stay)", i, got, want)
			}
		}
		if _, err := o.accounts.SetPassword(t.Context(), o.school, handed[0], "four other words here"); err != nil {
			t.Fatal(err)
		}
		for i, link := range append(handed, sent...) {
			if o.opens(t, link) {
				t.Errorf("link %d outlives the use of another", i)
			}
		}
	})
}

// A user has a limited number of open links, even if an owner creates them; the newest work.
func TestR39_OpenLinksAreBounded(t *testing.T) {
	onBothEngines(t, func(t *testing.T, o *office) {
		sent := o.forgotten(t)
		var handed []string
		for range 7 {
			handed = append(handed, o.link(t))
		}
		for i, link := range handed {
			if got, want := o.opens(t, link), i >= 2; got != want {
				t.Errorf("link %d of 7 opens: %v, want %v", i, got, want)
			}
		}
		if !o.opens(t, sent) {
			t.Error("the owner's links ended a letter's")
		}
		o.clock.Pass(access.LinkLifetime)
		for _, link := range append(handed, sent) {
			if o.opens(t, link) {
				t.Error("a link outlives its 48 hours")
			}
		}
	})
}
