package lyceum

import (
	"context"
	"io"
	"time"
)

// FileName names the content of a file in a FileStore: words of letters, digits
// and hyphens with slashes between them. It says nothing of what users called the
// file.
type FileName string

// FileSum is what is known of a content that was kept.
type FileSum struct {
	Name   FileName
	Size   int64 // bytes
	SHA256 [32]byte
}

// StoredFile is a content in a FileStore.
type StoredFile struct {
	Name FileName
	Size int64     // bytes
	At   time.Time // when it came
}

// FileStore keeps the contents of files. A content never changes. Errors have the kind
// Unavailable when the store cannot take or give anything now.
type FileStore interface {
	// Part returns what has come of the content of a name. One caller at a time has
	// the part of a name, and closes it.
	Part(ctx context.Context, name FileName) (FilePart, error)
	// Open fails with NotFound for a name that has no content.
	Open(ctx context.Context, name FileName) (io.ReadSeekCloser, error)
	// Remove removes the content of a name, and what has come of it, if there is any.
	Remove(ctx context.Context, name FileName) error
	// Each calls visit with every content whose name begins with a prefix, until visit
	// fails. Contents that come or go meanwhile may be left out.
	Each(ctx context.Context, prefix FileName, visit func(StoredFile) error) error
}

// FilePart is a content on its way. What has come of it outlives the program.
type FilePart interface {
	// Size is how many bytes have come: all of them, if the name has its content.
	Size() int64
	// Head returns the first bytes that have come, at most FileHead, unless the name
	// has its content.
	Head() []byte
	// Append adds a body, and fails with its error. It fails with TooLarge for one of
	// more than so many bytes. What came before it failed stays.
	Append(ctx context.Context, body io.Reader, most int64) error
	// Restart drops what has come.
	Restart(ctx context.Context) error
	// Keep makes what has come a content, unless accept fails. When it returns nil all
	// of it is on disk. The content's name is that of the part, or begins with it.
	Keep(ctx context.Context, accept func(FileSum) error) (FileSum, error)
	// Forget drops what is only needed to take up, after a crash, a content that was kept.
	// Call it once the content is recorded elsewhere; until then Keep can be repeated.
	Forget(ctx context.Context) error
	// Close returns nil once what has come is on disk.
	Close() error
}

// FileHead is how many bytes of a file say what it is.
const FileHead = 512
