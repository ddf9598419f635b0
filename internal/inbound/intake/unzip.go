package intake

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
)

var errTrailing = errors.New("something follows the gzip data")

// gzipMagic is the prefix of gzip data.
const gzipMagic = "\x1f\x8b"

// unzipper reads gzip data of one or more members like gzip.Reader, but distinguishes
// trailing garbage from a truncated member.
type unzipper struct {
	from *bufio.Reader
	part *gzip.Reader
}

func newUnzipper(from *bufio.Reader) (*unzipper, error) {
	part, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	part.Multistream(false)
	return &unzipper{from, part}, nil
}

func (u *unzipper) Read(p []byte) (int, error) {
	n, err := u.part.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	magic, err := u.from.Peek(len(gzipMagic))
	switch {
	case len(magic) == 0:
		return n, err
	case string(magic) != gzipMagic[:len(magic)]:
		return n, errTrailing
	}
	err = u.part.Reset(u.from)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	u.part.Multistream(false)
	return n, err
}
