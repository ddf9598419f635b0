package learning

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// SearchProducts returns up to one page of the products of a kind, by id, that are not archived
// and whose name contains a string, ignoring case.
func (s *Service) SearchProducts(
	ctx context.Context, by lyceum.By, kind lyceum.ProductKind, text string, p lyceum.Page,
) (found []lyceum.ProductInfo, err error) {
	v := s.store.In(ctx, by.School)
	name, current := lyceum.Some(text), lyceum.Some(false)
	all := lyceum.ProductFilter{Name: name, IsArchived: current}
	var ids []int32
	switch kind {
	case lyceum.CourseKind:
		ids, err = pageOf(v, v.Courses, lyceum.CourseFilter{Name: name, IsArchived: current}, p,
			func(c *lyceum.Course) int32 { return int32(c.ID) })
	case lyceum.DownloadKind:
		ids, err = pageOf(v, v.DigitalDownloads, lyceum.DigitalDownloadFilter{Name: name, IsArchived: current}, p,
			func(d *lyceum.DigitalDownload) int32 { return int32(d.ID) })
	case lyceum.CollectionKind:
		ids, err = pageOf(v, v.ProductCollections, all, p, func(c *lyceum.ProductCollection) int32 { return int32(c.ID) })
	case lyceum.CoachingKind:
		ids, err = pageOf(v, v.Coaching, all, p, func(c *lyceum.Coaching) int32 { return int32(c.ID) })
	case lyceum.TierKind:
		tiers := lyceum.MembershipTierFilter{IsArchived: current}
		err = v.MembershipTiers.Each(v, tiers, func(t *lyceum.MembershipTier) error {
			if strings.Contains(strings.ToLower(t.Name), strings.ToLower(text)) && len(ids) < int(p.Size) {
				ids = append(ids, int32(t.ID))
			}
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	products := make([]lyceum.Product, len(ids))
	for i, id := range ids {
		products[i] = lyceum.Product{Kind: kind, ID: id}
	}
	infos, err := lyceum.FindProducts(v.Tables, v, products...)
	for _, info := range infos {
		if !info.ArchivedAt.Present { // a tier is archived together with its membership
			found = append(found, info)
		}
	}
	slices.SortFunc(found, func(a, b lyceum.ProductInfo) int { return cmp.Compare(a.Product.ID, b.Product.ID) })
	return found, err
}

// pageOf returns the ids of a page of rows.
func pageOf[ID ~int32, T, F any](
	from lyceum.Source, rows lyceum.Rows[ID, T, F], f F, p lyceum.Page, id func(*T) int32,
) (ids []int32, err error) {
	list, err := rows.List(from, f, p)
	for i := range list.Rows {
		ids = append(ids, id(&list.Rows[i]))
	}
	return ids, err
}
