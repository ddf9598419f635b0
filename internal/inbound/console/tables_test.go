package console

import (
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
