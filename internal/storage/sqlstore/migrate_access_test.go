package sqlstore

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// hashOf returns a hash that repeats one byte, and its literal in an engine's SQL.
func hashOf(postgres bool, of byte) (hash lyceum.KeyHash, literal string) {
	copy(hash[:], bytes.Repeat([]byte{of}, len(hash)))
	text := strings.Repeat(string("0123456789abcdef"[of>>4])+string("0123456789abcdef"[of&15]), len(hash))
	if postgres {
		return hash, "decode('" + text + "', 'hex')"
	}
	return hash, "x'" + text + "'"
}

// Credentials from before version 7 are still valid after it. A used code is remembered for
// another year, so that a replay is noticed; an unused one keeps its expiry.
func TestAccessFromBeforeAccounts(t *testing.T) {
	t.Parallel()
	const used, expires = "1700000000000000", "1700000060000000"
	usedAt, expiresAt := time.UnixMicro(1700000000000000).UTC(), time.UnixMicro(1700000060000000).UTC()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spent, spentText := hashOf(postgres, 0x1a)
			fresh, freshText := hashOf(postgres, 0x1b)
			token, tokenText := hashOf(postgres, 0x1c)
			next, nextText := hashOf(postgres, 0x1d)
			session, sessionText := hashOf(postgres, 0x1e)
			_, secretText := hashOf(postgres, 0x1f)
			store := oldDatabase(t, postgres, 6,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'mira@example.com', 'mira@example.com', 'student', 0)",
				"INSERT INTO oauth_apps (school_id, oauth_app_id, name, version, redirect_url, client_id, secret_hash, created_at) "+
					"VALUES (7, 1, 'Ledger', 1, 'https://app.example.com', 'ledger', "+secretText+", 0)",
				"INSERT INTO grants (school_id, grant_id, oauth_app_id, user_id, scopes, created_at) VALUES (7, 1, 1, 1, 'name:read', 0)",
				"INSERT INTO authorization_codes (school_id, hash, grant_id, redirect_url, created_at, expires_at, used_at) VALUES "+
					"(7, "+spentText+", 1, 'https://app.example.com', 0, "+expires+", "+used+"), (7, "+freshText+", 1, 'https://app.example.com', 0, "+expires+", NULL)",
				"INSERT INTO refresh_tokens (school_id, hash, grant_id, scopes, created_at, used_at, replaced_at, replaced_by, family) VALUES "+
					"(7, "+tokenText+", 1, 'name:read', 0, "+used+", "+used+", "+nextText+", 0), (7, "+nextText+", 1, 'name:read', "+used+", "+used+", NULL, NULL, 0)",
				"INSERT INTO sessions (school_id, hash, user_id, created_at, seen_at) VALUES (7, "+sessionText+", 1, 0, "+used+")",
				"INSERT INTO webhooks (school_id, webhook_id, state, url, event_trigger, events_count, created_at, is_live, schedule, secret_generation) "+
					"VALUES (7, 1, 'verified', 'https://hooks.example.com', 'all', 1, 0, 1, 'contract', 3)")

			v := store.In(t.Context(), 7)
			code, err := v.AuthorizationCodes.Get(v, spent)
			if err != nil || code.UsedAt != lyceum.Some(usedAt) || !code.ExpiresAt.Equal(usedAt.AddDate(0, 0, 365)) {
				t.Errorf("the spent code is %+v, %v", code, err)
			}
			code, err = v.AuthorizationCodes.Get(v, fresh)
			if err != nil || code.UsedAt.Present || !code.ExpiresAt.Equal(expiresAt) {
				t.Errorf("the other code is %+v, %v", code, err)
			}
			for hash, replaced := range map[lyceum.KeyHash]bool{token: true, next: false} {
				r, err := v.RefreshTokens.Get(v, hash)
				if err != nil || r.Parent.Present || r.ReplacedAt.Present != replaced || replaced && r.ReplacedBy != lyceum.Some(next) || r.Grant != 1 {
					t.Errorf("the refresh token is %+v, %v", r, err)
				}
			}
			stays, err := lyceum.All(v.Sessions, v, lyceum.SessionFilter{User: lyceum.Some(lyceum.UserID(1))})
			if err != nil || len(stays) != 1 || stays[0].Hash != session || stays[0].Address != "" || stays[0].Browser != "" || !stays[0].SeenAt.Equal(usedAt) {
				t.Errorf("the sessions are %+v, %v", stays, err)
			}
			w, err := v.Webhooks.Get(v, 1)
			if err != nil || w.SecretKey != "" || w.OldSecretKey != "" || w.SecretGeneration != 3 {
				t.Errorf("the webhook is %+v, %v", w, err)
			}

			if err := store.Sweep(t.Context(), 7, lyceum.Expired{Until: expiresAt.Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			if _, err := v.AuthorizationCodes.Get(v, spent); err != nil {
				t.Error("the spent code is forgotten:", err)
			}
			if _, err := v.AuthorizationCodes.Get(v, fresh); lyceum.KindOf(err) != lyceum.NotFound {
				t.Error("the other code is not forgotten:", err)
			}
		})
	}
}
