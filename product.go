package lyceum

import "fmt"

// ProductKind is what kind of thing a pricing plan sells.
type ProductKind string

// The kinds of product.
const (
	CourseKind     ProductKind = "course"
	DownloadKind   ProductKind = "digital_download"
	CollectionKind ProductKind = "product_collection"
	TierKind       ProductKind = "membership_tier"
	CoachingKind   ProductKind = "coaching"
)

// ProductKinds lists every kind of product.
func ProductKinds() []ProductKind {
	return []ProductKind{CourseKind, DownloadKind, CollectionKind, TierKind, CoachingKind}
}

// Product names something that a pricing plan can sell.
type Product struct {
	Kind ProductKind
	ID   int32
}

// String names the product as a sentence does, such as "membership tier 7".
func (p Product) String() string { return fmt.Sprintf("%s %d", p.Kind.Name(), p.ID) }

// productWords are what the places of the contract call a kind of product.
type productWords struct {
	sentence string
	path     string // of its pricing plans
	purchase string
}

var productNames = map[ProductKind]productWords{
	CourseKind:     {"course", "courses", "course"},
	DownloadKind:   {"digital download", "digital-downloads", "digital_download"},
	CollectionKind: {"product collection", "product-collections", "bundle"},
	TierKind:       {"membership tier", "membership-tiers", "membership"},
	CoachingKind:   {"coaching", "coaching", "coaching"},
}

func (k ProductKind) words() productWords { return productNames[k] }

// Known reports whether there is such a kind.
func (k ProductKind) Known() bool {
	_, known := productNames[k]
	return known
}

// Name is the kind in a sentence, such as "membership tier".
func (k ProductKind) Name() string { return k.words().sentence }

// Path is the kind in the address of a product's pricing plans, such as
// "membership-tiers".
func (k ProductKind) Path() string { return k.words().path }

// Purchase is what a purchase of version 2 calls the kind, such as "bundle".
func (k ProductKind) Purchase() string { return k.words().purchase }
