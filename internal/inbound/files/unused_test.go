package files_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	kept "github.com/lyceum-school/lyceum/internal/storage/files"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// sweep removes the unused files of both schools, as the server does every hour.
func (s *shelf) sweep(t *testing.T) {
	t.Helper()
	if err := errors.Join(s.learning.SweepFiles(t.Context(), s.ours), s.learning.SweepFiles(t.Context(), s.theirs)); err != nil {
		t.Fatal(err)
	}
}

func (s *shelf) uploads(t *testing.T) int {
	t.Helper()
	v := s.store.In(t.Context(), s.ours)
	all, err := lyceum.All(v.Uploads, v, lyceum.UploadFilter{})
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestUnusedFilesAreRemoved checks that files that something in the school mentions stay, and that
// the others are removed a day after they were received.
func TestUnusedFilesAreRemoved(t *testing.T) {
	s := newShelf(t)
	shown, inText, alone, sold := s.sent(t, picture, png), s.sent(t, picture, png), s.sent(t, picture, png), s.sent(t, pattern, "%PDF-1")
	inEmail, onPages := s.sent(t, picture, png), s.sent(t, picture, png)
	s.slot(t, pattern) // and no file is sent to it
	var attached lyceum.DownloadAttachment
	storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
		d, err := tx.DigitalDownloads.Get(tx, 1)
		d.ImageURL, d.Description = lyceum.Some(base+shown), lyceum.Some(`<img src="https://elsewhere.example.com`+inText+`">`)
		a, failed := tx.DownloadAttachments.Get(tx, 1)
		a.ID, a.URL = 9, base+sold
		attached = a
		_, written := tx.EmailTemplates.Save(tx,
			lyceum.EmailTemplate{Kind: lyceum.ReceiptEmail, Subject: "Thanks", Body: `<img src="` + base + inEmail + `">`, UpdatedAt: a.CreatedAt},
			lyceum.EmailTemplate{Kind: lyceum.PageSnippet, Body: `<img src="` + base + onPages + `">`, UpdatedAt: a.CreatedAt})
		return errors.Join(err, failed, written, tx.DigitalDownloads.Update(tx, d), tx.DownloadAttachments.Insert(tx, a))
	})
	s.clock.Pass(24*time.Hour - time.Second)
	s.sweep(t)
	if n := len(s.kept(t)); n != 6 {
		t.Fatalf("%d files a second before a day is over", n)
	}
	fresh := s.sent(t, picture, png)
	s.clock.Pass(time.Second)
	s.sweep(t)
	s.want(t, "used by nothing", alone, http.StatusNotFound, "there is no such file")
	for name, address := range map[string]string{"a picture": shown, "in a text": inText, "in an email": inEmail, "on pages": onPages, "fresh": fresh} {
		s.want(t, name, address, http.StatusOK, "PNG")
	}
	s.clock.Pass(time.Hour) // a day after the address to which nothing was sent expired
	s.sweep(t)
	if files, rows := len(s.kept(t)), s.uploads(t); files != 6 || rows != 6 {
		t.Errorf("%d files and %d uploads are left", files, rows)
	}
	storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error { return tx.DownloadAttachments.Delete(tx, attached.ID) })
	s.clock.Pass(24 * time.Hour)
	s.sweep(t)
	if files, rows := len(s.kept(t)), s.uploads(t); files != 4 || rows != 4 {
		t.Errorf("%d files and %d uploads are left after the attachment was deleted", files, rows)
	}
}

// removing is a store of files that calls first before it removes the first one.
type removing struct {
	lyceum.FileStore
	first func()
}

func (r *removing) Remove(ctx context.Context, name lyceum.FileName) error {
	if first := r.first; first != nil {
		r.first = nil
		first()
	}
	return r.FileStore.Remove(ctx, name)
}

// TestFilesThatAreUsedMeanwhile checks that a file stays if something begins to mention it while
// other unused files are being removed, whatever it was sent for.
func TestFilesThatAreUsedMeanwhile(t *testing.T) {
	s := newShelf(t)
	var last string
	for range 510 {
		last = s.sent(t, picture, png)
	}
	s.learning.KeepFiles(&removing{kept.NewFolder(s.dir), func() {
		storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
			d, err := tx.DigitalDownloads.Get(tx, 2)
			d.Description = lyceum.Some(`<img src="` + base + last + `">`)
			return errors.Join(err, tx.DigitalDownloads.Update(tx, d))
		})
	}})
	s.clock.Pass(25 * time.Hour)
	s.sweep(t)
	s.want(t, "used meanwhile", last, http.StatusOK, "PNG")
	if n := s.uploads(t); n != 1 {
		t.Errorf("%d uploads are left", n)
	}
}

// TestTablesThatReferToFiles checks that for every table somebody decided whether its rows can
// refer to files. If SweepFiles did not search a table, it would remove the files that only rows
// of that table refer to.
func TestTablesThatReferToFiles(t *testing.T) {
	searched := []string{
		"Attachments", "Authors", "Coaching", "Comments", "Courses", "DigitalDownloads", "DownloadAttachments", "EmailTemplates", "Memberships", "MembershipTiers",
		"PricingPlans", "ProductCollections", "QuizResponses",
	}
	others := []string{
		"Access", "AccessTokens", "Admissions", "Affiliates", "Answers", "APIKeys", "AuthorizationCodes", "Blocks", "BulkJobs", "BulkParts", "CollectionProducts", "Coupons",
		"Deliveries", "Disputes", "Emails", "Erasures", "Enrollments", "Entitlements", "FailedRequests", "Grants", "LectureProgress", "LectureSections", "Lectures", "Links",
		"Movements", "OAuthApps", "Orders", "Payloads", "PaymentFailures", "Passkeys", "PlannedErasures", "Progress", "Receipts", "RecoveryCodes", "Recountings", "References",
		"RefreshTokens", "Relinkings", "SaleWarnings", "Sales", "SecondFactors", "Sellers", "Sessions", "StaffMembers", "TemplateSecrets", "TierProducts", "Transactions", "Uploads",
		"Users", "UserSummaries", "Webhooks", "WebhookUsage", "AccessStandings", "CodeStandings", "RefreshStandings",
	}
	var tables []string
	for field := range reflect.TypeFor[lyceum.Tables]().Fields() {
		tables = append(tables, field.Name)
	}
	decided := slices.Concat(searched, others)
	slices.Sort(tables)
	slices.Sort(decided)
	if !slices.Equal(tables, decided) {
		t.Errorf("decide whether SweepFiles searches each table; there are\n%q, decided are\n%q", tables, decided)
	}
}

// TestRemovalsAreEnded checks that a removal that was interrupted, such as by a kill of the
// server, is completed later.
func TestRemovalsAreEnded(t *testing.T) {
	s := newShelf(t)
	address := s.sent(t, picture, png)
	a, _ := lyceum.ParseUploadAddress(address)
	storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
		u, _, err := tx.Uploads.First(tx, lyceum.UploadFilter{UUID: lyceum.Some(a.UUID)})
		u.ReceivedAt, u.StoredAs, u.SizeInBytes, u.Checksum = lyceum.None[time.Time](), lyceum.None[lyceum.FileName](), lyceum.None[int64](), lyceum.None[string]()
		return errors.Join(err, tx.Uploads.Update(tx, u))
	})
	s.clock.Pass(25 * time.Hour)
	s.sweep(t)
	if files, rows := len(s.kept(t)), s.uploads(t); files+rows > 0 {
		t.Errorf("%d files and %d uploads are left", files, rows)
	}
}

// TestFilesAreChecked checks that missing, truncated, changed and foreign files are found, and
// that intact ones are not reported.
func TestFilesAreChecked(t *testing.T) {
	s := newShelf(t)
	for range 5 {
		s.sent(t, picture, png)
	}
	names := s.kept(t)
	foreign := filepath.Join(s.dir, "1", "7c", "7c0e2a4e-5a53-4b5e-9d3c-0a4de5f3b1aa-ABC")
	long := time.Now().Add(-25 * time.Hour)
	err := errors.Join(
		os.Remove(names[0]), os.WriteFile(names[1], []byte(png[1:]), 0o600), os.WriteFile(names[2], []byte(strings.ReplaceAll(png, "what", "WHAT")), 0o600),
		os.MkdirAll(filepath.Dir(foreign), 0o700), os.WriteFile(foreign, []byte("x"), 0o600), os.Chtimes(foreign, long, long),
	)
	if err != nil {
		t.Fatal(err)
	}
	s.clock.Set(time.Now()) // the files have real times
	for _, deep := range []bool{false, true} {
		found, err := s.learning.CheckFiles(t.Context(), deep, func(int64) {})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, f := range found.Wrong {
			said = append(said, f.What)
		}
		all := strings.Join(said, "\n")
		want := []string{"is missing", "has 50 bytes and should have 51"}
		if deep {
			want = append(want, "was changed")
		}
		for _, part := range want {
			if !strings.Contains(all, part) {
				t.Errorf("deep %t: no %q in %s", deep, part, all)
			}
		}
		if len(said) != len(want) || found.Files != 5 || found.Orphans != 1 || found.OrphanBytes != 1 || !strings.HasSuffix(foreign, string(found.Orphan)) {
			t.Errorf("deep %t: %+v", deep, found)
		}
	}
}
