package console

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// outcome is what a confirmation page says about the effect of an action on a learner's access.
type outcome struct {
	folded[accessLine]

	Changes bool // some access ends or begins
}

// accessLine is the effect of an action on the access to one product.
type accessLine struct {
	Product string
	Effect  lyceum.AccessEffect
	Ends    lyceum.Opt[time.Time] // after the action
	Through string                // what gives access after the action; empty for nothing
}

// promise returns a fingerprint of the outcome and of everything else that a page says will
// happen, for a form to send back.
func (o *outcome) promise(said ...string) string {
	b := fmt.Appendf(nil, "%q %d", said, o.More)
	for i := range o.Lines {
		line := &o.Lines[i]
		b = fmt.Appendf(b, "%q %q %q", line.Product, line.Effect, line.Through)
		if line.Ends.Present && line.Effect != lyceum.AccessEnds { // which is now
			b = lyceum.AppendTime(b, line.Ends.Value)
		}
	}
	return lyceum.Fingerprint(string(b))
}

// outcomeRows is the maximum number of products that a confirmation page lists.
const outcomeRows = 100

// outcomeFirst is how many products are shown before the others are folded, so that the buttons
// stay in sight.
const outcomeFirst = 10

// folded is what a page lists of the effects of an action.
type folded[T any] struct {
	Lines []T
	More  int64 // lines that are not shown
}

// First returns the lines that are always shown. A single line is never folded.
func (f folded[T]) First() []T {
	if len(f.Lines) <= outcomeFirst+1 {
		return f.Lines
	}
	return f.Lines[:outcomeFirst]
}

// Rest returns the lines that are folded.
func (f folded[T]) Rest() []T { return f.Lines[len(f.First()):] }

// RestCount returns how many lines are folded, including those that are not shown at all.
func (f folded[T]) RestCount() int64 { return int64(len(f.Rest())) + f.More }

func outcomePage() lyceum.Page { return lyceum.Page{Number: 1, Size: outcomeRows} }

func outcomeOf(p *lyceum.AccessPreview) outcome {
	o := outcome{Changes: p.People.Losing+p.People.Gaining > 0}
	o.More = p.Changes.Total - int64(len(p.Changes.Rows))
	for i := range p.Changes.Rows {
		c := &p.Changes.Rows[i]
		made := accessLine{Product: p.Names[c.Product].Name, Effect: c.Effect(), Ends: c.Is.Ends}
		if len(c.Keeps) > 0 {
			made.Through = through(p, c, &c.Keeps[0])
		}
		o.Lines = append(o.Lines, made)
	}
	return o
}

// through describes what gives a learner access to a product.
func through(p *lyceum.AccessPreview, c *lyceum.AccessChange, e *lyceum.Entitlement) string {
	reason := "an enrollment by hand"
	switch {
	case e.Sale.Present:
		reason = fmt.Sprintf("sale %d", e.Sale.Value)
	case e.Imported:
		reason = "an imported enrollment"
	}
	if e.Product != c.Product {
		reason += " of " + p.Names[e.Product].Name
	}
	return reason
}
