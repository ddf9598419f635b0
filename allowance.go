package lyceum

import "context"

// Allowance grants memory to whoever reads rows for an answer whose size
// nobody knows beforehand, and a turn to make it.
type Allowance interface {
	// Pause lets others have the turn while there is nothing to make.
	Pause()
	// Resume waits for a turn after Pause; it fails with Unavailable when none
	// came.
	Resume() error
	// Allow fails with Unavailable when there is no room for more bytes.
	Allow(ctx context.Context, bytes int) error
}

// AllowanceKey finds the Allowance of a context. A context without one, such as
// that of a command, grants everything.
type AllowanceKey struct{}

// AllowanceOf gives the Allowance of a context; nil when it has none.
func AllowanceOf(ctx context.Context) Allowance {
	a, _ := ctx.Value(AllowanceKey{}).(Allowance)
	return a
}

// Passing returns a context for reading many rows of which few are kept: they need
// no room.
func Passing(ctx context.Context) context.Context { return context.WithValue(ctx, AllowanceKey{}, nil) }

// AnswerBytes is where a list ends whose rows have no fixed size: an answer
// holds no more bytes of JSON than this and one row.
const AnswerBytes = 4 << 20

// Weight is how many bytes texts take in JSON.
func Weight(texts ...string) int {
	n := 0
	for _, text := range texts {
		n += len(text) + 2
		for i := range len(text) {
			switch c := text[i]; {
			case c < ' ' || c == '"' || c == '\\' || c == '&' || c == '<' || c == '>':
				n += 5 // \u003c
			case c == 0xE2:
				n += 3 // perhaps a line separator, \u2028
			}
		}
	}
	return n
}
