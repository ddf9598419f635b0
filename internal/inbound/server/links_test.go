package server_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/files"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	kept "github.com/lyceum-school/lyceum/internal/storage/files"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// heldLink is a link to a file, and who got it.
type heldLink struct {
	of     *campusSchool
	holder string // user=ID or key=ID, as in its query
}

const filesAt = "https://school.example.com"

// keepFiles gives both schools of a class the same files: a PDF and a video in lecture 11, a
// PDF in lecture 31, which both learners can see, one in a digital download that Mira has, and
// its picture. Each file says which school it belongs to.
func keepFiles(t *testing.T, k *class) {
	t.Helper()
	lessons := learning.New(k.store, k.clock.Now).SignLinks(lyceum.NewKeyring(lyceum.SecretKey{}), filesAt).
		KeepFiles(kept.NewFolder(t.TempDir()))
	k.links = map[string]heldLink{}
	k.options.Files = files.Handlers(files.Options{Learning: lessons, Log: slog.New(slog.DiscardHandler)})
	k.options.Metrics = server.NewMetrics("v1.2.3")
	k.Handler = server.Handler(k.options)
	for _, p := range []*campusSchool{k.ours, k.theirs} {
		storetest.Write(t, k.store, p.id, func(tx lyceum.Tx) error {
			_, downloadErr := tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: 1, Name: "Plan", IsPublished: true, CreatedAt: storetest.Day(1), UpdatedAt: storetest.Day(1)})
			_, accessErr := tx.Entitlements.Save(tx, lyceum.Entitlement{ID: 9001, User: mira, Product: lyceum.Product{Kind: lyceum.DownloadKind, ID: 1}, StartsAt: storetest.Day(1)})
			return errors.Join(downloadErr, accessErr)
		})
		send := func(target lyceum.UploadTarget, id int32, purpose lyceum.UploadPurpose, extension, content string) string {
			return filesAt + k.sendFile(t, lessons, p, learning.NewUpload{Target: target, ID: id, Purpose: purpose, Extension: extension}, content)
		}
		handout := send(lyceum.LectureUpload, 11, lyceum.AttachmentUpload, "pdf", "%PDF-"+k.mark(p))
		film := send(lyceum.LectureUpload, 11, lyceum.AttachmentUpload, "mp4", "\x00\x00\x00\x20ftypisom "+k.mark(p))
		shared := send(lyceum.LectureUpload, 31, lyceum.AttachmentUpload, "pdf", "%PDF-"+k.mark(p))
		pattern := send(lyceum.DownloadUpload, 1, lyceum.AttachmentUpload, "pdf", "%PDF-"+k.mark(p))
		cover := send(lyceum.DownloadUpload, 1, lyceum.ThumbnailUpload, "gif", "GIF89a\x01\x00\x01\x00\x00\x00\x00"+k.mark(p))
		storetest.Write(t, k.store, p.id, func(tx lyceum.Tx) error {
			video, videoErr := tx.Attachments.Get(tx, 103)
			video.URL, video.Video.Value.URL = lyceum.Some(film), film
			pdf, pdfErr := tx.Attachments.Get(tx, 106)
			pdf.URL = lyceum.Some(handout)
			both, bothErr := tx.Attachments.Get(tx, 122)
			both.Kind, both.URL = lyceum.FileAttachment, lyceum.Some(shared)
			d, downloadErr := tx.DigitalDownloads.Get(tx, 1)
			d.ImageURL = lyceum.Some(cover)
			_, fileErr := tx.DownloadAttachments.Save(tx, lyceum.DownloadAttachment{
				ID: 101, DigitalDownloadID: 1, Kind: lyceum.DownloadFile, URL: pattern, Filename: lyceum.Some("pattern.pdf"),
				SizeInBytes: lyceum.Some[int64](1), CreatedAt: storetest.Day(1), UpdatedAt: storetest.Day(1),
			})
			_, saveErr := tx.Attachments.Save(tx, video, pdf, both)
			return errors.Join(videoErr, pdfErr, bothErr, downloadErr, fileErr, saveErr, tx.DigitalDownloads.Update(tx, d))
		})
	}
}

// mark returns the content of the files of a school.
func (k *class) mark(p *campusSchool) string {
	if p == k.ours {
		return "this is ours"
	}
	return "this is of the other school"
}

// sendFile uploads a file and returns the path of its permanent address. It checks that the
// upload URL does not accept a file for anybody else.
func (k *class) sendFile(t *testing.T, lessons *learning.Service, p *campusSchool, q learning.NewUpload, content string) string {
	t.Helper()
	createTicket := func() (learning.UploadTicket, string) {
		ticket, err := lessons.CreateUpload(t.Context(), lyceum.By{School: p.id, Actor: "test"}, q)
		if err != nil {
			t.Fatal(err)
		}
		return ticket, wire.UploadURL("", ticket)
	}
	ticket, to := createTicket()
	_, another := createTicket()
	elsewhere := strings.Replace(to, fmt.Sprintf("/files/%d/", p.id), fmt.Sprintf("/files/%d/", k.ours.id+k.theirs.id-p.id), 1)
	for _, wrong := range []string{elsewhere, resigned(t, to, another), resigned(t, another, to)} {
		for _, method := range []string{http.MethodPut, http.MethodHead} {
			wantStatus(t, k.do(request(method, wrong, strings.NewReader(content))), http.StatusForbidden)
		}
	}
	wantStatus(t, k.do(request(http.MethodPut, to, strings.NewReader(content))), http.StatusOK)
	return lyceum.UploadPath(p.id, ticket.UUID, ticket.Extension)
}

// resigned returns an address with the signature of another.
func resigned(t *testing.T, address, other string) string {
	t.Helper()
	return strings.Split(address, "&signature=")[0] + "&signature=" + signatureOf(t, other)
}

func signatureOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || !u.Query().Has("signature") {
		t.Fatal(address, err)
	}
	return u.Query().Get("signature")
}

var linkInText = regexp.MustCompile(`https://school\.example\.com(/files/[^"\s]+)`)

// noteLinks collects the file addresses in a response, and checks that a learner only gets
// links, except for pictures. An empty holder means an API key.
func (k *class) noteLinks(t *testing.T, p *campusSchool, holder, path, text string) {
	t.Helper()
	for _, found := range linkInText.FindAllStringSubmatch(strings.ReplaceAll(text, `\u0026`, "&"), -1) {
		address := found[1]
		u, err := url.Parse(address)
		if err != nil || !strings.HasPrefix(u.Path, fmt.Sprintf("/files/%d/", p.id)) {
			t.Errorf("%s gives the address of a file of another school: %s, %v", path, address, err)
			continue
		}
		if !lyceum.IsFileLink(filesAt + address) {
			w := k.do(request(http.MethodGet, address, nil))
			picture := w.Code == http.StatusOK && w.Header().Get("Content-Type") == "image/gif" && strings.Contains(w.Body.String(), k.mark(p))
			if !picture && (holder != "" || w.Code != http.StatusForbidden) {
				t.Errorf("%s gives %s to %q, which answers %d", path, address, holder, w.Code)
			}
			continue
		}
		got := heldLink{p, holder}
		if holder == "" {
			got.holder = "key=" + u.Query().Get("key")
		}
		if !strings.HasPrefix(u.RawQuery, got.holder+"&until=") {
			t.Errorf("%s gives %q a link of somebody else: %s", path, holder, address)
		}
		k.links[address] = got
	}
}

// followLinks follows the collected links, as issued and with everything that can be combined
// from two of them, and again after the access has ended.
func (k *class) followLinks(t *testing.T) {
	t.Helper()
	follow := func(address string) (int, string) {
		w := k.do(request(http.MethodGet, address, nil))
		text, _ := io.ReadAll(w.Body)
		return w.Code, string(text)
	}
	kinds := map[string]bool{}
	for address, held := range k.links {
		status, text := follow(address)
		other := k.mark(k.ours)
		if held.of == k.ours {
			other = k.mark(k.theirs)
		}
		if status == http.StatusOK && !strings.Contains(text, k.mark(held.of)) || strings.Contains(text, other) || status != http.StatusOK && status != http.StatusFound {
			t.Errorf("%s, which %s got: %d %s", address, held.holder, status, text)
		}
		kinds[fmt.Sprint(held.of.id, held.holder, strings.Split(address, "?")[0])] = true
		for another := range k.links {
			swapped := resigned(t, address, another)
			if another == address {
				continue
			}
			if swapped == address {
				t.Errorf("%s and %s have one signature", address, another)
			}
			if status, text := follow(swapped); status != http.StatusForbidden {
				t.Errorf("%s with the signature of %s: %d %s", address, another, status, text)
			}
			with := strings.Split(address, "?")[0] + "?" + strings.SplitN(another, "?", 2)[1]
			if status, text := follow(with); k.links[with].of == nil && status != http.StatusForbidden {
				t.Errorf("%s as %s: %d %s", address, another, status, text)
			}
		}
	}
	if len(kinds) != 18 { // in two schools: three files each for Mira and the API key, and one for both learners
		t.Errorf("links to %d files: %v", len(kinds), kinds)
	}
	k.endAccess(t, k.ours)
	for address, held := range k.links {
		status, text := follow(address)
		if ended := held.of == k.ours; ended != (status == http.StatusForbidden) {
			t.Errorf("%s after the access to ours has ended: %d %s", address, status, text)
		}
	}
}

// endAccess ends what learners have in a school, and revokes its API key.
func (k *class) endAccess(t *testing.T, p *campusSchool) {
	t.Helper()
	storetest.Write(t, k.store, p.id, func(tx lyceum.Tx) error {
		rows, err := lyceum.All(tx.Entitlements, tx, lyceum.EntitlementFilter{})
		for _, e := range rows {
			e.EndedAt, e.EndReason = lyceum.Some(k.clock.Now()), lyceum.Some(lyceum.EndedByUnenrollment)
			err = errors.Join(err, tx.Entitlements.Update(tx, e))
		}
		keys, keysErr := lyceum.All(tx.APIKeys, tx, lyceum.APIKeyFilter{})
		for _, key := range keys {
			key.RevokedAt = lyceum.Some(k.clock.Now())
			err = errors.Join(err, tx.APIKeys.Update(tx, key))
		}
		return errors.Join(err, keysErr)
	})
}
