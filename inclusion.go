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
}

// InclusionFilter narrows inclusions; an absent part holds always.
type InclusionFilter[In ~int32] struct {
	In      Opt[In]
	Product Opt[Product]
}
