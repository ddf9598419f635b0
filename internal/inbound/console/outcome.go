package console

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// outcome is what the question before an act says about the access of a learner.
type outcome struct {
	Changes bool // some access ends or opens
	Lines   []accessLine
	More    int64 // lines that are not shown
}

// accessLine is what an act does to the access to one product.
type accessLine struct {
	Product string
	Effect  lyceum.AccessEffect
	Ends    lyceum.Opt[time.Time] // after the act
	Through string                // what gives access after the act; empty for nothing
}

// promise stands for the outcome and what else a page says will happen, in a form that
// is sent with it.
func (o *outcome) promise(said ...string) string {
	b := fmt.Appendf(nil, "%q %d", said, o.More)
	for i := range o.Lines {
		line := &o.Lines[i]
		b = fmt.Appendf(b, "%q %q %q", line.Product, line.Effect, line.Through)
		if line.Ends.Present && line.Effect != lyceum.AccessEnds { // that is now
			b = lyceum.AppendTime(b, line.Ends.Value)
		}
	}
	return lyceum.Fingerprint(string(b))
}

// outcomeRows is how many products a question names, at most.
const outcomeRows = 100

// outcomeFirst is how many products are shown before the others are unfolded: the
// buttons of the question stay in sight.
const outcomeFirst = 10

// First returns the lines that are always shown. One line is not folded by itself.
func (o outcome) First() []accessLine {
	if len(o.Lines) <= outcomeFirst+1 {
		return o.Lines
	}
	return o.Lines[:outcomeFirst]
}

// Rest returns the lines that are folded.
func (o outcome) Rest() []accessLine { return o.Lines[len(o.First()):] }

// RestCount is how many lines are folded, with those that are not shown at all.
func (o outcome) RestCount() int64 { return int64(len(o.Rest())) + o.More }

func outcomePage() lyceum.Page { return lyceum.Page{Number: 1, Size: outcomeRows} }

func outcomeOf(p *lyceum.AccessPreview) outcome {
	o := outcome{
		Changes: p.People.Losing+p.People.Gaining > 0, More: p.Changes.Total - int64(len(p.Changes.Rows)),
	}
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

// through says what gives a learner access to a product.
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
