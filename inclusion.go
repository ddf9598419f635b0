package lyceum

import "time"

// MaxIncluded is how many products a collection or a tier has at most.
const MaxIncluded = 500

// CollectionKinds lists the kinds of product that a collection takes.
func CollectionKinds() []ProductKind { return []ProductKind{CourseKind, DownloadKind, CoachingKind} }

// TierKinds lists the kinds of product that a tier takes.
func TierKinds() []ProductKind { return append(CollectionKinds(), CollectionKind) }

// Inclusion is a product in a collection or in a tier, which is what In names.
// A product is in each of them at most once.
type Inclusion[ID, In ~int32] struct {
	ID        ID
	In        In
	Product   Product
	CreatedAt time.Time
	// Leaving: the product was removed. It still comes with entitlements up to
	// this one, which keep it; with none, if that is 0.
	Leaving Opt[EntitlementID]
	LeftAt  Opt[time.Time] // present together with Leaving
	// Settled: the holders of entitlements up to this one have been brought in
	// line with what was added or removed; absent once all have been.
	Settled Opt[EntitlementID]
}

// InclusionFilter narrows inclusions; an absent part holds always.
type InclusionFilter[In ~int32] struct {
	In      Opt[In]
	Product Opt[Product]
	Kind    Opt[ProductKind] // of the product
	Newest  bool             // the one that was added last comes first
	// Products lets only those pass that are one of these; nil lets all.
	Products []Product
	// Leaving lets those pass, too, that were removed and whose holders are not
	// all settled.
	Leaving   bool
	Unsettled bool // only those whose holders are not all settled
}
