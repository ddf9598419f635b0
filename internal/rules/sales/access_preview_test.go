package sales_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// said is the result of a preview, or the error.
type said struct {
	lyceum.AccessPreview
	err error
}

// ask previews an act, which must change nothing.
func (m *union) ask(t *testing.T, preview func() (lyceum.AccessPreview, error)) said {
	before := m.b.last(t)
	p, err := preview()
	if after := m.b.last(t); after != before {
		m.r.Fatalf("a preview appended %d entries", after-before)
	}
	m.previews++
	return said{p, err}
}

// try previews an act on a sale, does it, updates the model, and compares the three.
func try[Q, A any](
	m *union, t *testing.T, name string, q Q,
	preview func(context.Context, lyceum.By, Q, lyceum.Page) (sales.Preview, error),
	act func(context.Context, lyceum.By, Q) (A, error), follow func(A, error),
) {
	was := m.spans()
	said := m.ask(t, func() (lyceum.AccessPreview, error) {
		p, err := preview(t.Context(), m.b.by(), q, firstPage)
		return p.AccessPreview, err
	})
	a, err := act(t.Context(), m.b.by(), q)
	follow(a, err)
	m.happened(name, said, err, was)
}

// spans returns everybody's access to every course and to the coaching, according to the model.
func (m *union) spans() map[[2]int32]lyceum.AccessSpan {
	all := map[[2]int32]lyceum.AccessSpan{}
	for user := lyceum.UserID(1); user <= 3; user++ {
		for course := lyceum.CourseID(1); course <= coach; course++ {
			_, end, open := m.of(user, course)
			span := lyceum.AccessSpan{Open: open}
			if open && !end.IsZero() {
				span.Ends = some(end)
			}
			all[[2]int32{int32(user), int32(course)}] = span
		}
	}
	return all
}

// happened compares a preview with what the act did, given the access before it and the error
// of the act.
func (m *union) happened(act string, p said, err error, was map[[2]int32]lyceum.AccessSpan) {
	if (p.err == nil) != (err == nil) || err != nil && p.err.Error() != err.Error() {
		m.r.Fatalf("%s: the preview answered %v, the act %v", act, p.err, err)
	}
	if err != nil {
		return
	}
	want, got := map[string]string{}, map[string]string{}
	losing := map[lyceum.UserID]bool{}
	for key, now := range m.spans() {
		c := lyceum.AccessChange{Was: was[key], Is: now}
		effect := c.Effect()
		if effect == lyceum.AccessStays {
			continue
		}
		if effect == lyceum.AccessEnds || effect == lyceum.AccessEndsEarlier {
			losing[lyceum.UserID(key[0])] = true
		}
		want[fmt.Sprint(key)] = fmt.Sprint(effect, " ", now.Ends.Present, now.Ends.Value.Unix())
	}
	var counted lyceum.AccessCount
	for i := range p.Changes.Rows {
		c := &p.Changes.Rows[i]
		if effect := c.Effect(); effect != lyceum.AccessStays {
			got[fmt.Sprint([2]int32{int32(c.User), c.Product.ID})] = fmt.Sprint(effect, " ", c.Is.Ends.Present, c.Is.Ends.Value.Unix())
		}
		if c.Is.Open != (len(c.Keeps) > 0) {
			m.r.Fatalf("%s: access is open %v, and kept by %v", act, c.Is.Open, c.Keeps)
		}
	}
	for _, of := range p.Products {
		counted.Losing += of.Losing
		counted.Keeping += of.Keeping
		counted.Gaining += of.Gaining
	}
	for _, c := range p.Changes.Rows {
		if key := [2]int32{int32(c.User), c.Product.ID}; c.Effect() == lyceum.AccessStays && !(was[key].Open && m.spans()[key].Open) {
			m.r.Fatalf("%s: user %d keeps %s, which is not open", act, c.User, c.Product)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.r.Fatalf("%s (-act +preview):\n%s", act, diff)
	}
	if p.People.Losing != int64(len(losing)) || p.Changes.Total != counted.Losing+counted.Keeping+counted.Gaining || int64(len(p.Changes.Rows)) != p.Changes.Total {
		m.r.Fatalf("%s: %d people lose access; the preview counts %+v, and of products %+v in %d rows", act, len(losing), p.People, counted, p.Changes.Total)
	}
}
