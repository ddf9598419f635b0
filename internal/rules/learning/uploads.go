package learning

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// KeepFiles sets the store in which the service keeps uploads.
func (s *Service) KeepFiles(files lyceum.FileStore) *Service {
	s.files = files
	return s
}

// NewUpload describes a file that is about to be sent.
type NewUpload struct {
	Target    lyceum.UploadTarget
	ID        int32
	Purpose   lyceum.UploadPurpose
	Extension string
}

// CreateUpload creates an upload, and returns the ticket for sending its file. It fails with
// Invalid for a purpose or an extension that does not fit the target, and for a target that does
// not exist.
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
			KeyHolder: holderOf(by),
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

// uploadTarget fails with NotFound for a target that does not exist.
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

// BusyUpload is the code of an error about a file that another request is sending.
const BusyUpload = "upload_busy"

var errBusyUpload = &lyceum.Error{
	Kind: lyceum.Conflict, Code: BusyUpload, Detail: "another request is sending the file of this address",
}

// SentFile describes the part of a file that a request sends.
type SentFile struct {
	First  int64                // offset of its first byte
	Length int64                // bytes; negative: all until the end of the request
	Total  lyceum.Opt[int64]    // size of the file; absent: it ends with the request
	Sum    lyceum.Opt[[32]byte] // SHA-256 of the file
}

// whole reports whether a request sends all of a file.
func (f *SentFile) whole() bool { return f.First == 0 && !f.Total.Present && f.Length != 0 }

// ReceivedFile is the state of a file that is being received.
type ReceivedFile struct {
	lyceum.Upload

	Size     int64 // bytes received so far
	Complete bool
}

// WrongOffset is the code of an error about bytes that do not follow those received so far.
const WrongOffset = "upload_offset"

// Receive stores the part of an upload's file that a request sends, and returns what has been
// received so far, even with an error. A request without content only queries that. It fails
// with Forbidden for a ticket whose signature is not valid, that has expired, or whose API key no
// longer works, with Conflict if the file has been received or another request is sending it, with
// TooLarge, and with Invalid for a file of another type or SHA-256.
func (s *Service) Receive(
	ctx context.Context, t UploadTicket, sent SentFile, body io.Reader,
) (r ReceivedFile, err error) {
	now := s.clock()
	switch {
	case !s.ring.Verify(uploadPurpose, t.text(), t.Signature):
		return r, lyceum.Errorf(lyceum.Forbidden, "this address is not valid; ask for a new one")
	case !now.Before(t.Until.Add(lyceum.UnusedUpload)):
		return r, errExpiredUpload
	case s.files == nil:
		return r, errNoFiles
	}
	if sent.Length != 0 {
		if !s.busy.begin(t.School) {
			return r, errManyUploads
		}
		defer s.busy.end(t.School)
	}
	if !s.hand.take(t.UUID) {
		return r, errBusyUpload
	}
	defer s.hand.release(t.UUID)
	if r.Upload, err = s.expected(ctx, t); err != nil {
		r.Complete = r.ReceivedAt.Present
		if r.Size = r.SizeInBytes.Value; r.Complete && sent.Length == 0 {
			err = nil
		}
		return r, err
	}
	part, err := s.files.Part(ctx, r.ContentName(t.School))
	if err != nil {
		return r, err
	}
	if part.Size() == 0 && !now.Before(t.Until) {
		return r, errors.Join(errExpiredUpload, part.Close())
	}
	err = s.takePart(ctx, t.School, &r, part, &sent, body)
	return r, errors.Join(err, part.Close())
}

// How many files this process receives concurrently: each has a buffer and open files.
const (
	mostReceiving         = 512
	mostReceivingOfSchool = 256
)

var errManyUploads = lyceum.Errorf(lyceum.Unavailable,
	"%d files are being received, or %d of this school, which is the maximum; try again later",
	mostReceiving, mostReceivingOfSchool)

// receiving counts the files that this process is receiving.
type receiving struct {
	mu     sync.Mutex
	all    int
	school map[lyceum.SchoolID]int
}

// begin reports whether another file of a school can be received. If so, the caller must call
// end.
func (r *receiving) begin(school lyceum.SchoolID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all >= mostReceiving || r.school[school] >= mostReceivingOfSchool {
		return false
	}
	if r.school == nil {
		r.school = map[lyceum.SchoolID]int{}
	}
	r.all++
	r.school[school]++
	return true
}

func (r *receiving) end(school lyceum.SchoolID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all--
	if r.school[school]--; r.school[school] == 0 {
		delete(r.school, school)
	}
}

var errExpiredUpload = lyceum.Errorf(lyceum.Forbidden, "this address has expired; ask for a new one")

// takePart appends what a request sends, and stores the file once it is complete.
func (s *Service) takePart(
	ctx context.Context, school lyceum.SchoolID, r *ReceivedFile, part lyceum.FilePart, sent *SentFile, body io.Reader,
) error {
	again := sent.whole() && part.Size() > 0
	err := appendPart(ctx, &r.Upload, part, sent, body)
	r.Size = part.Size()
	switch {
	case err != nil:
		return err
	case !sent.whole() && (!sent.Total.Present || r.Size < sent.Total.Value):
		return nil
	case r.Size > sent.Total.Else(r.Size):
		return lyceum.Invalidf("more than %d bytes of this file have arrived: %d", sent.Total.Value, r.Size)
	}
	sum, err := part.Keep(ctx, func(sum lyceum.FileSum) error { return accepted(&r.Upload, part, sent, sum) })
	if lyceum.KindOf(err) == lyceum.Invalid {
		r.Size = 0
		return errors.Join(err, part.Restart(ctx))
	}
	if err != nil {
		return err
	}
	if r.Purpose == lyceum.ThumbnailUpload {
		err := s.pictured(ctx, sum.Name, r.Extension)
		if lyceum.KindOf(err) == lyceum.Invalid {
			r.Size = 0
			err = errors.Join(err, s.files.Remove(ctx, sum.Name), part.Restart(ctx))
		}
		if err != nil {
			return err
		}
	}
	if r.Duration, err = s.durationOf(ctx, &sum, r.Extension); err != nil {
		return err
	}
	r.Complete = true
	r.StoredAs = lyceum.Some(sum.Name)
	r.SizeInBytes, r.Checksum = lyceum.Some(sum.Size), lyceum.Some(hex.EncodeToString(sum.SHA256[:]))
	err = s.received(ctx, school, &r.Upload)
	if kind := lyceum.KindOf(err); kind == lyceum.Conflict || kind == lyceum.NotFound {
		return errors.Join(err, s.removeOther(context.WithoutCancel(ctx), school, &r.Upload), part.Forget(ctx))
	}
	if err == nil {
		_ = part.Forget(ctx) // leftovers are removed with the file
	}
	if err == nil && again {
		_ = s.removeEarlier(ctx, school, &r.Upload) // they are, too
	}
	return err
}

// removeEarlier removes the contents that were stored for an upload before the recorded one.
func (s *Service) removeEarlier(ctx context.Context, school lyceum.SchoolID, u *lyceum.Upload) error {
	return s.files.Each(ctx, u.ContentName(school), func(f lyceum.StoredFile) error {
		if f.Name == u.StoredAs.Value || f.Name.IsThumbnail() {
			return nil
		}
		return s.files.Remove(ctx, f.Name)
	})
}

// removeOther removes the content of an upload that another server has received, or that no
// longer exists.
func (s *Service) removeOther(ctx context.Context, school lyceum.SchoolID, u *lyceum.Upload) error {
	v := s.store.In(ctx, school)
	now, err := v.Uploads.Find(v, u.ID)
	if err != nil || now[u.ID].StoredAs == u.StoredAs {
		return err
	}
	return s.files.Remove(ctx, u.StoredAs.Value)
}

func appendPart(
	ctx context.Context, u *lyceum.Upload, part lyceum.FilePart, sent *SentFile, body io.Reader,
) error {
	if sent.Length == 0 {
		return nil
	}
	if !sent.whole() && sent.First != part.Size() {
		return &lyceum.Error{
			Kind: lyceum.Conflict, Code: WrongOffset,
			Detail: fmt.Sprintf("%d bytes of this file have arrived; continue with byte %[1]d", part.Size()),
		}
	}
	buffered := bufio.NewReaderSize(body, lyceum.FileHead)
	if sent.First == 0 {
		if err := begun(u, sent, buffered); err != nil {
			return err
		}
	}
	before, most := sent.First, sent.Length
	if sent.whole() {
		most = lyceum.MaxUpload
		if err := part.Restart(ctx); err != nil {
			return err
		}
	}
	err := part.Append(ctx, buffered, most)
	switch {
	case lyceum.KindOf(err) == lyceum.TooLarge && sent.whole():
		return errors.Join(errTooLongFile, part.Restart(ctx))
	case lyceum.KindOf(err) == lyceum.TooLarge:
		return lyceum.Invalidf("the request has more than the %d bytes that it should have", sent.Length)
	case err != nil:
		return err
	}
	if came := part.Size() - before; sent.Length > 0 && came < sent.Length {
		return lyceum.Invalidf("the request has %d bytes and should have %d; send the rest", came, sent.Length)
	}
	return nil
}

var errTooLongFile = lyceum.Errorf(lyceum.TooLarge, "the file has more than %d bytes", int64(lyceum.MaxUpload))

// begun rejects a file that is empty, or whose first bytes do not match its type.
func begun(u *lyceum.Upload, sent *SentFile, body *bufio.Reader) error {
	head, err := body.Peek(lyceum.FileHead)
	cut := err != nil && !errors.Is(err, io.EOF)
	switch {
	case cut && len(head) == 0:
		return err
	case len(head) == 0:
		return lyceum.Invalidf("the file is empty")
	case cut, err != nil && !sent.whole() && sent.Length < sent.Total.Value: // the rest of the head comes later
		return nil
	}
	return typed(u, head)
}

func typed(u *lyceum.Upload, head []byte) error {
	if !lyceum.LooksLike(u.Extension, head) {
		return lyceum.Invalidf("this is not a file of the type %s", u.Extension)
	}
	return nil
}

// accepted rejects a file that is not of its type, or whose SHA-256 is not the expected one.
func accepted(u *lyceum.Upload, part lyceum.FilePart, sent *SentFile, sum lyceum.FileSum) error {
	if head := part.Head(); len(head) > 0 {
		if err := typed(u, head); err != nil {
			return err
		}
	}
	if sent.Sum.Else(sum.SHA256) != sum.SHA256 {
		return lyceum.Invalidf("the SHA-256 of the received file is %x, and should be %x; send the file again",
			sum.SHA256, sent.Sum.Value)
	}
	return nil
}

// expected returns an upload whose file has not been received.
func (s *Service) expected(ctx context.Context, t UploadTicket) (lyceum.Upload, error) {
	v := s.store.In(ctx, t.School)
	if works, err := t.works(v); err != nil || !works {
		return lyceum.Upload{}, cmp.Or(err, errEndedTicket)
	}
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
	return t.Uploads.First(from, a.Filter())
}

// received records that the file of an upload is stored. If two requests finish at the same
// time, one of them fails with Conflict.
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

// KeptFile is a file that is stored here.
type KeptFile struct {
	lyceum.Upload

	Content io.ReadSeekCloser
	Width   int // of the thumbnail; 0: the file as it was sent
}

// OpenFile opens a file by its permanent address. It fails with NotFound if it has not been
// received, and with Forbidden if it needs a link.
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
	if err != nil {
		return KeptFile{}, err
	}
	if size, err := content.Seek(0, io.SeekEnd); err != nil || size != u.SizeInBytes.Value {
		odd := fmt.Errorf("%s has %d bytes, not %d", u.StoredAs.Value, size, u.SizeInBytes.Value)
		return KeptFile{}, &lyceum.Error{
			Kind: lyceum.Unavailable, Detail: "this file cannot be read now; try again later",
			Err: errors.Join(err, odd, content.Close()),
		}
	}
	return KeptFile{Upload: u, Content: content}, nil
}

// attachable returns the upload at an address, if it is one of this school. It rejects an upload
// for another target, with an error for the given field.
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
