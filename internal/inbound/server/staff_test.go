package server_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// R53: each operation responds to a key of each role as the table says, and none is missing
// from it.
func TestR53EveryRoleAndOperation(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		keys := map[lyceum.StaffRole]string{"": c.ours.key}
		for i, role := range lyceum.StaffRoles() {
			id := lyceum.UserID(900 + i)
			user := lyceum.User{ID: id, Email: string(role) + "@staff.example.com", Role: lyceum.Student}
			if role == lyceum.OwnerRole {
				user.Role = lyceum.Owner
			}
			storetest.Write(t, c.store, c.ours.id, func(tx lyceum.Tx) error {
				if _, err := tx.Users.Save(tx, user); err != nil || role == lyceum.OwnerRole {
					return err
				}
				return tx.StaffMembers.Insert(tx, lyceum.StaffMember{User: id, Role: role})
			})
			by := lyceum.By{School: c.ours.id, Actor: "test", Staff: role, Person: id}
			var err error
			if _, keys[role], err = c.options.Keys.Create(t.Context(), by, "test", lyceum.Read|lyceum.Write|lyceum.Accounts, access.NewEntropy()); err != nil {
				t.Fatal(err)
			}
		}
		blank := regexp.MustCompile(`\{[a-z_]+\}`)
		doors, tried := access.Doors(), map[string]bool{}
		for _, face := range c.options.Faces {
			for _, op := range face.Operations() {
				door := op.Method + " " + op.Path
				if op.Credential != wire.APIKey {
					continue
				}
				if _, known := doors[door]; !known {
					t.Errorf("%s is in no role's reach; add it to internal/rules/access/doortable.go", door)
				}
				tried[door] = true
				for role, key := range keys {
					r := httptest.NewRequest(op.Method, blank.ReplaceAllString(op.Path, "0"), strings.NewReader("{"))
					r.Header.Set("Apikey", key)
					r.Header.Set("Content-Type", "application/json")
					w := httptest.NewRecorder()
					c.ServeHTTP(w, r)
					closed := w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), "the role "+string(role)+",")
					if open := role == "" || access.May(role, door); closed == open {
						t.Errorf("key of %q, %s: status %d %s, want it open: %t", role, door, w.Code, w.Body, open)
					}
				}
			}
		}
		for door := range doors {
			if _, path, _ := strings.Cut(door, " "); !tried[door] && !strings.HasPrefix(path, "/admin") && !strings.Contains(path, "/sandbox") && !strings.HasSuffix(path, "/clock") {
				t.Errorf("the table has %s, which is no operation", door)
			}
		}
	})
}
