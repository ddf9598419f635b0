package learning

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Products has the rules for the products of one kind, or for memberships, whose tiers are
// products. F narrows a list of them.
type Products[ID ~int32, T comparable, F any] struct {
	service *Service
	what    string // the name in messages, such as membership tier
	rows    func(*lyceum.Tables) lyceum.Table[ID, T, F]
	parts   func(*T) productParts[ID]
	// author is the name of the author's field in errors; empty: the kind has no author.
	author string
	// names and look are used by imports.
	names []reference[T]
	look  func(lyceum.Tx, []T) ([]lyceum.RowProblem, error)
	// check rejects or completes a row before it is saved; it may be nil.
	check func(lyceum.Tx, *T) error
	// current hides archived products, except from Archive.
	current bool
}

// productParts are the fields of a product that the rules write.
type productParts[ID ~int32] struct {
	id               *ID
	created, updated *time.Time
	archived         *lyceum.Opt[time.Time]
	author           *lyceum.Opt[lyceum.AuthorID] // nil if the kind has none
	image            *lyceum.Opt[string]          // nil if the kind has none
}

// Edit is a change to a product or a part of one. Apply sets the requested fields, and may run
// more than once.
type Edit[ID, T any] struct {
	ID    ID
	Apply func(*T)
}

// Current returns the rules for products that are not archived.
func (p Products[ID, T, F]) Current() Products[ID, T, F] {
	p.current = true
	return p
}

// AuthorAs returns the rules with another name for the author's field in errors.
func (p Products[ID, T, F]) AuthorAs(field string) Products[ID, T, F] {
	p.author = field
	return p
}

// List returns a page of the products that pass a filter.
func (p Products[ID, T, F]) List(
	ctx context.Context, by lyceum.By, f F, page lyceum.Page,
) (lyceum.Listing[T], error) {
	v := p.service.store.In(ctx, by.School)
	return p.rows(v.Tables).List(v, f, page)
}

// Get returns a product. It fails with NotFound.
func (p Products[ID, T, F]) Get(ctx context.Context, by lyceum.By, id ID) (T, error) {
	v := p.service.store.In(ctx, by.School)
	return p.get(v.Tables, v, id)
}

func (p Products[ID, T, F]) get(t *lyceum.Tables, from lyceum.Source, id ID) (T, error) {
	row, err := p.rows(t).Get(from, id)
	if err == nil && p.current && p.parts(&row).archived.Present {
		err = lyceum.Errorf(lyceum.NotFound, "there is no %s %d", p.what, id)
	}
	return row, err
}

// Create creates a product. It fails with Invalid for an unknown author.
func (p Products[ID, T, F]) Create(ctx context.Context, by lyceum.By, row T) (T, error) {
	return p.create(ctx, by, row, func(lyceum.Tx, *T) error { return nil })
}

// create creates a product after complete has filled in the rest of it.
func (p Products[ID, T, F]) create(
	ctx context.Context, by lyceum.By, row T, complete func(lyceum.Tx, *T) error,
) (T, error) {
	now := lyceum.Second(p.service.clock())
	return lyceum.Change(ctx, p.service.store, by.Stamp(now), func(tx lyceum.Tx) (T, error) {
		fresh := row
		parts := p.parts(&fresh)
		*parts.created, *parts.updated = now, now
		if err := complete(tx, &fresh); err != nil {
			return fresh, err
		}
		if err := p.knownAuthor(tx, parts); err != nil {
			return fresh, err
		}
		id, err := p.rows(tx.Tables).NextID(tx)
		if err != nil {
			return fresh, err
		}
		*parts.id = id
		if err := p.service.namePicture(tx, "image_url", parts.image, nil); err != nil {
			return fresh, err
		}
		if err := p.checked(tx, &fresh); err != nil {
			return fresh, err
		}
		return fresh, p.rows(tx.Tables).Insert(tx, fresh)
	})
}

// knownAuthor rejects an author that the school does not have.
func (p Products[ID, T, F]) knownAuthor(tx lyceum.Tx, parts productParts[ID]) error {
	if parts.author == nil || !parts.author.Present {
		return nil
	}
	known, err := tx.Authors.Find(tx, parts.author.Value)
	if err == nil && len(known) == 0 {
		err = lyceum.InvalidFields(lyceum.FieldError{Field: p.author, Message: "must be the id of an author of the school"})
	}
	return err
}

// checked runs the check of this kind of products before a row is saved.
func (p Products[ID, T, F]) checked(tx lyceum.Tx, row *T) error {
	if p.check == nil {
		return nil
	}
	return p.check(tx, row)
}

// Update changes a product. It fails with NotFound, and with Invalid for an
// unknown author.
func (p Products[ID, T, F]) Update(ctx context.Context, by lyceum.By, e Edit[ID, T]) (T, error) {
	now := lyceum.Second(p.service.clock())
	return lyceum.Change(ctx, p.service.store, by.Stamp(now), func(tx lyceum.Tx) (T, error) {
		row, err := p.get(tx.Tables, tx, e.ID)
		if err != nil {
			return row, err
		}
		before := row
		e.Apply(&row)
		parts := p.parts(&row)
		err = p.service.namePicture(tx, "image_url", parts.image, p.parts(&before).image)
		if err != nil || row == before {
			return row, err
		}
		if err := p.knownAuthor(tx, parts); err != nil {
			return row, err
		}
		if err := p.checked(tx, &row); err != nil {
			return row, err
		}
		*parts.updated = now
		_, err = p.rows(tx.Tables).Save(tx, row)
		return row, err
	})
}

// Archive archives a product, so that it cannot be sold. Users who have access keep it.
// Archiving it again changes nothing. It fails with NotFound.
func (p Products[ID, T, F]) Archive(ctx context.Context, by lyceum.By, id ID) (T, error) {
	p.current = false
	now := lyceum.Second(p.service.clock())
	return p.Update(ctx, by, Edit[ID, T]{id, func(row *T) {
		archived := p.parts(row).archived
		*archived = archived.Or(now)
	}})
}

// Import begins an import. What a row leaves out (when it was created, updated and archived)
// stays unchanged for a known product; a new one is created now.
func (p Products[ID, T, F]) Import(by lyceum.By) *Rows[T] {
	return &Rows[T]{p.service, by, shape[T]{what: p.what + "s", names: p.names, look: p.look, save: p.save}}
}

func (p Products[ID, T, F]) save(tx lyceum.Tx, rows []T, now time.Time) (lyceum.Saved, error) {
	ids := idsOf(rows, func(row *T) ID { return *p.parts(row).id })
	kept, err := p.rows(tx.Tables).Find(tx, ids...)
	if err != nil {
		return lyceum.Saved{}, err
	}
	for i := range rows {
		old := kept[ids[i]]
		before, parts := p.parts(&old), p.parts(&rows[i])
		*parts.created = firstTime(*parts.created, *before.created, lyceum.Second(now))
		*parts.updated = firstTime(*parts.updated, *before.updated, *parts.created)
		keep(parts.archived, *before.archived)
	}
	return p.rows(tx.Tables).Save(tx, rows...)
}
