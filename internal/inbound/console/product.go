package console

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// kindLabels are the labels of the kinds of products.
var kindLabels = map[lyceum.ProductKind]string{
	lyceum.CourseKind: "Course", lyceum.DownloadKind: "Digital download", lyceum.CollectionKind: "Product collection",
	lyceum.TierKind: "Membership tier", lyceum.CoachingKind: "Coaching",
}

// choice is one value to choose from.
type choice struct {
	Value, Label string
	Chosen       bool
}

// Kinds returns the kinds of products to choose from, for the field with the given name.
func (f *form) Kinds(field string) []choice {
	var list []choice
	for _, kind := range lyceum.ProductKinds() {
		list = append(list, choice{string(kind), kindLabels[kind], f.Values[field] == string(kind)})
	}
	return list
}

// productLabel returns the name of a product, or its number if it has none.
func productLabel(p lyceum.ProductInfo) string {
	name := strings.TrimSpace(p.Name)
	if name == "" {
		name = strconv.Itoa(int(p.Product.ID))
	}
	return name
}

// maxProducts is the maximum number of matching products that a message lists.
const maxProducts = 5

// exactly returns the name of a product with its kind and number.
func exactly(p lyceum.ProductInfo) string {
	return fmt.Sprintf("%s (%s %d)", productLabel(p), p.Product.Kind.Name(), p.Product.ID)
}

// product finds the product whose kind was chosen and whose name, part of its name, or number
// was typed. It does not use the search of the transactions filter, which does not cover
// products of every kind.
func (c *console) product(
	ctx context.Context, v *visit, kindText, text string,
) (p lyceum.Product, wrong string, err error) {
	kind := lyceum.ProductKind(kindText)
	text = strings.TrimSpace(text)
	switch {
	case !kind.Known():
		return p, "is required; choose its kind and type its name", nil
	case text == "":
		return p, "is required; type its name, a part of it, or its number", nil
	case len(text) > maxEmail || !lyceum.IsText(text):
		return p, "matches nothing; type a part of the name, or the number", nil
	}
	if id, ok := parseID[lyceum.CourseID](text); ok {
		return lyceum.Product{Kind: kind, ID: int32(id)}, "", nil
	}
	found, err := c.Learning.SearchProducts(ctx, v.by(), kind, text, lyceum.Page{Number: 1, Size: maxProducts + 1})
	if err != nil {
		return p, "", err
	}
	exact := slices.DeleteFunc(slices.Clone(found), func(p lyceum.ProductInfo) bool {
		return !strings.EqualFold(strings.TrimSpace(p.Name), text)
	})
	switch {
	case len(exact) == 1 && len(found) <= maxProducts:
		return exact[0].Product, "", nil
	case len(found) == 1:
		return found[0].Product, "", nil
	case len(found) == 0:
		return p, "matches nothing; type a part of the name, or the number", nil
	}
	var names []string
	for _, one := range found[:min(len(found), maxProducts)] {
		names = append(names, fmt.Sprintf("%s (number %d)", productLabel(one), one.Product.ID))
	}
	if len(found) > maxProducts {
		names = append(names, "and others")
	}
	return p, "matches several; type the number of one: " + strings.Join(names, ", "), nil
}

// lastDay parses the last day of something in the school's time zone, and returns the moment
// after it, at most lyceum.Latest.
func lastDay(text string, zone *time.Location) (end lyceum.Opt[time.Time], wrong string) {
	if text == "" {
		return end, ""
	}
	day, err := lyceum.ParseDay(text)
	if err != nil {
		return end, "must be a day such as 2026-12-31"
	}
	until := lyceum.Days(lyceum.None[lyceum.Day](), lyceum.Some(day), zone).Until
	return lyceum.Some(lyceum.NotAfterLatest(until.Add(time.Second))), ""
}
