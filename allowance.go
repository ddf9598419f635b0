package lyceum

import "context"

// Allowance limits how much memory and concurrency the building of responses takes. A request
// whose response has no known size asks it for memory while reading rows, and for a turn to
// build the response.
type Allowance interface {
	// Pause releases the turn while there is nothing to build.
	Pause()
	// Resume waits for a turn after Pause. It fails with Unavailable if it gets none.
	Resume() error
	// Allow reserves more bytes. It fails with Unavailable if there is not enough memory.
	Allow(ctx context.Context, bytes int) error
}

// AllowanceKey is the context key of an Allowance. A context without one, such as a command's,
// has no limits.
type AllowanceKey struct{}

// AllowanceOf returns the Allowance of ctx, or nil if it has none.
func AllowanceOf(ctx context.Context) Allowance {
	a, _ := ctx.Value(AllowanceKey{}).(Allowance)
	return a
}

// Passing returns a context without an Allowance, for reading many rows of which few are kept
// in memory.
func Passing(ctx context.Context) context.Context { return context.WithValue(ctx, AllowanceKey{}, nil) }

// ResponseBytes is the size at which a list of rows without a fixed size ends: a response has at
// most this many bytes of JSON, plus one row.
const ResponseBytes = 4 << 20

// Weight returns the size of the texts in JSON, in bytes.
func Weight(texts ...string) int {
	n := 0
	for _, text := range texts {
		n += len(text) + 2
		for i := range len(text) {
			switch c := text[i]; {
			case c < ' ' || c == '"' || c == '\\' || c == '&' || c == '<' || c == '>':
				n += 5 // \u003c
			case c == 0xE2:
				n += 3 // may be a line separator, \u2028
			}
		}
	}
	return n
}
