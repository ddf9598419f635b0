package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/files"
)

// filesFor returns where uploaded files are stored, for a command that has rows of a kind and a
// folder of files alongside them.
func (f *fileSettings) filesFor(kind, beside string, d *database) (lyceum.FileStore, error) {
	uploads := intake.Uploads().String()
	if kind != uploads && beside != "" {
		return nil, lyceum.Invalidf("--files is for %s, which have files; leave it out for %s", uploads, kind)
	}
	if kind != uploads {
		return nil, nil //nolint:nilnil // no files are requested
	}
	return f.store(d)
}

// filesBeside returns a function that opens a file in the folder alongside rows, by the name in
// the row.
func filesBeside(folder string) func(name string) (io.ReadSeekCloser, error) {
	return func(name string) (io.ReadSeekCloser, error) {
		if folder == "" {
			return nil, lyceum.Invalidf("needs the folder that it is in; set it with --files")
		}
		if name == "." || !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || len(name) > maxFileName {
			return nil, lyceum.Invalidf("must be a path in the folder of the files, with / between its parts and without ..")
		}
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, &lyceum.Error{Kind: lyceum.NotFound, Err: err, Detail: "the folder " + folder +
				" cannot be read; set --files to a folder that exists"}
		}
		defer func() { _ = root.Close() }() // nothing was written through it
		for at, part := "", name; part != ""; {
			var step string
			step, part, _ = strings.Cut(part, "/")
			at = path.Join(at, step)
			info, err := root.Lstat(at)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil, lyceum.Invalidf("is missing in the folder of the files")
			case err != nil:
				return nil, lyceum.Invalidf("cannot be read")
			case info.Mode()&fs.ModeSymlink != 0:
				return nil, lyceum.Invalidf("is a symbolic link or in one; put the file itself there")
			case part == "" && !info.Mode().IsRegular():
				return nil, lyceum.Invalidf("is a folder or a device, not a file")
			}
		}
		file, err := root.Open(name)
		if err != nil {
			return nil, lyceum.Invalidf("cannot be read")
		}
		return file, nil
	}
}

const maxFileName = 1000 // bytes

// copyBeside returns a visit function that copies the file of each upload to the folder
// alongside the rows, if there is one, before it visits the row. Files that exist there already
// are kept.
func (i *importer) copyBeside(visit func(*lyceum.UploadRow) error) func(*lyceum.UploadRow) error {
	if i.beside == "" || i.kept == nil {
		return visit
	}
	bar := newProgress(i.p, "copying files", 0, "MiB")
	read := int64(0)
	transfer := files.Transfer{From: i.kept, To: files.NewFolder(i.beside), Read: func(bytes int64) {
		read += bytes
		bar.set(read >> 20)
	}}
	return func(u *lyceum.UploadRow) error {
		want := lyceum.FileSum{Name: lyceum.FileName(u.File), Size: u.SizeInBytes.Value}
		want.SHA256, _ = lyceum.ParseChecksum(u.Checksum.Value) // an invalid checksum becomes zeros, which match no file
		_, err := transfer.Copy(i.p.ctx, u.StoredAs.Value, &want)
		if lyceum.KindOf(err) == lyceum.NotFound {
			v := i.view()
			now, failed := v.Uploads.Find(v, u.ID)
			if failed != nil || now[u.ID].StoredAs != u.StoredAs { // it was swept meanwhile
				return failed
			}
		}
		switch kind := lyceum.KindOf(err); {
		case err == nil:
			return visit(u)
		case errors.Is(err, files.ErrNotWritten):
			return notWritten(i.beside, err)
		case kind == lyceum.NotFound, kind == lyceum.Conflict:
			return lyceum.Errorf(lyceum.Conflict, "the file of upload %d is missing or was changed: %s; lyceum check --deep "+
				"lists all such files; use --files-url if lyceum serve does", u.ID, u.StoredAs.Value)
		}
		return err
	}
}

// leadHere returns a function that makes the addresses of files that the school has point to
// it, whichever server and school they pointed to before.
func (i *importer) leadHere(base string) func(text []byte) ([]byte, error) {
	v := i.view()
	return func(text []byte) (_ []byte, err error) {
		if !bytes.Contains(text, []byte("/files/")) {
			return text, nil
		}
		replaced := lyceum.ReplaceUploadAddresses(string(text), func(address string, a lyceum.UploadAddress) string {
			if err == nil {
				address, err = learning.AddressHere(v.Tables, v, base, address, a)
			}
			return address
		})
		return []byte(replaced), err
	}
}
