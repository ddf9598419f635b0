package lyceum

import (
	"context"
	"io"
	"time"
)

// FileName names the content of a file in a FileStore: words of letters, digits and hyphens,
// separated by slashes. It does not contain the name that users gave the file.
type FileName string

// FileSum describes stored content.
type FileSum struct {
	Name   FileName
	Size   int64 // bytes
	SHA256 [32]byte
}

// StoredFile is the content of a file in a FileStore.
type StoredFile struct {
	Name FileName
	Size int64     // bytes
	At   time.Time // when it was stored
}

// FileStore stores the contents of files, which never change. Errors have the kind Unavailable
// if the store cannot be read or written now.
type FileStore interface {
	// Part returns what has been received of the content with the given name. Only one caller
	// at a time can have the part of a name, and must close it.
	Part(ctx context.Context, name FileName) (FilePart, error)
	// Open fails with NotFound if there is no content with this name.
	Open(ctx context.Context, name FileName) (io.ReadSeekCloser, error)
	// Remove removes the content with this name and what has been received of it, if any.
	Remove(ctx context.Context, name FileName) error
	// Each calls visit with every content whose name begins with prefix, until visit fails.
	// Contents that are added or removed meanwhile may be left out.
	Each(ctx context.Context, prefix FileName, visit func(StoredFile) error) error
}

// FilePart is content that is being received. What has been received survives a restart of the
// program.
type FilePart interface {
	// Size returns the number of bytes received: all of them, if the content is complete.
	Size() int64
	// Head returns the first bytes received, at most FileHead, unless the content is complete.
	Head() []byte
	// Append appends body and returns its error. It fails with TooLarge if body has more than
	// most bytes. What was received before an error is kept.
	Append(ctx context.Context, body io.Reader, most int64) error
	// Restart discards what has been received.
	Restart(ctx context.Context) error
	// Keep turns what has been received into content, unless accept fails. When it returns nil,
	// all of it is on disk. The name of the content is the part's name, or begins with it.
	Keep(ctx context.Context, accept func(FileSum) error) (FileSum, error)
	// Forget discards what is needed only to resume after a crash with content that Keep has
	// stored. Call it once the content is recorded elsewhere; until then Keep can be repeated.
	Forget(ctx context.Context) error
	// Close returns nil once what has been received is on disk.
	Close() error
}

// FileHead is how many bytes at the beginning of a file determine its type.
const FileHead = 512
