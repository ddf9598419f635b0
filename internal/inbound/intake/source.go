package intake

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/lyceum-school/lyceum"
)

const (
	// maxRecord is the maximum size of a CSV record, JSON line or JSON object, in bytes.
	maxRecord = 1 << 20

	firstWindow = 64 << 10
	maxWindow   = 2 * maxRecord
)

// source is the decompressed input as a sliding window of bytes. The window grows as
// needed, up to maxWindow.
type source struct {
	input      *counter
	r          io.Reader
	zipped     bool
	buf        []byte
	start, end int   // buf[start:end] is unread
	passed     int64 // bytes before start
	err        error // of r; io.EOF at the end
}

// counter counts the bytes that are read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func newSource(r io.Reader) (*source, error) {
	s := &source{input: &counter{r: r}, buf: make([]byte, firstWindow)}
	buffered := bufio.NewReaderSize(s.input, firstWindow)
	s.r = buffered
	if magic, _ := buffered.Peek(2); string(magic) == gzipMagic {
		s.zipped = true
		unzipped, err := newUnzipper(buffered)
		if err != nil {
			s.err = err
			return nil, s.failure()
		}
		s.r = unzipped
	}
	return s, s.skipMark()
}

// skipMark skips a byte order mark and rejects files that are not text.
func (s *source) skipMark() error {
	for len(s.unread()) < 4 && s.more() {
	}
	begin := s.unread()
	switch {
	case bytes.HasPrefix(begin, []byte("\xef\xbb\xbf")):
		s.advance(3)
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), bytes.HasPrefix(begin, []byte("\xfe\xff")):
		return lyceum.Invalidf("the file is text in UTF-16; save it as UTF-8")
	case bytes.HasPrefix(begin, []byte("PK\x03\x04")):
		return lyceum.Invalidf("the file is a spreadsheet or a zip archive; save it as CSV")
	}
	return s.failure()
}

// unread returns the window: what has been buffered but not consumed. It is valid until
// more is called.
func (s *source) unread() []byte { return s.buf[s.start:s.end] }

// advance consumes the first n bytes of the window.
func (s *source) advance(n int) {
	s.start += n
	s.passed += int64(n)
}

// more reads more into the window. It returns false if the input has ended or failed, or
// if the window has its maximum size.
func (s *source) more() bool {
	if s.err != nil {
		return false
	}
	if s.start > 0 {
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= maxWindow {
			return false
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		s.err = err
		if n > 0 || err != nil {
			return n > 0
		}
	}
	s.err = io.ErrNoProgress
	return false
}

// failure returns why the input ended early, or nil.
func (s *source) failure() error {
	var corrupt flate.CorruptInputError
	switch {
	case s.err == nil, errors.Is(s.err, io.EOF):
		return nil
	case s.zipped && errors.Is(s.err, errTrailing):
		return lyceum.Invalidf("the gzip data has ended, and the file continues with something else; compress it again")
	case s.zipped && errors.Is(s.err, io.ErrUnexpectedEOF):
		return lyceum.Invalidf("the gzip data ends too early; the file was cut off")
	case s.zipped &&
		(errors.Is(s.err, gzip.ErrHeader) || errors.Is(s.err, gzip.ErrChecksum) || errors.As(s.err, &corrupt)):
		return lyceum.Invalidf("the gzip data is damaged")
	}
	return fmt.Errorf("read the file: %w", s.err)
}

// at returns byte i of the window, reading more if needed; ok is false if the input ends
// before it.
func (s *source) at(i int) (b byte, ok bool) {
	for i >= s.end-s.start {
		if !s.more() {
			return 0, false
		}
	}
	return s.buf[s.start+i], true
}

// lineEnd returns the size of the line end at i: 2 for \r\n, 1 for \n or \r, 0 for
// anything else.
func (s *source) lineEnd(i int) int {
	b, _ := s.at(i)
	switch b {
	case '\n':
		return 1
	case '\r':
		if b, _ = s.at(i + 1); b == '\n' {
			return 2
		}
		return 1
	}
	return 0
}

// line finds the end of the physical line at the start of the window. Whole is false if
// the line is longer than maxRecord.
func (s *source) line() (size int, whole bool) {
	i := 0
	for {
		u := s.unread()
		if n := bytes.IndexAny(u[i:], "\r\n"); n >= 0 {
			return i + n, i+n <= maxRecord
		}
		i = len(u)
		if i > maxRecord {
			return i, false
		}
		if !s.more() {
			return i, true
		}
	}
}

// skipLine consumes the physical line at the start of the window, of any length, with its
// line end.
func (s *source) skipLine() {
	for {
		u := s.unread()
		if i := bytes.IndexAny(u, "\r\n"); i >= 0 {
			s.advance(i)
			s.advance(s.lineEnd(0))
			return
		}
		s.advance(len(u))
		if !s.more() {
			return
		}
	}
}

// countLines counts the line ends in b; \r\n is one.
func countLines(b []byte) int {
	return bytes.Count(b, []byte{'\n'}) + bytes.Count(b, []byte{'\r'}) - bytes.Count(b, []byte("\r\n"))
}

// firstSign returns the first byte of the input that is not white space, or 0 if there is
// none near the start.
func (s *source) firstSign() byte {
	for {
		if rest := bytes.TrimLeft(s.unread(), " \t\r\n"); len(rest) > 0 {
			return rest[0]
		}
		if len(s.unread()) >= firstWindow || !s.more() {
			return 0
		}
	}
}
