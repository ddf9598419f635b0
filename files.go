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
	Size   int64
	SHA256 [32]byte
}

// StoredFile is a content in a FileStore.
type StoredFile struct {
	Name FileName
	Size int64     // bytes
	At   time.Time // when it came
}

// FileStore keeps the contents of files. A content never changes.
type FileStore interface {
	// Put keeps what body has under a name that has no content yet. When it returns
	// nil all of it is on disk; when it fails nothing of it is kept. It fails with
	// TooLarge for more than so many bytes, with Unavailable when the store cannot
	// take it, and with the error of the body.
	Put(ctx context.Context, name FileName, body io.Reader, most int64) (FileSum, error)
	// Open fails with NotFound for a name that has no content.
	Open(ctx context.Context, name FileName) (io.ReadSeekCloser, error)
	// Remove removes the content of a name, if it has one.
	Remove(ctx context.Context, name FileName) error
	// Each calls visit with every content whose name begins with a prefix, until visit
	// fails. Contents that come or go meanwhile may be left out.
	Each(ctx context.Context, prefix FileName, visit func(StoredFile) error) error
}
