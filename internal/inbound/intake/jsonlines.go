package intake

import (
	"io"
	"unicode/utf8"
)

// jsonLines reads JSON Lines: one object per line. Lines are independent, so that a
// malformed one costs no other.
type jsonLines[T any] struct {
	*jsonDecoder[T]
	src  *source
	line int // physical line at the start of the window, from 1
}

func (j *jsonLines[T]) lineAt() *int { return &j.line }

func (j *jsonLines[T]) next() (Row[T], error) {
	for {
		if _, ok := j.src.at(0); !ok {
			if err := j.src.failure(); err != nil {
				return Row[T]{}, err
			}
			return Row[T]{}, io.EOF
		}
		size, whole := j.src.line()
		if whole && j.src.lineEnd(size) == 0 {
			if err := j.src.failure(); err != nil {
				return Row[T]{}, err
			}
		}
		row, blank := j.row(size, whole)
		j.src.advance(size)
		j.src.skipLine()
		j.line++
		if !blank {
			return row, nil
		}
	}
}

// row parses the line in the first size bytes of the window.
func (j *jsonLines[T]) row(size int, whole bool) (row Row[T], blank bool) {
	if !whole {
		return Row[T]{Line: j.line, Problems: []Problem{{Line: j.line, Message: tooLong}}}, false
	}
	text := j.src.unread()[:size]
	if j.text = (jsonText{b: text, scratch: j.text.scratch}); j.text.token() == 0 && j.text.i == size {
		return Row[T]{}, true
	}
	row, fault := j.decode(text, j.line)
	if fault != nil {
		column := utf8.RuneCount(text[:fault.at]) + 1
		row.Problems = []Problem{fault.problemAt(j.line, column)}
	}
	return row, false
}
