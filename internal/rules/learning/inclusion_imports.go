package learning

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// Import begins an import of the products in collections or tiers. A row without an id is
// matched by its product and its collection or tier. Archived products are allowed.
func (i Inclusions[ID, In]) Import(by lyceum.By) *Rows[lyceum.Inclusion[ID, In]] {
	type row = lyceum.Inclusion[ID, In]
	before := saidInclusions[ID, In]{}
	return &Rows[row]{i.service, by, shape[row]{
		what: "products of " + i.in.what + "s", names: []reference[row]{i.in},
		look: func(tx lyceum.Tx, rows []row) ([]lyceum.RowProblem, error) {
			problems, err := unknownProducts(tx.Tables, tx, rows, func(r *row) lyceum.Opt[lyceum.Product] {
				return lyceum.Some(r.Product)
			})
			if err != nil {
				return nil, err
			}
			return others(rows, problems, func(good []row) ([]lyceum.RowProblem, error) {
				return i.identify(tx, good, before)
			})
		},
		save: func(tx lyceum.Tx, rows []row, now time.Time) (lyceum.Saved, error) {
			kept, err := i.rows(tx.Tables).Find(tx, idsOf(rows, func(r *row) ID { return r.ID })...)
			if err != nil {
				return lyceum.Saved{}, err
			}
			for n := range rows {
				old, there := kept[rows[n].ID]
				rows[n].CreatedAt = firstTime(rows[n].CreatedAt, old.CreatedAt, lyceum.Second(now))
				if rows[n].Settled = old.Settled; !there || old.Leaving.Present {
					rows[n].Settled = lyceum.Some[lyceum.EntitlementID](0)
				}
			}
			saved, err := i.rows(tx.Tables).Save(tx, rows...)
			if err != nil || saved.Created+saved.Updated == 0 {
				return saved, err
			}
			return saved, i.relink(tx, rows)
		},
		earlier: before,
	}}
}

// saidInclusions has the products from the file that are not in the database yet, by collection
// or tier.
type saidInclusions[ID, In ~int32] map[In]map[lyceum.Product]struct{}

func (s saidInclusions[ID, In]) add(rows []lyceum.Inclusion[ID, In]) {
	for n := range rows {
		in := rows[n].In
		if s[in] == nil {
			s[in] = map[lyceum.Product]struct{}{}
		}
		s[in][rows[n].Product] = struct{}{}
	}
}

func (s saidInclusions[ID, In]) forget() { clear(s) }

func idsOf[ID, T any](rows []T, id func(*T) ID) []ID {
	ids := make([]ID, len(rows))
	for n := range rows {
		ids[n] = id(&rows[n])
	}
	return ids
}

// included tracks the products in collections or tiers during an import.
type included[ID, In ~int32] struct {
	id    map[ProductIn[In]]ID
	row   map[ID]ProductIn[In]
	count map[In]int
	kept  map[ID]bool // leaving, with users who keep them
}

func (k *included[ID, In]) add(id ID, p ProductIn[In]) {
	if _, there := k.row[id]; !there {
		k.id[p], k.row[id] = id, p
		k.count[p.In]++
	}
}

// included reads what is in the collections or tiers of rows, and the stored rows with their
// ids.
func (i Inclusions[ID, In]) included(
	tx lyceum.Tx, rows []lyceum.Inclusion[ID, In], before saidInclusions[ID, In],
) (*included[ID, In], error) {
	type row = lyceum.Inclusion[ID, In]
	k := &included[ID, In]{map[ProductIn[In]]ID{}, map[ID]ProductIn[In]{}, map[In]int{}, map[ID]bool{}}
	add := func(r *row) error {
		k.kept[r.ID] = keeps(*r)
		_, known := k.row[r.ID]
		if k.add(r.ID, ProductIn[In]{r.In, r.Product}); !known && r.Leaving.Present {
			k.count[r.In]--
		}
		return nil
	}
	read := map[In]bool{}
	for n := range rows {
		in := rows[n].In
		if read[in] {
			continue
		}
		read[in] = true
		of := lyceum.InclusionFilter[In]{In: lyceum.Some(in), Leaving: true}
		if err := i.rows(tx.Tables).Each(tx, of, add); err != nil {
			return nil, err
		}
		for product := range before[in] {
			if _, there := k.id[ProductIn[In]{in, product}]; !there {
				k.count[in]++
			}
		}
	}
	others, err := i.rows(tx.Tables).Find(tx, idsOf(rows, func(r *row) ID { return r.ID })...)
	for _, other := range others {
		_ = add(&other)
	}
	return k, err
}

// identify assigns ids to the rows without one. It returns a problem for each row that would
// change another product's row, whose product is in already, or that exceeds the maximum.
func (i Inclusions[ID, In]) identify(
	tx lyceum.Tx, rows []lyceum.Inclusion[ID, In], before saidInclusions[ID, In],
) (problems []lyceum.RowProblem, err error) {
	k, err := i.included(tx, rows, before)
	if err != nil {
		return nil, err
	}
	for n := range rows {
		r := &rows[n]
		key := ProductIn[In]{r.In, r.Product}
		same, there := k.id[key]
		before, known := k.row[r.ID]
		switch {
		case there && k.kept[same]:
			problems = append(problems, problem(
				n, "product_id", "%d is being removed from %s, and those who have it keep it: import it again when that is done",
				r.Product.ID, i.named(r.In),
			))
		case r.ID == 0 && there:
			r.ID = same
		case known && before != key:
			problems = append(problems, problem(n, "id", "%d is %s in %s", r.ID, before.Product, i.named(before.In)))
		case there && same != r.ID:
			problems = append(problems, problem(
				n, "product_id", "%d is in %s already, with id %d", r.Product.ID, i.named(r.In), same,
			))
		case !there && k.count[r.In] >= lyceum.MaxIncluded:
			problems = append(problems, problem(
				n, i.in.field, "%d has %d products, the most that it can have", r.In, lyceum.MaxIncluded,
			))
		case r.ID == 0:
			if r.ID, err = i.rows(tx.Tables).NextID(tx); err != nil {
				return nil, err
			}
			k.add(r.ID, key)
		default:
			k.add(r.ID, key)
		}
	}
	return problems, nil
}
