package files_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/files"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	kept "github.com/lyceum-school/lyceum/internal/storage/files"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// shelf is a server with two schools of the same ids: in each, learner 7 has access to digital
// download 1, whose attachment has id 1.
type shelf struct {
	http.Handler
	store        lyceum.Store
	clock        *storetest.Clock
	learning     *learning.Service
	dir          string // where the files are stored
	ours, theirs lyceum.SchoolID
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := &shelf{store: store, clock: storetest.NewClock(storetest.Begin), dir: filepath.Join(t.TempDir(), "files")}
	s.ours, s.theirs = storetest.MakeSchool(t, store), storetest.MakeSchool(t, store)
	for _, school := range []lyceum.SchoolID{s.ours, s.theirs} {
		storetest.Write(t, store, school, fill)
	}
	s.learning = learning.New(store, s.clock.Now).SignLinks(lyceum.NewKeyring(lyceum.SecretKey{1}), base).KeepFiles(kept.NewFolder(s.dir))
	mux := http.NewServeMux()
	for pattern, pages := range files.Handlers(files.Options{Learning: s.learning, Log: slog.New(slog.DiscardHandler)}) {
		mux.Handle(pattern, pages)
	}
	s.Handler = mux
	return s
}

const base = "https://school.example.com"

func fill(tx lyceum.Tx) error {
	at := storetest.Day(1)
	_, userErr := tx.Users.Save(tx, lyceum.User{ID: 7, Email: "lena@example.com", Role: lyceum.Student, CreatedAt: at})
	_, downloadErr := tx.DigitalDownloads.Save(tx,
		lyceum.DigitalDownload{ID: 1, Name: "Patterns", IsPublished: true, CreatedAt: at, UpdatedAt: at},
		lyceum.DigitalDownload{ID: 2, Name: "Others", IsPublished: true, CreatedAt: at, UpdatedAt: at},
	)
	_, fileErr := tx.DownloadAttachments.Save(tx, lyceum.DownloadAttachment{
		ID: 1, DigitalDownloadID: 1, Kind: lyceum.DownloadFile, URL: "https://files.example.com/p.pdf?a=1&b=2", Filename: lyceum.Some("p.pdf"), SizeInBytes: lyceum.Some[int64](1), CreatedAt: at, UpdatedAt: at,
	})
	_, accessErr := tx.Entitlements.Save(tx, lyceum.Entitlement{ID: 1, User: 7, Product: lyceum.Product{Kind: lyceum.DownloadKind, ID: 1}, StartsAt: at})
	_, keyErr := tx.APIKeys.Save(tx, lyceum.APIKey{ID: 1, Name: "report", Permissions: lyceum.Read, CreatedAt: at})
	return errors.Join(userErr, downloadErr, fileErr, accessErr, keyErr)
}

// link returns the link to the attachment that a learner or an API key gets.
func (s *shelf) link(t *testing.T, by lyceum.By) string {
	t.Helper()
	by.School = s.ours
	l, err := s.learning.DownloadAttachments(t.Context(), by, 1, lyceum.Page{Number: 1, Size: 20})
	if err != nil || len(l.Rows) != 1 {
		t.Fatal(l, err)
	}
	return wire.FileLink("", l.Rows[0].Link)
}

func (s *shelf) follow(method, address string) *httptest.ResponseRecorder {
	return s.do(request(method, address))
}

func (s *shelf) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// request returns a request with headers, given as "Name: value".
func request(method, address string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, address, nil)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	return r
}

func (s *shelf) want(t *testing.T, what, address string, status int, says string) {
	t.Helper()
	w := s.follow(http.MethodGet, address)
	if w.Code != status || !strings.Contains(w.Body.String(), says) {
		t.Errorf("%s: %d %s, want %d with %q", what, w.Code, w.Body, status, says)
	}
	if w.Header().Get("Location") != "" && status != http.StatusFound {
		t.Errorf("%s: leads to %s", what, w.Header().Get("Location"))
	}
}

var (
	learner = lyceum.By{Actor: "grant:1", Learner: lyceum.Some[lyceum.UserID](7)}
	program = lyceum.By{Actor: "api_key:1", Key: 1}
)

// programOf is a program whose API key was made by a member of staff.
func programOf(role lyceum.StaffRole) lyceum.By {
	return lyceum.By{Actor: "api_key:1", Key: 1, Staff: role, Person: 8}
}

const invalid = "this link is not valid; ask for a new one"

// TestLinksWorkForTheirTime checks that a learner's link works for ten minutes, and a program's
// for a day.
func TestLinksWorkForTheirTime(t *testing.T) {
	for name, tc := range map[string]struct {
		by    lyceum.By
		works time.Duration
	}{"learner": {learner, 10 * time.Minute}, "program": {program, 24 * time.Hour}} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t)
			address := s.link(t, tc.by)
			s.clock.Pass(tc.works - time.Second)
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				w := s.follow(method, address)
				if to := w.Header().Get("Location"); w.Code != http.StatusFound || to != "https://files.example.com/p.pdf?a=1&b=2" {
					t.Fatalf("%s: %d to %q: %s", method, w.Code, to, w.Body)
				}
				if h := w.Header(); h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" {
					t.Errorf("%s: %v", method, h)
				}
			}
			s.clock.Pass(time.Second)
			s.want(t, "expired", address, http.StatusForbidden, "this link has expired; ask for a new one")
		})
	}
}

// TestLinksAreSigned checks that a link is rejected after any change to it.
func TestLinksAreSigned(t *testing.T) {
	s := newShelf(t)
	address := s.link(t, learner)
	for name, change := range map[string][2]string{
		"of another school":                 {"/files/1/", "/files/2/"},
		"of another kind":                   {"/digital-downloads/", "/lectures/"},
		"to another file":                   {"/1?", "/2?"},
		"for another learner":               {"user=7", "user=8"},
		"for a program":                     {"user=7", "key=1"},
		"for anybody":                       {"user=7&", ""},
		"for longer":                        {"until=", "until=1"},
		"with a sign":                       {"until=", "until=%2B"},
		"with another signature":            {"signature=", "signature=A"},
		"without a signature":               {"&signature=", "&was="},
		"with a second signature":           {"&signature=", "&signature=x&signature="},
		"with a second learner":             {"user=7", "user=7&user=8"},
		"with a number written another way": {"user=7", "user=07"},
		"with more behind it":               {"?", "?a=b&"},
		"with a number too large":           {"/1?", "/4294967297?"},
	} {
		changed := strings.Replace(address, change[0], change[1], 1)
		if changed == address {
			t.Fatalf("%s: %s has no %s", name, address, change[0])
		}
		s.want(t, name, changed, http.StatusForbidden, invalid)
	}
	s.want(t, "unchanged", address, http.StatusFound, "")
	if strings.Contains(address, "files.example.com") {
		t.Errorf("%s gives the address away", address)
	}
}

// TestLinksEndWithAccess checks that access is checked again when a link is used.
func TestLinksEndWithAccess(t *testing.T) {
	at := lyceum.Some(storetest.Day(9))
	for name, tc := range map[string]struct {
		by     lyceum.By
		change func(lyceum.Tx) error
		status int
		says   string
	}{
		"access ended": {learner, func(tx lyceum.Tx) error {
			e, err := tx.Entitlements.Get(tx, 1)
			e.EndedAt, e.EndReason = at, lyceum.Some(lyceum.EndedByUnenrollment)
			return errors.Join(err, tx.Entitlements.Update(tx, e))
		}, http.StatusForbidden, "access to this file has ended"},
		"not published any more": {learner, func(tx lyceum.Tx) error {
			d, err := tx.DigitalDownloads.Get(tx, 1)
			d.IsPublished = false
			return errors.Join(err, tx.DigitalDownloads.Update(tx, d))
		}, http.StatusForbidden, "access to this file has ended"},
		"learner disabled": {learner, func(tx lyceum.Tx) error {
			u, err := tx.Users.Get(tx, 7)
			u.DisabledAt = at
			return errors.Join(err, tx.Users.Update(tx, u))
		}, http.StatusForbidden, invalid},
		"attachment deleted": {learner, func(tx lyceum.Tx) error { return tx.DownloadAttachments.Delete(tx, 1) }, http.StatusNotFound, "there is no"},
		"key revoked": {program, func(tx lyceum.Tx) error {
			k, err := tx.APIKeys.Get(tx, 1)
			k.RevokedAt = at
			return errors.Join(err, tx.APIKeys.Update(tx, k))
		}, http.StatusForbidden, invalid},
		"key of staff": {programOf(lyceum.SupportRole), func(tx lyceum.Tx) error {
			return errors.Join(madeBy(tx, lyceum.User{}), hire(tx))
		}, http.StatusFound, ""},
		"key of staff whose role changed": {programOf(lyceum.ManagerRole), func(tx lyceum.Tx) error {
			return errors.Join(madeBy(tx, lyceum.User{}), hire(tx))
		}, http.StatusForbidden, invalid},
		"key of staff who was disabled": {programOf(lyceum.SupportRole), func(tx lyceum.Tx) error {
			return errors.Join(madeBy(tx, lyceum.User{DisabledAt: at}), hire(tx))
		}, http.StatusForbidden, invalid},
		"key of somebody who left": {programOf(lyceum.SupportRole), func(tx lyceum.Tx) error {
			return madeBy(tx, lyceum.User{})
		}, http.StatusForbidden, invalid},
		"access of a learner is nothing to a program": {program, func(tx lyceum.Tx) error {
			e, err := tx.Entitlements.Get(tx, 1)
			e.EndedAt, e.EndReason = at, lyceum.Some(lyceum.EndedByUnenrollment)
			return errors.Join(err, tx.Entitlements.Update(tx, e))
		}, http.StatusFound, ""},
		"an address that came by another way": {program, func(tx lyceum.Tx) error {
			a, err := tx.DownloadAttachments.Get(tx, 1)
			a.URL = "javascript:alert(1)"
			return errors.Join(err, tx.DownloadAttachments.Update(tx, a))
		}, http.StatusNotFound, "not a web address"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t)
			address := s.link(t, tc.by)
			storetest.Write(t, s.store, s.ours, tc.change)
			s.want(t, name, address, tc.status, tc.says)
		})
	}
}

// madeBy stores u as user 8, and as the creator of the API key.
func madeBy(tx lyceum.Tx, u lyceum.User) error {
	u.ID, u.Email, u.Role, u.CreatedAt = 8, "sam@example.com", lyceum.Student, storetest.Day(1)
	_, userErr := tx.Users.Save(tx, u)
	k, err := tx.APIKeys.Get(tx, 1)
	k.UserID = lyceum.Some(u.ID)
	return errors.Join(userErr, err, tx.APIKeys.Update(tx, k))
}

// hire gives user 8 a role of staff.
func hire(tx lyceum.Tx) error {
	_, err := tx.StaffMembers.Save(tx, lyceum.StaffMember{User: 8, Role: lyceum.SupportRole, UpdatedAt: storetest.Day(1)})
	return err
}

// TestKeysOfLinks checks that a link signed with an older key works as long as the server has that
// key, and that a server without keys accepts only the links that it signed itself.
func TestKeysOfLinks(t *testing.T) {
	s := newShelf(t)
	address := s.link(t, learner)
	older := lyceum.SecretKey{1}
	s.learning.SignLinks(lyceum.NewKeyring(lyceum.SecretKey{2}, older), base)
	s.want(t, "rotated", address, http.StatusFound, "")
	s.learning.SignLinks(lyceum.NewKeyring(lyceum.SecretKey{2}), base)
	s.want(t, "gone", address, http.StatusForbidden, invalid)
	s.learning.SignLinks(nil, base)
	s.want(t, "none", address, http.StatusForbidden, invalid)
	s.want(t, "its own", s.link(t, learner), http.StatusFound, "")
}
