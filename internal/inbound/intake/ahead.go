package intake

const (
	// aheadRows is how many rows are handed over at a time.
	aheadRows = 256
	// aheadParts is how many parts are read ahead: together they are the next batch of an
	// import.
	aheadParts = 40
)

// rowSource returns the rows of a file one after another.
type rowSource[T any] interface {
	Next() (Row[T], error)
	Offset() int64
	place() section
}

// ahead reads rows while earlier ones are checked or saved.
type ahead[T any] struct {
	parts chan part[T]
	used  chan []Row[T] // for reuse
	stop  chan struct{}

	part part[T]
	next int // index in the part
}

// part is a run of consecutive rows of a file.
type part[T any] struct {
	rows   []Row[T]
	at     section // that begins with the rows
	offset int64   // of the source, after the rows
	err    error   // ends the file after the rows
}

// readAhead starts reading. The caller must not use the source until close has returned.
func readAhead[T any](r rowSource[T]) *ahead[T] {
	a := &ahead[T]{
		parts: make(chan part[T], aheadParts), used: make(chan []Row[T], aheadParts+2), stop: make(chan struct{}),
	}
	go func() {
		defer close(a.parts)
		for {
			next := a.read(r)
			select {
			case a.parts <- next:
			case <-a.stop:
				return
			}
			if next.err != nil {
				return
			}
		}
	}()
	return a
}

func (a *ahead[T]) read(r rowSource[T]) (next part[T]) {
	next.at = r.place()
	select {
	case next.rows = <-a.used:
	default:
		next.rows = make([]Row[T], 0, aheadRows)
	}
	for len(next.rows) < aheadRows && next.err == nil {
		var row Row[T]
		if row, next.err = r.Next(); next.err == nil {
			next.rows = append(next.rows, row)
		}
	}
	next.offset = r.Offset()
	return next
}

// row returns the next row like Reader.Next. It is valid until the next call.
func (a *ahead[T]) row() (*Row[T], error) {
	for a.next == len(a.part.rows) {
		if a.part.err != nil {
			return nil, a.part.err
		}
		if a.part.rows != nil {
			a.used <- a.part.rows[:0]
		}
		a.part, a.next = <-a.parts, 0
	}
	a.next++
	return &a.part.rows[a.next-1], nil
}

// offset is like Reader.Offset, up to the rows that were handed over.
func (a *ahead[T]) offset() int64 { return a.part.offset }

// close stops reading, at the latest after the row that is being read.
func (a *ahead[T]) close() {
	close(a.stop)
	for range a.parts { // closed when the reader has stopped
	}
}
