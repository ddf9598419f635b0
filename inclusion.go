package lyceum

import "time"

// MaxIncluded is the maximum number of products in a collection or a tier.
const MaxIncluded = 500

// CollectionKinds lists the kinds of product that a collection can contain.
func CollectionKinds() []ProductKind { return []ProductKind{CourseKind, DownloadKind, CoachingKind} }

// TierKinds lists the kinds of product that a tier can contain.
func TierKinds() []ProductKind { return append(CollectionKinds(), CollectionKind) }

// Inclusion is a product in a collection or a tier, which In identifies. Each of them has a
// product at most once.
type Inclusion[ID, In ~int32] struct {
	ID        ID
	In        In
	Product   Product
	CreatedAt time.Time
	// Leaving is set if the product was removed. It still comes with entitlements up to this
	// one, whose holders keep it; 0: with none.
	Leaving Opt[EntitlementID]
	LeftAt  Opt[time.Time] // present if Leaving is
	// Settled is set until all holders are brought in line with what was added or removed:
	// those of entitlements up to this one already have been.
	Settled Opt[EntitlementID]
}

// InclusionFilter narrows inclusions; absent fields match everything.
type InclusionFilter[In ~int32] struct {
	In      Opt[In]
	Product Opt[Product]
	Kind    Opt[ProductKind] // of Product
	Newest  bool             // the last one added comes first
	// Products selects only inclusions of these products; nil: all.
	Products []Product
	// Leaving also selects inclusions that were removed and whose holders are not all settled.
	Leaving   bool
	Unsettled bool // only those whose holders are not all settled
}
