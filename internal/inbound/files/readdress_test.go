package files_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestAddressesLeadHere checks that the addresses of files lead to the server's URL after it
// changed, wherever a row has them, and that addresses of other servers' files stay.
func TestAddressesLeadHere(t *testing.T) {
	s := newShelf(t)
	shown, sold := s.sent(t, picture, png), s.sent(t, pattern, "%PDF-1")
	slot, _ := s.slot(t, pattern) // no file is sent to it
	unknown := strings.Replace(shown, shown[len("/files/1/"):len("/files/1/")+8], "00000000", 1)
	const before, copied = "http://127.0.0.1:8080", "https://example.com/api"
	awaited := func(base string) string { return base + strings.Split(slot, "?")[0] }
	at := storetest.Day(1)
	storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
		d, err := tx.DigitalDownloads.Get(tx, 1)
		d.ImageURL = lyceum.Some(before + shown)
		d.Description = lyceum.Some(`<img src="` + copied + strings.Replace(shown, "/1/", "/9/", 1) + `"> ` + before + unknown + " " + awaited(before))
		a, failed := tx.DownloadAttachments.Get(tx, 1)
		a.URL = before + sold
		_, emailed := tx.EmailTemplates.Save(tx, lyceum.EmailTemplate{Kind: lyceum.PageSnippet, Body: before + "/, " + before + shown + ", not " + before, UpdatedAt: at})
		_, named := tx.Authors.Save(tx, lyceum.AuthorProfile{ID: 3, Name: lyceum.Some("Ana"), ProfileImageURL: lyceum.Some(base + shown)})
		_, inCourse := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery", CreatedAt: at, UpdatedAt: at})
		_, inSection := tx.LectureSections.Save(tx, lyceum.LectureSection{ID: 1, Course: 1, Position: 1})
		_, inLecture := tx.Lectures.Save(tx, lyceum.Lecture{ID: 1, Course: 1, Section: 1, Position: 1})
		_, commented := tx.Comments.Save(tx, lyceum.Comment{
			ID: 1, Lecture: 1, Course: 1, User: 7, Status: lyceum.CommentApproved, Body: "See", CreatedAt: at, UpdatedAt: at,
			Attachments: []lyceum.CommentAttachment{{URL: before + shown, Kind: "image"}},
		})
		return errors.Join(err, failed, emailed, named, inCourse, inSection, inLecture, commented, tx.DigitalDownloads.Update(tx, d), tx.DownloadAttachments.Update(tx, a))
	})
	if err := learning.New(s.store, s.clock.Now).Readdress(t.Context(), s.ours); err != nil { // without a URL
		t.Fatal(err)
	}
	for _, again := range []bool{false, true} {
		v := s.store.In(t.Context(), s.ours)
		last, lastErr := v.LastEntry()
		err := errors.Join(lastErr, s.learning.Readdress(t.Context(), s.ours), s.learning.Readdress(t.Context(), s.theirs))
		now, nowErr := v.LastEntry()
		if err = errors.Join(err, nowErr); err != nil {
			t.Fatal(err)
		}
		if changed := now - last; again != (changed == 0) {
			t.Errorf("again %t: %d entries", again, changed)
		}
	}
	v := s.store.In(t.Context(), s.ours)
	d, err := v.DigitalDownloads.Get(v, 1)
	a, failed := v.DownloadAttachments.Get(v, 1)
	e, read := v.EmailTemplates.Get(v, lyceum.PageSnippet)
	c, seen := v.Comments.Get(v, 1)
	if err = errors.Join(err, failed, read, seen); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string][2]string{
		"a picture":        {d.ImageURL.Value, base + shown},
		"in a text":        {d.Description.Value, `<img src="` + base + shown + `"> ` + before + unknown + " " + awaited(before)},
		"in an email":      {e.Body, before + "/, " + base + shown + ", not " + before},
		"of an attachment": {a.URL, base + sold},
		"in a comment":     {c.Attachments[0].URL, base + shown},
	} {
		if tc[0] != tc[1] {
			t.Errorf("%s: %s, want %s", name, tc[0], tc[1])
		}
	}
	s.want(t, "the attachment", s.link(t, learner), http.StatusOK, "%PDF-1")

	s.learning.SignLinks(lyceum.NewKeyring(lyceum.SecretKey{1}), copied)
	if err := s.learning.Readdress(t.Context(), s.ours); err != nil {
		t.Fatal(err)
	}
	by := program
	by.School = s.ours
	l, err := s.learning.DownloadAttachments(t.Context(), by, 1, lyceum.Page{Number: 1, Size: 20})
	if err != nil || len(l.Rows) != 1 {
		t.Fatal(l, err)
	}
	if to := wire.FileAddress(copied, l.Rows[0].URL, l.Rows[0].Link); !strings.HasPrefix(to, copied+"/files/1/links/") {
		t.Errorf("at a URL with a path, %s of %s", to, l.Rows[0].URL)
	}
}
