package wire_test

import (
	"net/http"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func TestEveryKindHasAStatus(t *testing.T) {
	for _, kind := range lyceum.Kinds() {
		if status := wire.Status(kind); status < 400 || http.StatusText(status) == "" {
			t.Errorf("the kind %q has status %d", kind, status)
		}
	}
}
