// Package files keeps the contents of files in a folder.
//
// It must not know what the files are for, nor who may have them.
package files

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// incoming is where files are until all of them has come.
const incoming = "incoming"

// bufferSize is the memory of one file on its way, in bytes.
const bufferSize = 128 << 10

// Folder keeps files in a folder of the file system, which it makes when the first
// file comes. Several processes may share one.
type Folder struct{ dir string }

var _ lyceum.FileStore = (*Folder)(nil)

// NewFolder returns the store in a folder.
func NewFolder(dir string) *Folder { return &Folder{dir} }

// Put implements lyceum.FileStore.
func (f *Folder) Put(
	ctx context.Context, name lyceum.FileName, body io.Reader, most int64,
) (sum lyceum.FileSum, err error) {
	if err := check(name); err != nil {
		return sum, err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return sum, f.unavailable(err)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return sum, f.unavailable(err)
	}
	defer closeRoot(root)
	part := path.Join(incoming, rand.Text())
	if sum, err = f.receive(ctx, root, part, body, most); err == nil {
		err = f.keep(root, part, string(name))
	}
	if err != nil {
		_ = root.Remove(part) // it may not be there
	}
	return sum, err
}

// receive writes a file to disk, and returns when it is there.
func (f *Folder) receive(
	ctx context.Context, root *os.Root, part string, body io.Reader, most int64,
) (sum lyceum.FileSum, err error) {
	if err := root.MkdirAll(incoming, 0o700); err != nil {
		return sum, f.unavailable(err)
	}
	file, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return sum, f.unavailable(err)
	}
	defer file.Close()
	hash := sha256.New()
	buffer := make([]byte, bufferSize)
	for {
		n, readErr := body.Read(buffer)
		if sum.Size += int64(n); sum.Size > most {
			return sum, lyceum.Errorf(lyceum.TooLarge, "the file has more than %d bytes", most)
		}
		hash.Write(buffer[:n])
		if _, err := file.Write(buffer[:n]); err != nil {
			return sum, f.unavailable(err)
		}
		if readErr == nil {
			readErr = ctx.Err()
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return sum, readErr
		}
	}
	hash.Sum(sum.SHA256[:0])
	if err := file.Sync(); err != nil {
		return sum, f.unavailable(err)
	}
	return sum, nil
}

// keep gives a file that has come its name, and returns when that is on disk.
func (f *Folder) keep(root *os.Root, part, name string) error {
	dir := path.Dir(name)
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return f.unavailable(err)
	}
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is a file %s: %w", name, errors.Join(err, fs.ErrExist))
	}
	if err := root.Rename(part, name); err != nil {
		return f.unavailable(err)
	}
	for ; ; dir = path.Dir(dir) {
		if err := syncDir(root, dir); err != nil {
			return f.unavailable(err)
		}
		if dir == "." {
			return nil
		}
	}
}

func syncDir(root *os.Root, name string) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Open implements lyceum.FileStore.
func (f *Folder) Open(_ context.Context, name lyceum.FileName) (io.ReadSeekCloser, error) {
	if err := check(name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.dir)
	if err == nil {
		defer closeRoot(root)
		var file *os.File
		if file, err = root.Open(string(name)); err == nil {
			return file, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, lyceum.Errorf(lyceum.NotFound, "this file is missing")
	}
	return nil, f.unavailable(err)
}

// Remove implements lyceum.FileStore.
func (f *Folder) Remove(_ context.Context, name lyceum.FileName) error {
	if err := check(name); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.dir)
	if err == nil {
		defer closeRoot(root)
		err = root.Remove(string(name))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.unavailable(err)
	}
	return nil
}

// Each implements lyceum.FileStore.
func (f *Folder) Each(ctx context.Context, prefix lyceum.FileName, visit func(lyceum.StoredFile) error) error {
	root, err := os.OpenRoot(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return f.unavailable(err)
	}
	defer closeRoot(root)
	return fs.WalkDir(root.FS(), path.Dir(string(prefix)), func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return f.unavailable(err)
		case d.IsDir() && name == incoming:
			return fs.SkipDir
		case !d.Type().IsRegular() || !strings.HasPrefix(name, string(prefix)):
			return ctx.Err()
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return f.unavailable(err)
		}
		return visit(lyceum.StoredFile{Name: lyceum.FileName(name), Size: info.Size(), At: info.ModTime()})
	})
}

func closeRoot(root *os.Root) { _ = root.Close() } // nothing was written through it

func (f *Folder) unavailable(err error) error {
	return &lyceum.Error{Kind: lyceum.Unavailable, Detail: "files cannot be kept or read now; try again later", Err: err}
}

// check refuses what is no name of a content.
func check(name lyceum.FileName) error {
	for word := range strings.SplitSeq(string(name), "/") {
		odd := strings.ContainsFunc(word, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
		})
		if odd || word == "" {
			return fmt.Errorf("%q is no name of a file", name)
		}
	}
	if strings.HasPrefix(string(name), incoming) {
		return fmt.Errorf("%q is no name of a file", name)
	}
	return nil
}
