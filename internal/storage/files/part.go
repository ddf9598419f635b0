package files

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// incoming is the folder of incomplete files. Each one is stored there with its state next to it.
const (
	incoming = "incoming"
	stateOf  = ".state" // suffix of a state's name
	freshOf  = ".new"   // suffix of a state that is being written
)

// bufferSize is the size in bytes of the buffer for one incoming file.
const bufferSize = 128 << 10

// What is lost at most of an incoming file when the server is killed.
const (
	unsavedBytes = 64 << 20
	unsavedTime  = 10 * time.Second
)

// partOf returns the name of the incomplete version of a file.
func partOf(name lyceum.FileName) string {
	return path.Join(incoming, strings.ReplaceAll(string(name), "/", "_"))
}

// partFiles returns the names of all files of a part.
func partFiles(part string) []string { return []string{part + stateOf, part + freshOf, part} }

// state describes the first bytes of an incomplete file, all of which are on disk.
type state struct {
	Size int64  `json:"size"`
	Head []byte `json:"head"`
	Hash []byte `json:"hash"` // intermediate state of a SHA-256
}

// tally accumulates the size, head and hash of an incoming file.
type tally struct {
	size int64
	head []byte
	hash hash.Hash
}

func newTally() tally { return tally{hash: sha256.New()} }

func (t *tally) add(b []byte) {
	t.size += int64(len(b))
	if room := lyceum.FileHead - len(t.head); room > 0 {
		t.head = append(t.head, b[:min(room, len(b))]...)
	}
	t.hash.Write(b)
}

func (t *tally) state() (state, error) {
	sum, err := t.hash.(encoding.BinaryMarshaler).MarshalBinary()
	return state{t.size, t.head, sum}, err
}

func (t *tally) sum() (s lyceum.FileSum) {
	s.Size = t.size
	t.hash.Sum(s.SHA256[:0])
	return s
}

// restore continues from a state, and reports whether the state is valid.
func (t *tally) restore(s state) bool {
	*t = newTally()
	t.size, t.head = s.Size, s.Head
	return s.Size >= 0 && t.hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(s.Hash) == nil
}

// folderPart is a file that is being received into a folder.
type folderPart struct {
	tally

	root  *os.Root
	name  string // of the complete file
	at    string // name of the part
	whole bool   // the file is complete and in its place
	file  *os.File

	saved   int64      // bytes that the state on disk covers
	savedAt time.Time  // when saving it last began
	saving  chan error // receives the outcome of the save in progress; nil if there is none
}

var _ lyceum.FilePart = (*folderPart)(nil)

// load resumes from what has been received. A part without a state, or shorter than its state
// says, counts as empty.
func (p *folderPart) load() error {
	p.tally, p.saved = newTally(), 0
	info, err := p.root.Lstat(p.name)
	if err == nil {
		p.size, p.whole = info.Size(), true
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var kept state
	text, err := p.root.ReadFile(p.at + stateOf)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err = p.root.Lstat(p.at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if json.Unmarshal(text, &kept) != nil || kept.Size > info.Size() || !p.restore(kept) {
		p.tally = newTally()
	}
	p.saved = p.size
	return nil
}

// Size implements lyceum.FilePart.
func (p *folderPart) Size() int64 { return p.size }

// Head implements lyceum.FilePart.
func (p *folderPart) Head() []byte { return p.head }

// open opens the part for appending.
func (p *folderPart) open() error {
	if p.file != nil {
		return nil
	}
	if err := p.root.MkdirAll(incoming, 0o700); err != nil {
		return err
	}
	file, err := p.root.OpenFile(p.at, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	p.file, p.savedAt = file, time.Now()
	if err := file.Truncate(p.size); err != nil {
		return err
	}
	_, err = file.Seek(p.size, io.SeekStart)
	return err
}

// Append implements lyceum.FilePart.
func (p *folderPart) Append(ctx context.Context, body io.Reader, most int64) error {
	if p.whole {
		return errWhole
	}
	if err := p.open(); err != nil {
		return unavailable(err)
	}
	buffer := make([]byte, bufferSize)
	for {
		n, readErr := body.Read(buffer)
		if most -= int64(n); most < 0 {
			return errTooLong
		}
		if _, err := p.file.Write(buffer[:n]); err != nil {
			return errors.Join(unavailable(err), p.goBack())
		}
		p.add(buffer[:n])
		if readErr == nil {
			readErr = ctx.Err()
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return readErr
		}
		if p.size-p.saved >= unsavedBytes || n > 0 && time.Since(p.savedAt) >= unsavedTime {
			if err := p.saveAside(); err != nil {
				return errors.Join(unavailable(err), p.goBack())
			}
		}
	}
}

// goBack drops what was received after the state was last saved, because a full disk has no room
// for it.
func (p *folderPart) goBack() error {
	err := p.saveEnds()
	if failed := p.load(); failed != nil {
		return errors.Join(err, failed)
	}
	file := p.file
	p.file = nil
	return errors.Join(err, file.Truncate(p.size), file.Close())
}

// saveAside begins to save the state in the background, unless a save is in progress.
func (p *folderPart) saveAside() error {
	if p.saving != nil {
		select {
		case err := <-p.saving:
			p.saving = nil
			if err != nil {
				return err
			}
		default:
			return nil
		}
	}
	now, err := p.state()
	if err != nil {
		return err
	}
	now.Head = append([]byte(nil), now.Head...)
	p.saved, p.savedAt = p.size, time.Now()
	done := make(chan error, 1)
	p.saving = done
	go func() { done <- p.save(now) }()
	return nil
}

// saveEnds waits for a save in progress.
func (p *folderPart) saveEnds() (err error) {
	if p.saving != nil {
		err = <-p.saving
		p.saving = nil
	}
	return err
}

// save syncs the part to disk, and then its state.
func (p *folderPart) save(now state) error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if err := p.write(text); err != nil {
		return errors.Join(err, removeAll(p.root, p.at+freshOf))
	}
	if err := p.root.Rename(p.at+freshOf, p.at+stateOf); err != nil {
		return err
	}
	return syncDir(p.root, incoming)
}

func (p *folderPart) write(text []byte) error {
	fresh, err := p.root.Create(p.at + freshOf)
	if err != nil {
		return err
	}
	_, err = fresh.Write(text)
	if err == nil {
		err = fresh.Sync()
	}
	return errors.Join(err, fresh.Close())
}

// Restart implements lyceum.FilePart.
func (p *folderPart) Restart(context.Context) error {
	if p.size == 0 && p.file == nil && !p.whole {
		return nil
	}
	if err := errors.Join(p.saveEnds(), p.closeFile()); err != nil {
		return unavailable(err)
	}
	if err := removeAll(p.root, append(partFiles(p.at), p.name)...); err != nil {
		return unavailable(err)
	}
	p.tally, p.whole, p.saved = newTally(), false, 0
	return nil
}

func (p *folderPart) closeFile() (err error) {
	if p.file != nil {
		err = p.file.Close()
		p.file = nil
	}
	return err
}

// Keep implements lyceum.FilePart.
func (p *folderPart) Keep(ctx context.Context, accept func(lyceum.FileSum) error) (lyceum.FileSum, error) {
	if p.whole {
		sum, err := p.read(ctx)
		sum.Name = lyceum.FileName(p.name)
		if err == nil {
			err = accept(sum)
		}
		return sum, err
	}
	sum := p.sum()
	sum.Name = lyceum.FileName(p.name)
	if err := accept(sum); err != nil {
		return sum, err
	}
	err := p.saveEnds()
	if err == nil {
		err = p.open() // all of it may have been received before
	}
	if err == nil {
		err = p.file.Sync()
	}
	if err == nil {
		err = p.move()
	}
	if err == nil {
		p.whole = true
		err = errors.Join(p.closeFile(), removeAll(p.root, p.at+stateOf))
	}
	if err != nil {
		return sum, unavailable(err)
	}
	return sum, nil
}

// Forget implements lyceum.FilePart. It does nothing, because no part remains of a file in its
// place.
func (*folderPart) Forget(context.Context) error { return nil }

// read computes the sum of a file that is in its place.
func (p *folderPart) read(ctx context.Context) (sum lyceum.FileSum, err error) {
	file, err := p.root.Open(p.name)
	if err != nil {
		return sum, unavailable(err)
	}
	defer file.Close()
	t := newTally()
	buffer := make([]byte, bufferSize)
	for ctx.Err() == nil {
		n, err := file.Read(buffer)
		t.add(buffer[:n])
		if errors.Is(err, io.EOF) {
			return t.sum(), nil
		}
		if err != nil {
			return sum, unavailable(err)
		}
	}
	return sum, ctx.Err()
}

// move renames the part to its final name, and returns once that is on disk.
func (p *folderPart) move() error {
	dir := path.Dir(p.name)
	if err := p.root.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := p.root.Rename(p.at, p.name); err != nil {
		return err
	}
	for ; ; dir = path.Dir(dir) {
		if err := syncDir(p.root, dir); err != nil || dir == "." {
			return err
		}
	}
}

// Close implements lyceum.FilePart.
func (p *folderPart) Close() error {
	defer closeRoot(p.root)
	err := p.saveEnds()
	if err == nil && p.file != nil && p.size > p.saved {
		var now state
		if now, err = p.state(); err == nil {
			err = p.save(now)
		}
	}
	if err = errors.Join(err, p.closeFile()); err != nil {
		return unavailable(err)
	}
	return nil
}

var (
	errTooLong = lyceum.Errorf(lyceum.TooLarge, "the file has more bytes than allowed")
	errWhole   = lyceum.Errorf(lyceum.Conflict, "all of this file has arrived")
)
