package sqlstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// A school from before passkeys has none, and can get some; the audit log finds their entries
// along with the older ones.
func TestPasskeysAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 76,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'head@example.com', 'head@example.com', 'owner', 0)")
			at := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
			used := lyceum.Passkey{
				Hash: lyceum.KeyHash{2}, User: 1, Name: "Téléphone", Credential: "AAEC", PublicKey: "pQECAyYg", Uses: 1<<32 - 1,
				Flags: 0xff, CreatedAt: at, LastUsedAt: lyceum.Some(at.Add(time.Hour)),
			}
			unused := lyceum.Passkey{Hash: lyceum.KeyHash{1}, User: 1, Name: "Key", Credential: "AA", PublicKey: "pQ", CreatedAt: at.Add(time.Second)}
			storetest.Write(t, store, 7, func(tx lyceum.Tx) error {
				if has, err := lyceum.HasSecondFactor(tx.Tables, tx, 1); has || err != nil {
					t.Errorf("before: %v, %v", has, err)
				}
				tx.Note(lyceum.SecondFactorSet, 1)
				tx.Note(lyceum.PasskeyAdded, 1)
				return tx.Passkeys.Insert(tx, used, unused)
			})
			v := store.In(t.Context(), 7)
			got, err := lyceum.All(v.Passkeys, v, lyceum.PasskeyFilter{User: lyceum.Some(lyceum.UserID(1))})
			if diff := cmp.Diff([]lyceum.Passkey{used, unused}, got); diff != "" || err != nil {
				t.Errorf("%s, %v", diff, err)
			}
			listed, err := v.FindEntries(lyceum.EntryQuery{Kind: lyceum.SignInEntries, Limit: 10})
			if err != nil || len(listed.Entries) != 2 || listed.Entries[0].Type != lyceum.PasskeyAdded {
				t.Errorf("the audit log has %+v, %v", listed.Entries, err)
			}
			storetest.Write(t, store, 7, func(tx lyceum.Tx) error { return lyceum.DropSecondFactor(tx, 1) })
			if has, err := lyceum.HasSecondFactor(v.Tables, v, 1); has || err != nil {
				t.Errorf("after: %v, %v", has, err)
			}
		})
	}
}
