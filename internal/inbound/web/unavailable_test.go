package web_test

import (
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// TestR22_WhatPagesSay checks that neither a page nor an app is told that nothing happened if
// that is unknown.
func TestR22_WhatPagesSay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		code, page string
	}{
		{"", "Try again in a minute."},
		{lyceum.OutcomeUnknown, "it is unknown whether it was saved"},
	} {
		e := &lyceum.Error{Kind: lyceum.Unavailable, Code: tc.code, Detail: "a reason"}
		if says := web.Unavailable(e); !strings.Contains(says, tc.page) || strings.Contains(says, "Nothing was") {
			t.Errorf("a page says %q of %q", says, tc.code)
		}
		if status, body := wire.AsOAuth(e); status != 503 || body.Error != "temporarily_unavailable" || body.Description != "a reason" {
			t.Errorf("an app is told %d %+v of %q", status, body, tc.code)
		}
	}
}
