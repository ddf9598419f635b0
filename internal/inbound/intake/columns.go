package intake

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// idColumn returns a column of required ids.
func idColumn[T any, I ~int32](name string, at func(*T) *I) column[T] {
	return column[T]{
		name: name, required: true,
		read: func(_ *memo, c cell, v *T) string {
			n, ok := c.positive()
			if !ok {
				return idTaken
			}
			*at(v) = I(n)
			return ""
		},
		write: func(e *encoder, v *T) { e.integer(int64(*at(v))) },
	}
}

// optIDColumn returns a column of ids, or of other integers from 1, that may be null.
func optIDColumn[T any, I ~int32](name string, at func(*T) *lyceum.Opt[I]) column[T] {
	return column[T]{
		name: name, nullable: true,
		read: func(_ *memo, c cell, v *T) string {
			n, ok := c.positive()
			if !ok {
				return idTaken
			}
			*at(v) = lyceum.Some(I(n))
			return ""
		},
		write: func(e *encoder, v *T) {
			if o := at(v); o.Present {
				e.integer(int64(o.Value))
			} else {
				e.null()
			}
		},
	}
}

// amountColumn returns a column of required amounts of money within int32.
func amountColumn[T any, A ~int64](name string, at func(*T) *A) column[T] {
	return column[T]{
		name: name, required: true,
		read: func(_ *memo, c cell, v *T) string {
			n, ok := c.integer()
			if !ok {
				return amountTaken
			}
			*at(v) = A(n)
			return ""
		},
		write: func(e *encoder, v *T) { e.integer(int64(*at(v))) },
	}
}

// optAmountColumn returns a column of amounts of money that may be null.
func optAmountColumn[T any, A ~int64](name string, at func(*T) *lyceum.Opt[A]) column[T] {
	return column[T]{
		name: name, nullable: true,
		read: func(_ *memo, c cell, v *T) string {
			n, ok := c.integer()
			if !ok {
				return amountTaken
			}
			*at(v) = lyceum.Some(A(n))
			return ""
		},
		write: func(e *encoder, v *T) {
			if o := at(v); o.Present {
				e.integer(int64(o.Value))
			} else {
				e.null()
			}
		},
	}
}

func timeColumn[T any](name string, at func(*T) *time.Time) column[T] {
	return column[T]{
		name: name, required: true,
		read: func(_ *memo, c cell, v *T) string {
			t, err := lyceum.ParseTime(string(c.text))
			if err != nil {
				return lyceum.Public(err).Detail
			}
			*at(v) = t
			return ""
		},
		write: func(e *encoder, v *T) { e.time(*at(v)) },
	}
}

func optTimeColumn[T any](name string, at func(*T) *lyceum.Opt[time.Time]) column[T] {
	return column[T]{
		name: name, nullable: true,
		read: func(_ *memo, c cell, v *T) string {
			t, err := lyceum.ParseTime(string(c.text))
			if err != nil {
				return lyceum.Public(err).Detail
			}
			*at(v) = lyceum.Some(t)
			return ""
		},
		write: func(e *encoder, v *T) {
			if o := at(v); o.Present {
				e.time(o.Value)
			} else {
				e.null()
			}
		},
	}
}

func booleanColumn[T any](name string, at func(*T) *bool) column[T] {
	return column[T]{
		name: name, required: true,
		read: func(_ *memo, c cell, v *T) string {
			b, ok := c.boolean()
			if !ok {
				return booleanTaken
			}
			*at(v) = b
			return ""
		},
		write: func(e *encoder, v *T) { e.boolean(*at(v)) },
	}
}

func optBooleanColumn[T any](name string, at func(*T) *lyceum.Opt[bool]) column[T] {
	return column[T]{
		name: name, nullable: true,
		read: func(_ *memo, c cell, v *T) string {
			b, ok := c.boolean()
			if !ok {
				return booleanTaken
			}
			*at(v) = lyceum.Some(b)
			return ""
		},
		write: func(e *encoder, v *T) {
			if o := at(v); o.Present {
				e.boolean(o.Value)
			} else {
				e.null()
			}
		},
	}
}

// textColumn returns a column of required free text, which may be empty.
func textColumn[T any](name string, at func(*T) *string) column[T] {
	return column[T]{
		name: name, required: true, text: true,
		read: func(_ *memo, c cell, v *T) (problem string) {
			*at(v), problem = c.string()
			return problem
		},
		write: func(e *encoder, v *T) { e.text(*at(v)) },
	}
}

func optTextColumn[T any, S ~string](name string, at func(*T) *lyceum.Opt[S]) column[T] {
	return column[T]{
		name: name, nullable: true, text: true,
		read: func(_ *memo, c cell, v *T) string {
			s, problem := c.string()
			*at(v) = lyceum.Some(S(s))
			return problem
		},
		write: func(e *encoder, v *T) {
			if o := at(v); o.Present {
				e.text(string(o.Value))
			} else {
				e.null()
			}
		},
	}
}

func earlierTermsColumn(name string) column[lyceum.PricingPlan] {
	at := func(p *lyceum.PricingPlan) *lyceum.Opt[lyceum.EarlierTerms] { return &p.EarlierTerms }
	k := optTextColumn(name, at)
	read := k.read
	k.read = func(m *memo, c cell, p *lyceum.PricingPlan) string {
		if problem := read(m, c, p); problem != "" {
			return problem
		}
		if at(p).Present {
			if problem := at(p).Value.Problem(); problem != "" {
				return problem
			}
			at(p).Value = at(p).Value.Uniform()
		}
		return ""
	}
	return k
}

func emailColumn[T any](name string, at func(*T) *string) column[T] {
	k := textColumn(name, at)
	k.read = func(_ *memo, c cell, v *T) (problem string) {
		*at(v), problem = c.email()
		return problem
	}
	return k
}

func currencyColumn[T any](name string, at func(*T) *lyceum.Currency) column[T] {
	return column[T]{
		name: name, required: true,
		read: func(m *memo, c cell, v *T) (problem string) {
			*at(v), problem = c.currency(m)
			return problem
		},
		write: func(e *encoder, v *T) { e.word(string(*at(v))) },
	}
}
