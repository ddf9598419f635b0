package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// Transfer copies files from one store to another.
type Transfer struct {
	From, To lyceum.FileStore
	// Trust accepts a file in To that has the right size as the right one, without reading it.
	Trust bool
	// Read is called with the number of bytes that were just read, possibly by several goroutines
	// at once.
	Read func(bytes int64)
}

// ErrNotWritten wraps the error of a copy if the destination is at fault, not the source.
var ErrNotWritten = errors.New("a file cannot be written")

var errChanged = lyceum.Errorf(lyceum.Conflict, "this file was changed")

// Copy copies the file name of From to To, where it has the name, size and SHA-256 of want,
// unless To already has it. It fails with NotFound if From does not have the file, and with
// Conflict if the file in From differs from want; To does not have the file then. An interrupted
// copy is resumed.
func (t *Transfer) Copy(ctx context.Context, name lyceum.FileName, want *lyceum.FileSum) (copied bool, err error) {
	has, err := t.has(ctx, want)
	if has || err != nil {
		return false, err
	}
	source, err := t.From.Open(ctx, name)
	if err != nil {
		return false, err
	}
	defer source.Close()
	size, err := source.Seek(0, io.SeekEnd)
	switch {
	case err != nil:
		return false, unavailable(err)
	case size != want.Size:
		return false, errChanged
	}
	if to, is := t.To.(*S3); is {
		err = t.send(ctx, to, source, want)
	} else {
		err = t.fill(ctx, source, want)
	}
	return err == nil, err
}

// has reports whether To already has the file.
func (t *Transfer) has(ctx context.Context, want *lyceum.FileSum) (bool, error) {
	content, err := t.To.Open(ctx, want.Name)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return false, nil
	}
	if err != nil {
		return false, notWritten(err)
	}
	defer content.Close()
	size, err := content.Seek(0, io.SeekEnd)
	if err != nil {
		return false, notWritten(err)
	}
	if size != want.Size {
		return false, nil
	}
	if t.Trust {
		t.Read(size)
		return true, nil
	}
	sum, err := t.sum(ctx, content)
	if err != nil {
		return false, notWritten(err)
	}
	return sum.SHA256 == want.SHA256, nil
}

// sum reads a file from the beginning and returns its size and hash.
func (t *Transfer) sum(ctx context.Context, content io.ReadSeeker) (sum lyceum.FileSum, err error) {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return sum, unavailable(err)
	}
	body := &watched{Reader: content, ctx: ctx, read: t.Read}
	hash := sha256.New()
	sum.Size, err = io.CopyBuffer(hash, body, make([]byte, bufferSize))
	hash.Sum(sum.SHA256[:0])
	return sum, err
}

// fill copies a file by appending to its part.
func (t *Transfer) fill(ctx context.Context, source io.ReadSeeker, want *lyceum.FileSum) error {
	part, err := t.To.Part(ctx, want.Name)
	if err != nil {
		return notWritten(err)
	}
	resumed := part.Size()
	if resumed > want.Size || len(part.Head()) == 0 { // or the part is a complete file, but a wrong one
		resumed, err = 0, restarted(ctx, part)
	}
	for err == nil {
		if err = t.append(ctx, part, source, want); !errors.Is(err, errChanged) {
			break
		}
		if failed := restarted(ctx, part); failed != nil || resumed == 0 {
			err = errors.Join(failed, err)
			break
		}
		resumed, err = 0, nil // what was received before may be at fault
	}
	return errors.Join(err, part.Close())
}

func restarted(ctx context.Context, part lyceum.FilePart) error {
	if err := part.Restart(ctx); err != nil {
		return notWritten(err)
	}
	return nil
}

// append appends to a part what is missing, and completes it.
func (t *Transfer) append(ctx context.Context, part lyceum.FilePart, source io.ReadSeeker, want *lyceum.FileSum) error {
	from := part.Size()
	if _, err := source.Seek(from, io.SeekStart); err != nil {
		return unavailable(err)
	}
	t.Read(from)
	body := &watched{Reader: source, ctx: ctx, read: t.Read}
	err := part.Append(ctx, body, want.Size-from)
	switch {
	case body.err != nil:
		return unavailable(body.err)
	case ctx.Err() != nil:
		return ctx.Err()
	case lyceum.KindOf(err) == lyceum.TooLarge:
		return errChanged
	case err != nil:
		return notWritten(err)
	}
	_, err = part.Keep(ctx, func(sum lyceum.FileSum) error {
		if sum.Size != want.Size || sum.SHA256 != want.SHA256 {
			return errChanged
		}
		return nil
	})
	if err != nil && !errors.Is(err, errChanged) {
		return notWritten(err)
	}
	return err
}

// send copies a file to an S3 store, under exactly its name.
func (t *Transfer) send(ctx context.Context, to *S3, source io.ReadSeeker, want *lyceum.FileSum) error {
	body, is := source.(io.ReaderAt)
	threads := uint(0) // as many as the client uses
	if !is {
		body, threads = inOrder(source), 1
	}
	sum, err := t.sum(ctx, source)
	switch {
	case err != nil:
		return unavailable(err)
	case sum.SHA256 != want.SHA256:
		return errChanged
	}
	if err := to.place(ctx, want, body, threads); err != nil {
		return notWritten(err)
	}
	return nil
}

// inOrder reads a file of an S3 store, which is fast as long as each read begins where the
// previous one ended.
func inOrder(source io.ReadSeeker) io.ReaderAt {
	var reading sync.Mutex
	return readerAt(func(b []byte, at int64) (int, error) {
		reading.Lock()
		defer reading.Unlock()
		if _, err := source.Seek(at, io.SeekStart); err != nil {
			return 0, err
		}
		n, err := io.ReadFull(source, b)
		if err == io.ErrUnexpectedEOF { // the file ends here; a failure wraps it
			err = io.EOF
		}
		return n, err
	})
}

func notWritten(err error) error { return fmt.Errorf("%w: %w", ErrNotWritten, err) }

// watched is a reader that ends with a context and records what failed.
type watched struct {
	io.Reader

	ctx  context.Context //nolint:containedctx // of the call
	read func(bytes int64)
	err  error
}

func (w *watched) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.Reader.Read(b)
	w.read(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}
