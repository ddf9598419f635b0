package sqlstore

import (
	"errors"

	"github.com/lyceum-school/lyceum"
)

// errFull stops a query once its rows fill a response.
var errFull = errors.New("enough rows")

// unlessFull turns errFull into nil and returns any other error as it is.
func unlessFull(err error) error {
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

// textScanner scans a string and records its length.
type textScanner struct {
	put  func(string) error
	null func() // nil for a column that is never NULL
	size int
}

// Scan implements sql.Scanner.
func (t *textScanner) Scan(src any) error {
	if src == nil && t.null != nil {
		t.size = 0
		t.null()
		return nil
	}
	v, ok := src.(string)
	if !ok {
		return wrong(src, "text")
	}
	return t.take(v)
}

func (t *textScanner) take(v string) error {
	t.size = len(v)
	return t.put(v)
}

// meter charges the rows of a query to the caller's allowance.
type meter struct {
	session   *session
	allowance lyceum.Allowance // nil allows everything
	dest      []any
	owed      int
}

const (
	columnCost = 48       // bytes that a column occupies in memory, without its text
	textCost   = 2        // copies of a string in memory: as read, and in the response
	settleFrom = 16 << 10 // bytes that are charged at a time
)

func (s *session) meter(dest []any) meter {
	return meter{session: s, allowance: lyceum.AllowanceOf(s.ctx), dest: dest}
}

// row charges the row that was scanned last.
func (m *meter) row() error {
	if m.allowance == nil {
		return nil
	}
	m.owed += columnCost * len(m.dest)
	for _, column := range m.dest {
		switch text := column.(type) {
		case *textScanner:
			m.owed += textCost * text.size
		case *packedScanner:
			m.owed += textCost * text.size
		}
	}
	if m.owed < settleFrom {
		return nil
	}
	return m.settle()
}

func (m *meter) settle() error {
	if m.allowance == nil || m.owed == 0 {
		return nil
	}
	owed := m.owed
	m.owed = 0
	return m.allowance.Allow(m.session.ctx, owed)
}
