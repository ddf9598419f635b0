package learning

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// KeepFiles makes the service keep uploads in a store.
func (s *Service) KeepFiles(files lyceum.FileStore) *Service {
	s.files = files
	return s
}

// NewUpload is a file that is about to be sent.
type NewUpload struct {
	Target    lyceum.UploadTarget
	ID        int32
	Purpose   lyceum.UploadPurpose
	Extension string
}

// UploadTicket lets whoever has it send the file of one upload.
type UploadTicket struct {
	lyceum.UploadAddress

	Until     time.Time // a whole second
	Signature string
}

const uploadPurpose = "file upload"

func (t *UploadTicket) text() string {
	return fmt.Sprintf("%d %s %d", t.School, t.UUID, t.Until.Unix())
}

// CreateUpload makes the address of a file that is about to be sent, and what lets
// it be sent there. It fails with Invalid for a purpose or an extension that does not
// go with what it is for, and for what is not there.
func (s *Service) CreateUpload(ctx context.Context, by lyceum.By, q NewUpload) (UploadTicket, error) {
	if s.files == nil {
		return UploadTicket{}, errNoFiles
	}
	extension := strings.ToLower(q.Extension)
	refuse := func(field, format string, args ...any) (UploadTicket, error) {
		return UploadTicket{}, lyceum.InvalidFields(lyceum.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if q.Purpose == lyceum.ThumbnailUpload && !lyceum.IsPicture(extension) {
		return refuse("extension", "must be jpg, jpeg, png, gif or webp for a thumbnail")
	}
	if purposes := q.Target.Purposes(); !slices.Contains(purposes, q.Purpose) {
		return refuse("purpose", "must be %s for the type %s", purposes[0], q.Target)
	}
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (t UploadTicket, err error) {
		err = s.uploadTarget(tx, q)
		if lyceum.KindOf(err) == lyceum.NotFound {
			return refuse("id", "%d matches no %s of this school", q.ID, q.Target.Name())
		}
		if err != nil {
			return t, err
		}
		u := lyceum.Upload{
			UUID: newUUID(), TargetType: q.Target, TargetID: q.ID, Purpose: q.Purpose, Extension: extension,
			CreatedAt: now, ExpiresAt: now.Add(lyceum.UploadLifetime),
		}
		if u.ID, err = tx.Uploads.NextID(tx); err != nil {
			return t, err
		}
		t = UploadTicket{
			UploadAddress: lyceum.UploadAddress{School: by.School, UUID: u.UUID, Extension: u.Extension}, Until: u.ExpiresAt,
		}
		t.Signature, _ = s.ring.Sign(uploadPurpose, t.text())
		return t, tx.Uploads.Insert(tx, u)
	})
}

// newUUID returns a random UUID (RFC 9562, section 5.4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// uploadTarget fails with NotFound for a target that is not there.
func (s *Service) uploadTarget(tx lyceum.Tx, q NewUpload) (err error) {
	switch q.Target {
	case lyceum.CourseUpload:
		_, err = tx.Courses.Get(tx, lyceum.CourseID(q.ID))
	case lyceum.CollectionUpload:
		_, err = s.ProductCollections().Current().get(tx.Tables, tx, lyceum.ProductCollectionID(q.ID))
	case lyceum.DownloadUpload:
		_, err = s.currentDownload(tx.Tables, tx, lyceum.DigitalDownloadID(q.ID))
	case lyceum.LectureUpload:
		_, err = liveLecture(tx.Tables, tx, lyceum.LectureID(q.ID))
	case lyceum.MembershipUpload:
		_, err = s.Memberships().Current().get(tx.Tables, tx, lyceum.MembershipID(q.ID))
	case lyceum.CoachingUpload:
		_, err = s.Coaching().Current().get(tx.Tables, tx, lyceum.CoachingID(q.ID))
	}
	return err
}

var errNoFiles = lyceum.Errorf(lyceum.Unavailable, "this server keeps no files")

var errReceived = &lyceum.Error{
	Kind: lyceum.Conflict, Code: "upload_received",
	Detail: "the file of this address has been received; ask for another address",
}

var errBusyUpload = &lyceum.Error{
	Kind: lyceum.Conflict, Code: "upload_busy", Detail: "another request is sending the file of this address",
}

// Receive keeps the file of an upload. It fails with Forbidden for a ticket that
// nobody signed or that has expired, with Conflict if the file has come or is coming, with
// TooLarge, and with Invalid for a file that is not a picture.
func (s *Service) Receive(ctx context.Context, t UploadTicket, body io.Reader) (lyceum.Upload, error) {
	switch now := s.clock(); {
	case !s.ring.Verify(uploadPurpose, t.text(), t.Signature):
		return lyceum.Upload{}, lyceum.Errorf(lyceum.Forbidden, "this address is not valid; ask for a new one")
	case !now.Before(t.Until):
		return lyceum.Upload{}, lyceum.Errorf(lyceum.Forbidden, "this address has expired; ask for a new one")
	}
	if s.files == nil {
		return lyceum.Upload{}, errNoFiles
	}
	if !s.hand.take(t.UUID) {
		return lyceum.Upload{}, errBusyUpload
	}
	defer s.hand.release(t.UUID)
	u, err := s.expected(ctx, t)
	if err != nil {
		return u, err
	}
	if body, err = begun(&u, body); err != nil {
		return u, err
	}
	name := u.Stem(t.School) + lyceum.FileName(rand.Text())
	sum, err := s.files.Put(ctx, name, body, lyceum.MaxUpload)
	if err != nil {
		return u, err
	}
	u.StoredAs = lyceum.Some(name)
	u.SizeInBytes, u.Checksum = lyceum.Some(sum.Size), lyceum.Some(hex.EncodeToString(sum.SHA256[:]))
	if err := s.received(ctx, t.School, &u); err != nil {
		if e := lyceum.Public(err); e.Code != lyceum.OutcomeUnknown {
			err = errors.Join(err, s.files.Remove(context.WithoutCancel(ctx), name))
		}
		return u, err
	}
	return u, nil
}

// expected returns an upload whose file has not come.
func (s *Service) expected(ctx context.Context, t UploadTicket) (lyceum.Upload, error) {
	v := s.store.In(ctx, t.School)
	u, found, err := findUpload(v.Tables, v, t.UploadAddress)
	switch {
	case err != nil:
		return u, err
	case !found:
		return u, errNoFile
	case u.ReceivedAt.Present:
		return u, errReceived
	}
	return u, nil
}

var errNoFile = lyceum.Errorf(lyceum.NotFound, "there is no such file")

func findUpload(
	t *lyceum.Tables, from lyceum.Source, a lyceum.UploadAddress,
) (u lyceum.Upload, found bool, err error) {
	u, found, err = t.Uploads.First(from, lyceum.UploadFilter{UUID: lyceum.Some(a.UUID)})
	return u, found && u.Extension == a.Extension, err
}

// received notes that the file of an upload is kept. Of two that come at once one is.
func (s *Service) received(ctx context.Context, school lyceum.SchoolID, u *lyceum.Upload) error {
	now := lyceum.Second(s.clock())
	by := lyceum.Stamp{School: school, At: now, Actor: fmt.Sprintf("upload:%d", u.ID)}
	return s.store.Write(ctx, by, func(tx lyceum.Tx) error {
		before, err := tx.Uploads.Get(tx, u.ID)
		if err != nil {
			return err
		}
		if before.ReceivedAt.Present {
			return errReceived
		}
		u.ReceivedAt = lyceum.Some(now)
		return tx.Uploads.Update(tx, *u)
	})
}

// sniffed is how many bytes of a file say what it is.
const sniffed = 512

// begun refuses a file that is empty, and a thumbnail whose first bytes are not those
// of the picture that its extension says.
func begun(u *lyceum.Upload, body io.Reader) (io.Reader, error) {
	whole := bufio.NewReaderSize(body, sniffed)
	head, err := whole.Peek(sniffed)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case len(head) == 0:
		return nil, lyceum.Invalidf("the file is empty; send it as the body of the request")
	case u.Purpose == lyceum.ThumbnailUpload && !lyceum.LooksLike(u.Extension, head):
		return nil, lyceum.Invalidf("this is not a picture of the type %s", u.Extension)
	}
	return whole, nil
}

// KeptFile is a file that is kept here.
type KeptFile struct {
	lyceum.Upload

	Content io.ReadSeekCloser
}

// OpenFile opens a file by its permanent address. It fails with NotFound for what has
// not come, and with Forbidden for what needs a link.
func (s *Service) OpenFile(ctx context.Context, a lyceum.UploadAddress) (KeptFile, error) {
	v := s.store.In(ctx, a.School)
	u, found, err := findUpload(v.Tables, v, a)
	switch {
	case err != nil:
		return KeptFile{}, err
	case !found || !u.ReceivedAt.Present:
		return KeptFile{}, errNoFile
	case u.Purpose != lyceum.ThumbnailUpload:
		return KeptFile{}, lyceum.Errorf(
			lyceum.Forbidden, "this file needs a link, which apps and programs get with the attachment",
		)
	}
	return s.open(ctx, u)
}

func (s *Service) open(ctx context.Context, u lyceum.Upload) (KeptFile, error) {
	content, err := s.files.Open(ctx, u.StoredAs.Value)
	return KeptFile{u, content}, err
}

// attachable finds the upload that an address leads to, if it is one of this school,
// and refuses one that is not for what it is to be attached to, as the field that it
// came in.
func attachable(
	tx lyceum.Tx, field, address string, target lyceum.UploadTarget, id int32,
) (u lyceum.Upload, is bool, err error) {
	refuse := func(format string, args ...any) (lyceum.Upload, bool, error) {
		return u, false, lyceum.InvalidFields(lyceum.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if lyceum.IsFileLink(address) {
		return refuse("must be a permanent address, not a link that expires")
	}
	a, is := lyceum.ParseUploadAddress(address)
	if !is || a.School != tx.School() {
		return u, false, nil
	}
	u, is, err = findUpload(tx.Tables, tx, a)
	switch {
	case err != nil || !is:
		return u, false, err
	case u.TargetType != target || u.TargetID != id || u.Purpose != lyceum.AttachmentUpload:
		return refuse("is the address of an upload for %s %d, as %s", u.TargetType.Name(), u.TargetID, u.Purpose.Name())
	case !u.ReceivedAt.Present:
		return refuse("is an address to which no file has been sent yet")
	}
	return u, true, nil
}
