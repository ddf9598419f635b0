package lyceum

import (
	"fmt"
	"time"
)

// ProductFilter narrows products of one kind; absent fields match everything.
type ProductFilter struct {
	Name        Opt[string] // part of the name, case-insensitive
	IsPublished Opt[bool]
	IsArchived  Opt[bool]
	Order       CourseOrder // only of collections: by id, creation or last update
}

// ProductInfo is what products of every kind have in common.
type ProductInfo struct {
	Product     Product
	Name        string
	IsPublished bool
	// ArchivedAt is when the product stopped being sold. Users who have access to it keep it.
	ArchivedAt Opt[time.Time]
}

// ProductCounts counts what belongs to a product.
type ProductCounts struct {
	Sales    int64 // in any state
	Holders  int64 // learners who have it, for any reason
	Products int64 // in a collection
	// Attachments are those of a digital download, all of which have the same kind.
	Attachments    int64
	AttachmentKind Opt[DownloadAttachmentKind]
}

// FindProducts returns those of the products that exist. A tier counts as archived if its
// membership is.
func FindProducts(t *Tables, from Source, products ...Product) (map[Product]ProductInfo, error) {
	l := productLookup{from: from, ids: map[ProductKind][]int32{}, found: map[Product]ProductInfo{}}
	for _, p := range products {
		l.ids[p.Kind] = append(l.ids[p.Kind], p.ID)
	}
	lookUp(&l, t.Courses, CourseKind, func(c *Course) ProductInfo {
		return ProductInfo{Name: c.Name, IsPublished: c.IsPublished, ArchivedAt: c.ArchivedAt}
	})
	lookUp(&l, t.DigitalDownloads, DownloadKind, func(d *DigitalDownload) ProductInfo {
		return ProductInfo{Name: d.Name, IsPublished: d.IsPublished, ArchivedAt: d.ArchivedAt}
	})
	lookUp(&l, t.ProductCollections, CollectionKind, func(c *ProductCollection) ProductInfo {
		return ProductInfo{Name: c.Name, IsPublished: c.IsPublished, ArchivedAt: c.ArchivedAt}
	})
	lookUp(&l, t.Coaching, CoachingKind, func(c *Coaching) ProductInfo {
		return ProductInfo{Name: c.Name, IsPublished: c.IsPublished, ArchivedAt: c.ArchivedAt}
	})
	l.tiers(t)
	return l.found, l.err
}

// SellableProduct returns a product if it can be sold. Otherwise problem says why not, worded
// to follow the name of a field.
func SellableProduct(t *Tables, from Source, p Product) (info ProductInfo, problem string, err error) {
	found, err := FindProducts(t, from, p)
	if err != nil {
		return info, "", err
	}
	info, there := found[p]
	switch {
	case !there:
		problem = fmt.Sprintf("%d matches no %s of this school", p.ID, p.Kind.Name())
	case info.ArchivedAt.Present:
		problem = fmt.Sprintf("%d names a %s that is archived", p.ID, p.Kind.Name())
	}
	return info, problem, nil
}

// productLookup collects the information about products, until a read fails.
type productLookup struct {
	from  Source
	ids   map[ProductKind][]int32
	found map[Product]ProductInfo
	err   error
}

func lookUp[ID ~int32, T, F any](l *productLookup, rows Rows[ID, T, F], kind ProductKind, info func(*T) ProductInfo) {
	if l.err != nil || len(l.ids[kind]) == 0 {
		return
	}
	ids := make([]ID, len(l.ids[kind]))
	for i, id := range l.ids[kind] {
		ids[i] = ID(id)
	}
	kept, err := rows.Find(l.from, ids...)
	for id, row := range kept {
		known := info(&row)
		known.Product = Product{kind, int32(id)}
		l.found[known.Product] = known
	}
	l.err = err
}

func (l *productLookup) tiers(t *Tables) {
	in := map[Product]MembershipID{}
	lookUp(l, t.MembershipTiers, TierKind, func(tier *MembershipTier) ProductInfo {
		in[Product{TierKind, int32(tier.ID)}] = tier.MembershipID
		return ProductInfo{Name: tier.Name, IsPublished: tier.IsPublished, ArchivedAt: tier.ArchivedAt}
	})
	if l.err != nil || len(in) == 0 {
		return
	}
	var ids []MembershipID
	for _, id := range in {
		ids = append(ids, id)
	}
	memberships, err := t.Memberships.Find(l.from, ids...)
	for p, id := range in {
		tier := l.found[p]
		if tier.ArchivedAt.Present {
			continue
		}
		tier.ArchivedAt = memberships[id].ArchivedAt
		l.found[p] = tier
	}
	l.err = err
}
