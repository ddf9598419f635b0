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

// R53: an operation of users gives no role what it may not do with the operations of authors and
// affiliates.
func TestR53PartnersAsUsers(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		storetest.Write(t, c.store, c.ours.id, func(tx lyceum.Tx) error {
			_, err := tx.Users.Save(tx,
				lyceum.User{ID: 950, Email: "student@example.com", Role: lyceum.Student, CreatedAt: storetest.Begin},
				lyceum.User{ID: 951, Email: "author@example.com", Role: lyceum.Author, CreatedAt: storetest.Begin})
			if err != nil {
				return err
			}
			_, err = tx.Authors.Save(tx, lyceum.AuthorProfile{ID: 950, UserID: lyceum.Some(lyceum.UserID(951)), Share: lyceum.Some(0.1)})
			return err
		})
		for i, role := range []lyceum.StaffRole{lyceum.SupportRole, lyceum.ManagerRole} {
			id := lyceum.UserID(960 + i)
			storetest.Write(t, c.store, c.ours.id, func(tx lyceum.Tx) error {
				user := lyceum.User{ID: id, Email: string(role) + "@staff.example.com", Role: lyceum.Student, CreatedAt: storetest.Begin}
				if _, err := tx.Users.Save(tx, user); err != nil {
					return err
				}
				return tx.StaffMembers.Insert(tx, lyceum.StaffMember{User: id, Role: role})
			})
			by := lyceum.By{School: c.ours.id, Actor: "test", Staff: role, Person: id}
			_, key, err := c.options.Keys.Create(t.Context(), by, "test", lyceum.Read|lyceum.Write|lyceum.Accounts, access.NewEntropy())
			if err != nil {
				t.Fatal(err)
			}
			send := func(method, path, body string) *httptest.ResponseRecorder {
				r := httptest.NewRequest(method, path, strings.NewReader(body))
				r.Header.Set("Apikey", key)
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				c.ServeHTTP(w, r)
				return w
			}
			for _, tc := range []struct {
				method, path, body string
				status             int
			}{
				{"PATCH", "/v2/users/951", `{"author_revenue_share":0.9}`, 200},
				{"PATCH", "/v2/users/950", `{"role":"affiliate","affiliate_revenue_share":0.9}`, 200},
				{"POST", "/v2/users", `{"email":"new@example.com","name":"New","role":"author","author_revenue_share":0.9}`, 201},
			} {
				w := send(tc.method, tc.path, tc.body)
				if role == lyceum.SupportRole {
					tc.status = http.StatusForbidden
				}
				if w.Code != tc.status || role == lyceum.SupportRole && !strings.Contains(w.Body.String(), "has the role support,") {
					t.Errorf("%s: %s %s %s: status %d %s, want %d", role, tc.method, tc.path, tc.body, w.Code, w.Body, tc.status)
				}
			}
			if w := send("PATCH", "/v2/users/951", `{"name":"Ann","role":"author"}`); w.Code != http.StatusOK {
				t.Errorf("%s cannot change the name of an author: status %d %s", role, w.Code, w.Body)
			}
		}
	})
}
