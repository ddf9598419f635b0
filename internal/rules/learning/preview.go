package learning

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Preview returns a page of what an act does to the access of some users, at most
// lyceum.MaxUsers, to some products and what comes with them, or to all products if none are
// given. It rolls the act back, and fails as the act does. A key in by.Once is not used up.
func (s *Service) Preview(
	ctx context.Context, by lyceum.By, p lyceum.Page,
	of func(lyceum.Tx) ([]lyceum.UserID, []lyceum.Product, error), act func(lyceum.Tx, time.Time) error,
) (lyceum.AccessPreview, error) {
	now := s.clock()
	var made []lyceum.AccessChange
	err := s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		users, products, err := of(tx)
		if err == nil {
			products, err = withAll(tx, products)
		}
		if err != nil {
			return err
		}
		was, err := usesOf(tx.Tables, tx, users, products, now)
		if err != nil {
			return err
		}
		if err := act(tx, now); err != nil {
			return err
		}
		is, err := usesOf(tx.Tables, tx, users, products, now)
		if err != nil {
			return err
		}
		made = compare(was, is)
		return errChecked
	})
	if !errors.Is(err, errChecked) {
		return lyceum.AccessPreview{}, err
	}
	return survey(s.store.In(ctx, by.School), now, p, func(visit func(*lyceum.AccessChange) error) error {
		for i := range made {
			if err := visit(&made[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// PreviewUnenroll previews Unenroll.
func (s *Service) PreviewUnenroll(
	ctx context.Context, by lyceum.By, q UserProduct, p lyceum.Page,
) (lyceum.AccessPreview, error) {
	of := func(lyceum.Tx) ([]lyceum.UserID, []lyceum.Product, error) { return []lyceum.UserID{q.User}, nil, nil }
	var ends []lyceum.SaleID
	out, err := s.Preview(ctx, by, p, of, func(tx lyceum.Tx, now time.Time) (err error) {
		_, ends, err = s.UnenrollFrom(tx, now, q.User, q.Product)
		return err
	})
	out.Ends = ends
	return out, err
}

// maxFew is the maximum number of products that are queried one by one; for more, reading
// everything that a user has costs no more.
const maxFew = 16

// withAll returns products and what comes with them.
func withAll(tx lyceum.Tx, products []lyceum.Product) (all []lyceum.Product, err error) {
	for _, p := range products {
		comes, err := reach(tx.Tables, tx, p, true)
		if err != nil {
			return nil, err
		}
		all = append(all, comes...)
	}
	slices.SortFunc(all, compareProducts)
	return slices.Compact(all), nil
}

// use is a user's access to a product.
type use struct {
	user    lyceum.UserID
	product lyceum.Product
}

func compareUses(a, b use) int {
	return cmp.Or(cmp.Compare(a.user, b.user), compareProducts(a.product, b.product))
}

func compareProducts(a, b lyceum.Product) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// uses are the products that users may use, with the open entitlements to each, by id. An
// entitlement that reaches a product in two ways is listed twice.
type uses map[use][]lyceum.Entitlement

// usesOf returns what users may use at the given time: of a few distinct products, or else all.
func usesOf(
	t *lyceum.Tables, from lyceum.Source, users []lyceum.UserID, products []lyceum.Product, now time.Time,
) (uses, error) {
	found := uses{}
	if len(users) == 0 {
		return found, nil
	}
	of := lyceum.EntitlementFilter{Users: users, OpenAt: lyceum.Some(now)}
	own := map[lyceum.EntitlementID]lyceum.Entitlement{}
	err := t.Entitlements.Each(from, of, func(e *lyceum.Entitlement) error {
		own[e.ID] = *e
		return nil
	})
	if err != nil {
		return nil, err
	}
	add := func(e *lyceum.Entitlement) error {
		at := use{e.User, e.Product}
		found[at] = append(found[at], own[e.ID])
		return nil
	}
	if len(products) == 0 || len(products) > maxFew {
		return found, t.Access.Each(from, of, add)
	}
	for _, p := range products { // an index finds one of them
		of.Products = []lyceum.Product{p}
		if err := t.Access.Each(from, of, add); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// compare returns the changes, by user and product. It leaves out access by the same
// entitlements as before, and collections and tiers, since only what is in them is used.
func compare(was, is uses) []lyceum.AccessChange {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.SortFunc(keys, compareUses)
	var made []lyceum.AccessChange
	for _, at := range slices.Compact(keys) {
		if at.product.Holds() || slices.EqualFunc(was[at], is[at], sameUse) {
			continue
		}
		made = append(made, lyceum.AccessChange{
			User: at.user, Product: at.product, Was: spanOf(was[at]), Is: spanOf(is[at]), Keeps: longest(is[at]),
		})
	}
	return made
}

func sameUse(a, b lyceum.Entitlement) bool {
	return a.ID == b.ID && a.Product == b.Product && a.EndsAt.Present == b.EndsAt.Present &&
		a.EndsAt.Value.Equal(b.EndsAt.Value)
}

// spanOf returns the access that open entitlements give.
func spanOf(open []lyceum.Entitlement) lyceum.AccessSpan {
	var u union
	for i := range open {
		u.add(&open[i])
	}
	return lyceum.AccessSpan{Open: u.open, Ends: u.EndsAt}
}

// longest returns the entitlements that last longest, each once.
func longest(open []lyceum.Entitlement) []lyceum.Entitlement {
	kept := slices.CompactFunc(slices.Clone(open), sameUse)
	slices.SortStableFunc(kept, func(a, b lyceum.Entitlement) int {
		switch {
		case a.Outlasts(b.EndsAt):
			return -1
		case b.Outlasts(a.EndsAt):
			return 1
		}
		return 0
	})
	return kept[:min(len(kept), lyceum.MaxKeeps)]
}

// survey counts changes and returns a page of them. each visits them by user and product.
// Changes that leave a user's access as it is come last: if the page has room for them, each is
// called again.
func survey(
	v lyceum.View, now time.Time, p lyceum.Page, each func(func(*lyceum.AccessChange) error) error,
) (lyceum.AccessPreview, error) {
	t := tally{products: map[lyceum.Product]*lyceum.AccessCount{}}
	page, stay := window{page: p, left: p.Offset()}, false
	err := each(func(c *lyceum.AccessChange) error {
		t.add(c)
		if c.Effect() == lyceum.AccessStays {
			stay = true
		} else {
			page.add(c)
		}
		return nil
	})
	if err == nil && stay && !page.full() {
		err = each(func(c *lyceum.AccessChange) error {
			if c.Effect() == lyceum.AccessStays {
				page.add(c)
			}
			if page.full() {
				return errFull
			}
			return nil
		})
	}
	if err != nil && !errors.Is(err, errFull) {
		return lyceum.AccessPreview{}, err
	}
	t.next(0)
	return t.preview(v, now, &page)
}

// errFull ends a visit once a page has all its rows.
var errFull = errors.New("the page is full")

// window collects the rows of a page.
type window struct {
	page lyceum.Page
	left int64 // rows before the page that are still to be skipped
	rows []lyceum.AccessChange
}

func (w *window) full() bool { return len(w.rows) >= int(w.page.Size) }

func (w *window) add(c *lyceum.AccessChange) {
	switch {
	case w.left > 0:
		w.left--
	case !w.full():
		w.rows = append(w.rows, *c)
	}
}

// tally counts changes, which must arrive grouped by user.
type tally struct {
	total        int64
	people       lyceum.AccessCount
	products     map[lyceum.Product]*lyceum.AccessCount
	user         lyceum.UserID // whose changes are being counted; 0 for none
	loses, gains bool
}

func (t *tally) add(c *lyceum.AccessChange) {
	t.next(c.User)
	of, there := t.products[c.Product]
	if !there {
		of = &lyceum.AccessCount{}
		t.products[c.Product] = of
	}
	effect := c.Effect()
	loses := effect == lyceum.AccessEnds || effect == lyceum.AccessEndsEarlier
	gains := effect == lyceum.AccessOpens || effect == lyceum.AccessEndsLater
	of.Add(loses, gains)
	t.total++
	t.loses, t.gains = t.loses || loses, t.gains || gains
}

// next counts the current user if the changes of another one begin.
func (t *tally) next(user lyceum.UserID) {
	if user == t.user {
		return
	}
	if t.user != 0 {
		t.people.Add(t.loses, t.gains)
	}
	t.user, t.loses, t.gains = user, false, false
}

// preview returns the counts with a page of changes.
func (t *tally) preview(v lyceum.View, now time.Time, w *window) (lyceum.AccessPreview, error) {
	out := lyceum.AccessPreview{
		At: lyceum.Second(now), People: t.people,
		Changes: lyceum.Listing[lyceum.AccessChange]{
			Page: w.page, Total: t.total, Rows: w.rows, More: w.page.Offset()+int64(len(w.rows)) < t.total,
		},
	}
	for product, count := range t.products {
		out.Products = append(out.Products, lyceum.ProductAccess{Product: product, AccessCount: *count})
	}
	slices.SortFunc(out.Products, func(a, b lyceum.ProductAccess) int { return compareProducts(a.Product, b.Product) })
	return out, name(v, &out)
}

// name adds the names of the users and products to a preview.
func name(v lyceum.View, p *lyceum.AccessPreview) error {
	var users []lyceum.UserID
	var products []lyceum.Product
	for i := range p.Products {
		products = append(products, p.Products[i].Product)
	}
	for i := range p.Changes.Rows {
		users = append(users, p.Changes.Rows[i].User)
		for _, e := range p.Changes.Rows[i].Keeps {
			products = append(products, e.Product)
		}
	}
	slices.Sort(users)
	slices.SortFunc(products, compareProducts)
	var err error
	if p.Users, err = v.UserSummaries.Find(v, slices.Compact(users)...); err != nil {
		return err
	}
	p.Names, err = lyceum.FindProducts(v.Tables, v, slices.Compact(products)...)
	return err
}
