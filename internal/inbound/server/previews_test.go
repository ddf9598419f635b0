package server_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// A preview shows what the action itself does not: it requires read permission in addition to
// that of the action, which works without.
func TestPreviewNeedsToRead(t *testing.T) {
	s := newSite(t)
	const path = "/lyceum/v1/product_collections/99/products/course/1"
	for _, tc := range []struct {
		query  string
		may    lyceum.Permissions
		status int
		says   string
	}{
		{"?preview=true", lyceum.Write, http.StatusForbidden, "this API key does not have read permission (it has: write)"},
		{"?preview=true", lyceum.Read, http.StatusForbidden, "this API key does not have write permission (it has: read)"},
		{"?preview=true", lyceum.Read | lyceum.Write, http.StatusNotFound, "there is no product collection 99"},
		{"?preview=false", lyceum.Write, http.StatusNotFound, "there is no product collection 99"},
		{"", lyceum.Write, http.StatusNotFound, "there is no product collection 99"},
	} {
		w := s.do(request(http.MethodDelete, path+tc.query, nil, "apiKey: "+s.issue(t, s.ours, tc.may)))
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.says) {
			t.Errorf("%s with %s: %d %s, want %d %q", tc.query, tc.may, w.Code, w.Body, tc.status, tc.says)
		}
	}
}

// A request for a preview of a change that has none must not make the change: it is rejected,
// and nothing happens.
func TestNoPreviewIsNoChange(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	key := s.issue(t, s.ours, lyceum.Read|lyceum.Write)
	last := func() int {
		entries, err := storetest.FindEntries(t.Context(), s.store, s.ours, 0, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before, refused := last(), 0
	for _, face := range s.options.Faces {
		for _, op := range face.Operations() {
			if !strings.HasPrefix(op.Path, "/lyceum/") || op.Method == http.MethodGet || op.Previews {
				continue
			}
			refused++
			for _, query := range []string{"?preview=true", "?preview=true;x", "?%70review"} {
				path := placeholder.ReplaceAllString(op.Path, "1") + query
				w := s.do(request(op.Method, path, strings.NewReader("{}"), "apiKey: "+key, "Content-Type: application/json"))
				if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "preview is not available for this request") {
					t.Errorf("%s %s: %d %s", op.Method, path, w.Code, w.Body)
				}
			}
		}
	}
	if refused == 0 || last() != before {
		t.Errorf("%d operations were refused, with %d changes", refused, last()-before)
	}
}

var placeholder = regexp.MustCompile(`{[^}]+}`)

// moments calls read each time before a school is read.
type moments struct {
	lyceum.Store

	read func()
}

func (m *moments) AtOnce(ctx context.Context, school lyceum.SchoolID, f func(lyceum.View) error) error {
	m.read()
	return m.Store.AtOnce(ctx, school, f)
}

// TestPreviewLetsOthersIn checks that the preview of a removal that affects many users reads
// them in parts. Between two parts, a waiting expensive response gets its turn, a change is
// made, and no memory is reserved.
func TestPreviewLetsOthersIn(t *testing.T) {
	const holders = 2*lyceum.MaxUsers + 1
	var load *access.Load
	watched := &moments{read: func() {}}
	s := newSite(t, loaded(&load, access.LoadLimits{Process: 64 << 20, School: 32 << 20, Turns: 2, Wait: time.Hour}),
		func(s *site, o *server.Options) {
			watched.Store = s.store
			o.Faces = facesOver(watched, s.clock.Now, o.OAuth)
		})
	holdCollection(t, s, holders)
	reads, had := 0, make(chan struct{})
	watched.read = func() {
		reads++
		switch {
		case reads == 1:
			waits := load.Begin(s.ours)
			go func() {
				if err := waits.Turn(t.Context()); err != nil {
					t.Error(err)
				}
				close(had) // before the preview can have its turn again
				waits.EndTurn()
			}()
			if !storetest.Await(func() bool { return load.Waiting() == 1 }) {
				t.Error("no other answer waits")
			}
		case reads == 2:
			select {
			case <-had:
			default:
				t.Error("an answer still waits")
			}
			storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
				return tx.SignedIn(1000, "192.0.2.1", s.clock.Now())
			})
		}
		if load.Bytes() != 0 || load.Making() != 1 {
			t.Errorf("read %d: %d answers are being made, of %d bytes", reads, load.Making(), load.Bytes())
		}
	}
	path := "/lyceum/v1/product_collections/900/products/course/900?preview=true&per_page=1&end_access=true"
	w := s.do(request(http.MethodDelete, path, nil, "apiKey: "+s.issue(t, s.ours, lyceum.Read|lyceum.Write)))
	wantStatus(t, w, http.StatusOK)
	if says := fmt.Sprintf(`"losing_count":%d,`, holders); !strings.Contains(w.Body.String(), says) || reads < 4 {
		t.Errorf("after %d reads: %s, want %s", reads, w.Body, says)
	}
}

// holdCollection creates collection 900, with course 900, and users who have it.
func holdCollection(t *testing.T, s *site, holders int) {
	t.Helper()
	at := storetest.Begin
	collection := lyceum.ProductCollectionID(900)
	storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
		var users []lyceum.User
		var held []lyceum.Entitlement
		for n := range holders {
			id := lyceum.UserID(1000 + n)
			users = append(users, lyceum.User{ID: id, Email: fmt.Sprintf("holder%d@example.com", n), Role: lyceum.Student, CreatedAt: at})
			held = append(held, lyceum.Entitlement{
				ID: lyceum.EntitlementID(1000 + n), User: id, Product: lyceum.Product{Kind: lyceum.CollectionKind, ID: 900}, StartsAt: at,
			})
		}
		for _, save := range []func() (lyceum.Saved, error){
			func() (lyceum.Saved, error) {
				return tx.Courses.Save(tx, lyceum.Course{ID: 900, Name: "Pottery", CreatedAt: at, UpdatedAt: at})
			},
			func() (lyceum.Saved, error) {
				return tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: collection, Name: "All", CreatedAt: at, UpdatedAt: at})
			},
			func() (lyceum.Saved, error) {
				return tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{
					ID: 900, In: collection, Product: lyceum.CourseID(900).Product(), CreatedAt: at,
				})
			},
			func() (lyceum.Saved, error) { return tx.Users.Save(tx, users...) },
			func() (lyceum.Saved, error) { return tx.Entitlements.Save(tx, held...) },
		} {
			if _, err := save(); err != nil {
				return err
			}
		}
		return nil
	})
}
