// Package files stores the contents of files in a folder or in an S3-compatible store.
//
// It must not know what the files are for or who may have them.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// Folder stores files in a folder of the file system, which is created when the first file
// arrives. Several processes may share one.
type Folder struct{ dir string }

var _ lyceum.FileStore = (*Folder)(nil)

// NewFolder returns the store for a folder.
func NewFolder(dir string) *Folder { return &Folder{dir} }

// Part implements lyceum.FileStore.
func (f *Folder) Part(_ context.Context, name lyceum.FileName) (lyceum.FilePart, error) {
	if err := check(name); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, unavailable(err)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, unavailable(err)
	}
	p := &folderPart{root: root, name: string(name), at: partOf(name)}
	if err := p.load(); err != nil {
		closeRoot(root)
		return nil, unavailable(err)
	}
	return p, nil
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
	return nil, unavailable(err)
}

// Remove implements lyceum.FileStore.
func (f *Folder) Remove(_ context.Context, name lyceum.FileName) error {
	if err := check(name); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.dir)
	if err == nil {
		defer closeRoot(root)
		err = removeAll(root, append(partFiles(partOf(name)), string(name))...)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unavailable(err)
	}
	return nil
}

// RemoveParts removes all incomplete files. No one may be adding to one at the same time.
func (f *Folder) RemoveParts() error {
	root, err := os.OpenRoot(f.dir)
	if err == nil {
		defer closeRoot(root)
		err = root.RemoveAll(incoming)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unavailable(err)
	}
	return nil
}

// removeAll removes the files that exist.
func removeAll(root *os.Root, names ...string) error {
	for _, name := range names {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
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
		return unavailable(err)
	}
	defer closeRoot(root)
	return fs.WalkDir(root.FS(), path.Dir(string(prefix)), func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return unavailable(err)
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
			return unavailable(err)
		}
		return visit(lyceum.StoredFile{Name: lyceum.FileName(name), Size: info.Size(), At: info.ModTime()})
	})
}

func closeRoot(root *os.Root) { _ = root.Close() } // nothing was written through it

func unavailable(err error) error {
	return &lyceum.Error{Kind: lyceum.Unavailable, Detail: "files cannot be stored or read now; try again later", Err: err}
}

// check returns an error if a string is not a valid file name.
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
