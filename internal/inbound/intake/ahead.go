package intake

const (
	// aheadRows is how many rows are handed over at a time.
	aheadRows = 256
	// aheadParts is how often rows are read before those of before are asked for: together
	// they are the next batch of an import.
	aheadParts = 40
)

// rowSource gives the rows of a file one after the other.
type rowSource[T any] interface {
	Next() (Row[T], error)
	Offset() int64
	place() section
}

// ahead reads rows while those before them are checked or stored.
type ahead[T any] struct {
	parts chan part[T]
	used  chan []Row[T] // to be filled again
	stop  chan struct{}

	part part[T]
	next int // row of the part
}

// part is some rows of a file, one after the other.
type part[T any] struct {
	rows   []Row[T]
	at     section // that begins with them
	offset int64   // of the source behind the rows
	err    error   // ends the file behind the rows
}

// readAhead begins to read. The source belongs to it until close returns.
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

// row gives the next row as Reader.Next does. It is valid until the next call.
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

// offset is Reader.Offset, at most as far as the rows that were handed over.
func (a *ahead[T]) offset() int64 { return a.part.offset }

// close ends reading, at the latest with the row that is being read.
func (a *ahead[T]) close() {
	close(a.stop)
	for range a.parts { // closed when the reader has let go
	}
}
