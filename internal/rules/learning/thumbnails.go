package learning

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Limits for making thumbnails.
const (
	thumbnailMemory   = 256 << 20        // bytes, and at most a quarter of the process's memory limit
	thumbnailGarbage  = 32 << 20         // bytes of garbage of one picture that may wait for the collector
	thumbnailBytes    = 256 << 20        // bytes of a picture that are read
	thumbnailTime     = 30 * time.Second // for reading a picture
	thumbnailPatience = 5 * time.Second  // for waiting while other pictures are scaled
	mostBroken        = 1000             // broken pictures that are remembered
)

// thumbnails allows one picture at a time to be scaled, and remembers those that cannot be
// decoded.
type thumbnails struct {
	turn   chan struct{}
	mu     sync.Mutex
	broken map[string]bool // by UUID
}

func (t *thumbnails) isBroken(uuid string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken[uuid]
}

func (t *thumbnails) setBroken(uuid string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.broken) >= mostBroken || t.broken == nil {
		t.broken = map[string]bool{}
	}
	t.broken[uuid] = true
}

var (
	errBusyThumbnail = lyceum.Errorf(lyceum.Unavailable, "other pictures are being resized; try again later")
	errBroken        = lyceum.Errorf(lyceum.NotFound,
		"this picture cannot be decoded, so it has no other widths; leave out width to get it as it was received")
)

// OpenThumbnail opens a picture by its permanent address, scaled to one of
// lyceum.ThumbnailWidths. A picture that is not wider, or that would take too much memory, is
// opened as it was sent. It fails with NotFound for a picture that cannot be decoded, and
// otherwise as OpenFile does.
func (s *Service) OpenThumbnail(ctx context.Context, a lyceum.UploadAddress, width int) (KeptFile, error) {
	whole, err := s.OpenFile(ctx, a)
	if err != nil {
		return whole, err
	}
	name := whole.ThumbnailName(a.School, width)
	if made, found, err := s.madeThumbnail(ctx, &whole, name, width); err != nil || found {
		return made, errors.Join(err, whole.Content.Close())
	}
	f, err := s.frameOf(ctx, &whole)
	if err == nil && (f.shownWidth() <= width || f.memory(width) > thumbnailRoom()) {
		return whole, nil
	}
	if err == nil {
		err = s.makeThumbnail(ctx, a.School, &whole, &f, width)
	}
	if err = errors.Join(err, whole.Content.Close()); err != nil {
		return KeptFile{}, err
	}
	made, found, err := s.madeThumbnail(ctx, &whole, name, width)
	if err == nil && !found {
		err = errNoFile // it was removed meanwhile
	}
	return made, err
}

// thumbnailRoom returns the memory available for one picture, in bytes.
func thumbnailRoom() int { return int(min(thumbnailMemory, debug.SetMemoryLimit(-1)/4)) }

// madeThumbnail opens a thumbnail that was made before.
func (s *Service) madeThumbnail(
	ctx context.Context, whole *KeptFile, name lyceum.FileName, width int,
) (made KeptFile, found bool, err error) {
	err = s.files.Each(ctx, name, func(f lyceum.StoredFile) error {
		name, found = f.Name, true
		return errEnough
	})
	if !found || err != nil && !errors.Is(err, errEnough) {
		return made, false, err
	}
	content, err := s.files.Open(ctx, name)
	switch {
	case err == nil:
		return KeptFile{Upload: whole.Upload, Content: content, Width: width}, true, nil
	case lyceum.KindOf(err) == lyceum.NotFound: // it was removed meanwhile
		err = nil
	}
	return made, false, err
}

// frameOf reads the header of a picture.
func (s *Service) frameOf(ctx context.Context, whole *KeptFile) (frame, error) {
	if s.thumbnails.isBroken(whole.UUID) {
		return frame{}, errBroken
	}
	read := &noted{ReadSeeker: whole.Content}
	f, err := readFrame(read, whole.SizeInBytes.Value)
	if read.err != nil {
		return f, read.err
	}
	return f, s.orBroken(ctx, whole, err)
}

// orBroken remembers that a picture cannot be decoded, if that is what an error means.
func (s *Service) orBroken(ctx context.Context, whole *KeptFile, err error) error {
	if err == nil || ctx.Err() != nil || lyceum.KindOf(err) == lyceum.Unavailable {
		return errors.Join(err, ctx.Err())
	}
	s.thumbnails.setBroken(whole.UUID)
	return errBroken
}

// makeThumbnail stores a thumbnail of a picture, unless the picture is removed meanwhile.
func (s *Service) makeThumbnail(
	ctx context.Context, school lyceum.SchoolID, whole *KeptFile, f *frame, width int,
) error {
	late := time.NewTimer(thumbnailPatience)
	defer late.Stop()
	select {
	case s.thumbnails.turn <- struct{}{}:
		defer func() { <-s.thumbnails.turn }()
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return errBusyThumbnail
	}
	name := whole.ThumbnailName(school, width)
	made, found, err := s.madeThumbnail(ctx, whole, name, width)
	if found {
		return made.Content.Close()
	}
	if err != nil {
		return err
	}
	limited, done := context.WithTimeout(ctx, thumbnailTime)
	defer done()
	read := &noted{ReadSeeker: whole.Content}
	small, err := shrink(io.LimitReader(withContext{read, limited}, thumbnailBytes), f, width)
	if f.memory(width) > thumbnailGarbage {
		debug.FreeOSMemory() // or this picture's garbage remains while the next one is decoded
	}
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return &lyceum.Error{
			Kind: lyceum.Unavailable, Detail: "this picture could not be read in time; try again later", Err: err,
		}
	}
	if read.err != nil {
		return read.err
	}
	if err = s.orBroken(ctx, whole, err); err != nil {
		return err
	}
	return s.keepThumbnail(ctx, school, &whole.Upload, name, small)
}

func (s *Service) keepThumbnail(
	ctx context.Context, school lyceum.SchoolID, u *lyceum.Upload, name lyceum.FileName, content io.Reader,
) error {
	part, err := s.files.Part(ctx, name)
	if err != nil {
		return err
	}
	if err = part.Restart(ctx); err == nil {
		err = part.Append(ctx, content, thumbnailBytes)
	}
	var kept lyceum.FileSum
	if err == nil {
		kept, err = part.Keep(ctx, func(lyceum.FileSum) error { return nil })
	}
	if err == nil {
		err = part.Forget(ctx)
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return err
	}
	v := s.store.In(ctx, school)
	now, err := v.Uploads.Find(v, u.ID)
	if err == nil && !now[u.ID].ReceivedAt.Present {
		err = s.files.Remove(ctx, kept.Name)
	}
	return err
}
