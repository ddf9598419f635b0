package files_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// mira is enrolled in course 1 of the classroom, which contains lecture 11.
const mira lyceum.UserID = 2

var (
	wheel   = learning.InCourse[lyceum.LectureID]{Course: 1, ID: 11}
	handout = learning.NewUpload{Target: lyceum.LectureUpload, ID: 11, Purpose: lyceum.AttachmentUpload, Extension: "PDF"}
)

// newClassroom returns a shelf with a classroom in our school, and who an API key and mira are
// there.
func newClassroom(t *testing.T) (s *shelf, ours, hers lyceum.By) {
	t.Helper()
	s = newShelf(t)
	storetest.Write(t, s.store, s.ours, storetest.NewClassroom("x").Save)
	return s, lyceum.By{School: s.ours, Actor: "api_key:1", Key: 1}, lyceum.By{School: s.ours, Actor: "grant:1", Learner: lyceum.Some(mira)}
}

// attach creates an attachment of lecture 11 from a file that was sent.
func (s *shelf) attach(t *testing.T, by lyceum.By, kind lyceum.AttachmentKind, address string) (learning.AttachmentDetail, error) {
	t.Helper()
	a := lyceum.Attachment{
		Lecture: 11, Kind: kind, URL: lyceum.Some(address), ContentType: lyceum.Some("text/html"), Name: lyceum.Some("Wheel.pdf"), FileSize: lyceum.Some[int32](1),
	}
	if kind == lyceum.VideoAttachment {
		a.Video = lyceum.Some(lyceum.Video{URL: address, ContentType: "text/html", Status: lyceum.VideoReady})
	}
	return s.learning.CreateAttachment(t.Context(), by, learning.NewAttachment{AttachmentDetail: learning.AttachmentDetail{Course: 1, Attachment: a}})
}

// TestFilesOfLectures checks that size, extension and type of a lecture's file are the real ones
// rather than what the request says, that the file is shown as a link, and that the link is never
// stored.
func TestFilesOfLectures(t *testing.T) {
	s, ours, hers := newClassroom(t)
	permanent := base + s.sent(t, handout, "%PDF-1.7 clay")
	made, err := s.attach(t, ours, lyceum.PDFAttachment, permanent)
	if err != nil {
		t.Fatal(err)
	}
	if made.FileSize.Value != 13 || made.FileExtension.Value != "pdf" || made.ContentType.Value != "application/pdf" {
		t.Errorf("%+v", made.Attachment)
	}
	v := s.store.In(t.Context(), s.ours)
	if kept, err := v.Attachments.Get(v, made.ID); err != nil || kept.URL.Value != permanent {
		t.Errorf("stored %q, %v", kept.URL.Value, err)
	}
	for name, by := range map[string]lyceum.By{"program": ours, "learner": hers} {
		for what, address := range s.addresses(t, by, made.ID) {
			path, found := strings.CutPrefix(address, base)
			if !found || !lyceum.IsFileLink(address) {
				t.Errorf("%s gets %q of %s", name, address, what)
				continue
			}
			w := s.follow(http.MethodGet, path)
			if w.Code != http.StatusOK || w.Body.String() != "%PDF-1.7 clay" || w.Header().Get("Content-Disposition") != "inline; filename=Wheel.pdf" {
				t.Errorf("%s, %s: %d %q %v", name, what, w.Code, w.Body, w.Header())
			}
		}
	}
	edit := learning.Edit[learning.InLecture, lyceum.Attachment]{ID: learning.InLecture{Lecture: wheel, ID: made.ID}, Apply: func(a *lyceum.Attachment) { a.Downloadable = lyceum.Some(true) }}
	if changed, err := s.learning.UpdateAttachment(t.Context(), ours, edit); err != nil || !lyceum.IsFileLink(changed.URL.Value) {
		t.Errorf("changed: %q, %v", changed.URL.Value, err)
	}
	if kept, err := v.Attachments.Get(v, made.ID); err != nil || kept.URL.Value != permanent || !kept.Downloadable.Value {
		t.Errorf("stored after a change %q, %v", kept.URL.Value, err)
	}
}

// addresses returns the addresses that an attachment has wherever it is shown.
func (s *shelf) addresses(t *testing.T, by lyceum.By, id lyceum.AttachmentID) map[string]string {
	t.Helper()
	all, err := s.learning.Attachments(t.Context(), by, wheel, lyceum.Page{Number: 1, Size: 100})
	one, oneErr := s.learning.OneAttachment(t.Context(), by, learning.InLecture{Lecture: wheel, ID: id})
	lecture, lectureErr := s.learning.Lecture(t.Context(), by, 1, 11)
	if err := errors.Join(err, oneErr, lectureErr); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{"one": one.URL.Value}
	for _, a := range all.Rows {
		if a.ID == id {
			found["the list"] = a.URL.Value
		}
	}
	for _, a := range lecture.Attachments {
		if a.ID == id {
			found["the lecture"] = a.URL.Value
		}
	}
	return found
}

func TestVideosOfLectures(t *testing.T) {
	s, ours, hers := newClassroom(t)
	q := handout
	q.Extension = "mp4"
	made, err := s.attach(t, ours, lyceum.VideoAttachment, base+s.sent(t, q, "\x00\x00\x00\x20ftypisom moving pictures"))
	if err != nil {
		t.Fatal(err)
	}
	_, a, err := s.learning.Attachment(t.Context(), hers, 1, 11, made.ID, lyceum.VideoAttachment)
	if err != nil || a.Video.Value.ContentType != "video/mp4" {
		t.Fatalf("%+v, %v", a, err)
	}
	r := request(http.MethodGet, strings.TrimPrefix(a.Video.Value.URL, base), "Range: bytes=20-")
	w := s.do(r)
	if w.Code != http.StatusPartialContent || w.Body.String() != "pictures" || w.Header().Get("Content-Type") != "video/mp4" {
		t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
	}
}

// TestVideosWithTwoFiles checks that the link to a video leads to the file that is played, and the
// link to its attachment to the file of that one. Imports and copies of other schools have such
// attachments, or those that only have the file that is played.
func TestVideosWithTwoFiles(t *testing.T) {
	s, ours, hers := newClassroom(t)
	q := handout
	q.Extension = "mp4"
	film := func(name string) string { return base + s.sent(t, q, "\x00\x00\x00\x20ftypisom "+name) }
	rows := []lyceum.Attachment{
		{ID: 71, Lecture: 11, Kind: lyceum.VideoAttachment, Video: lyceum.Some(lyceum.Video{URL: film("alone"), ContentType: "video/mp4", Status: lyceum.VideoReady})},
		{ID: 72, Lecture: 11, Kind: lyceum.VideoAttachment, URL: lyceum.Some(film("as it was sent")), Video: lyceum.Some(lyceum.Video{URL: film("converted"), ContentType: "video/mp4", Status: lyceum.VideoReady})},
	}
	if _, problems, err := s.learning.ImportAttachments(ours).Save(t.Context(), rows); err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	for name, by := range map[string]lyceum.By{"program": ours, "learner": hers} {
		for id, want := range map[lyceum.AttachmentID][2]string{71: {"", "alone"}, 72: {"as it was sent", "converted"}} {
			_, a, err := s.learning.Attachment(t.Context(), by, 1, 11, id, lyceum.VideoAttachment)
			if err != nil {
				t.Fatal(err)
			}
			s.want(t, name+", played", strings.TrimPrefix(a.Video.Value.URL, base), http.StatusOK, want[1])
			if want[0] != "" {
				s.want(t, name+", sent", strings.TrimPrefix(a.URL.Value, base), http.StatusOK, want[0])
			}
		}
	}
}

// TestDurationsOfLectures checks that audio and video attachments have the duration of their
// file, and that other attachments have none.
func TestDurationsOfLectures(t *testing.T) {
	s, ours, _ := newClassroom(t)
	second := "\x44\xac\x00\x00" // 44,100: the bytes per second
	sound := "RIFF????WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00" + second + second + "\x01\x00\x08\x00data" + second + strings.Repeat("x", 44100)
	film := "\x00\x00\x00\x08ftyp\x00\x00\x00\x74moov\x00\x00\x00\x6cmvhd" + strings.Repeat("\x00", 15) + "\x01\x00\x00\x02\xf2" + strings.Repeat("\x00", 80)
	for kind, tc := range map[lyceum.AttachmentKind]struct {
		extension, content string
		sound, film        int32
	}{
		lyceum.AudioAttachment: {"wav", sound, 1, 0}, lyceum.VideoAttachment: {"mp4", film, 0, 754}, lyceum.FileAttachment: {"wav", sound, 0, 0},
	} {
		q := handout
		q.Extension = tc.extension
		made, err := s.attach(t, ours, kind, base+s.sent(t, q, tc.content))
		if err != nil || made.Duration.Value != tc.sound || made.Video.Value.Duration.Value != tc.film {
			t.Errorf("%s: %+v, %v", kind, made.Attachment, err)
		}
	}
}

// TestLinksOfLecturesEndWithAccess checks that a learner's link to a lecture's file works only
// while the learner can see the attachment, and a program's until the attachment is deleted.
func TestLinksOfLecturesEndWithAccess(t *testing.T) {
	s, ours, hers := newClassroom(t)
	made, err := s.attach(t, ours, lyceum.FileAttachment, base+s.sent(t, handout, "%PDF-clay"))
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(s.addresses(t, hers, made.ID)["one"], base)
	program := strings.TrimPrefix(s.addresses(t, ours, made.ID)["one"], base)
	if w := s.follow(http.MethodGet, address); w.Header().Get("Content-Disposition") != "attachment; filename=Wheel.pdf" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	const ended = "access to this file has ended"
	for _, step := range []struct {
		name   string
		change func(lyceum.Tx) error
		status int
		says   string
	}{
		{"the attachment is hidden", s.published(made.ID, false), http.StatusForbidden, ended},
		{"and shown", s.published(made.ID, true), http.StatusOK, "clay"},
		{"the lecture is hidden", lecturePublished(false), http.StatusForbidden, ended},
		{"and shown again", lecturePublished(true), http.StatusOK, "clay"},
		{"the enrollment ended", func(tx lyceum.Tx) error {
			e, err := tx.Enrollments.Get(tx, 2)
			e.EndedAt = lyceum.Some(storetest.Day(7))
			return errors.Join(err, tx.Enrollments.Update(tx, e), endEntitlements(tx))
		}, http.StatusForbidden, ended},
	} {
		storetest.Write(t, s.store, s.ours, step.change)
		s.want(t, step.name, address, step.status, step.says)
		s.want(t, step.name+", for a program", program, http.StatusOK, "clay")
	}
	storetest.Write(t, s.store, s.ours, func(tx lyceum.Tx) error {
		a, err := tx.Attachments.Get(tx, made.ID)
		a.ArchivedAt = lyceum.Some(storetest.Day(9))
		return errors.Join(err, tx.Attachments.Update(tx, a))
	})
	s.want(t, "deleted", program, http.StatusNotFound, "there is no attachment")
}

func (s *shelf) published(id lyceum.AttachmentID, on bool) func(lyceum.Tx) error {
	return func(tx lyceum.Tx) error {
		a, err := tx.Attachments.Get(tx, id)
		a.IsPublished = lyceum.Some(on)
		return errors.Join(err, tx.Attachments.Update(tx, a))
	}
}

func lecturePublished(on bool) func(lyceum.Tx) error {
	return func(tx lyceum.Tx) error {
		l, err := tx.Lectures.Get(tx, 11)
		l.IsPublished = on
		return errors.Join(err, tx.Lectures.Update(tx, l))
	}
}

func endEntitlements(tx lyceum.Tx) error {
	rows, err := lyceum.All(tx.Entitlements, tx, lyceum.EntitlementFilter{User: lyceum.Some(mira)})
	for _, e := range rows {
		e.EndedAt, e.EndReason = lyceum.Some(storetest.Day(7)), lyceum.Some(lyceum.EndedByUnenrollment)
		err = errors.Join(err, tx.Entitlements.Update(tx, e))
	}
	return err
}

// TestFilesThatAreNotOfTheLecture checks that an attachment can have neither a file that was sent
// for something else nor a link, and that addresses of other servers are stored as they are.
func TestFilesThatAreNotOfTheLecture(t *testing.T) {
	s, ours, _ := newClassroom(t)
	q := handout
	q.ID = 12
	made, err := s.attach(t, ours, lyceum.FileAttachment, base+s.sent(t, handout, "%PDF-clay"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ address, says string }{
		"of another lecture": {base + s.sent(t, q, "%PDF-x"), "file.url is the address of an upload for lecture 12, as an attachment"},
		"of a download":      {base + s.sent(t, pattern, "%PDF-x"), "file.url is the address of an upload for digital download 1, as an attachment"},
		"a link":             {made.URL.Value, "file.url must be a permanent address, not a link that expires"},
	} {
		_, err := s.attach(t, ours, lyceum.FileAttachment, tc.address)
		if e := lyceum.Public(err); e.Kind != lyceum.Invalid || !strings.Contains(strings.Join(e.Sentences(), ";"), tc.says) {
			t.Errorf("%s: %v, want %q", name, err, tc.says)
		}
	}
	stranger := "https://videos.example.com/files/1/7c0e2a4e-5a53-4b5e-9d3c-0a4de5f3b1aa.pdf"
	kept, err := s.attach(t, ours, lyceum.FileAttachment, stranger)
	if err != nil || kept.URL.Value != stranger || kept.FileSize.Value != 1 || kept.ContentType.Value != "text/html" {
		t.Errorf("a stranger's: %+v, %v", kept.Attachment, err)
	}
	row := made.Attachment
	if _, problems, err := s.learning.ImportAttachments(ours).Save(t.Context(), []lyceum.Attachment{row}); err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	v := s.store.In(t.Context(), s.ours)
	if after, err := v.Attachments.Get(v, made.ID); err != nil || lyceum.IsFileLink(after.URL.Value) {
		t.Errorf("imported %q, %v", after.URL.Value, err)
	}
}
