package console

import (
	"fmt"
	"html/template"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
)

func TestEveryKindHasItsPage(t *testing.T) {
	for _, kind := range lyceum.Kinds() {
		if statusOf(kind) < 400 || web.Title(kind) == "" {
			t.Errorf("an error of kind %v has status %d and title %q", kind, statusOf(kind), web.Title(kind))
		}
	}
}

func TestEveryFilterHasALabel(t *testing.T) {
	for _, name := range filterFields {
		if labels[name] == "" {
			t.Errorf("%s has no label", name)
		}
	}
}

// A school can change its time zone as often as it likes, and the pages of one zone take megabytes.
func TestPagesOfFewZonesAreKept(t *testing.T) {
	l := &looks{byZone: map[lyceum.TimeZone]map[string]*template.Template{}}
	for n := range mostZones {
		l.byZone[lyceum.TimeZone(fmt.Sprint(n))] = nil
	}
	page, err := l.of(lyceum.UTC, "home.gohtml")
	if err != nil || page == nil || len(l.byZone) != mostZones {
		t.Errorf("%v, %v; the pages of %d zones are kept", page, err, len(l.byZone))
	}
	if again, err := l.of(lyceum.UTC, "home.gohtml"); err != nil || again != page {
		t.Errorf("the page was parsed again: %v", err)
	}
}
