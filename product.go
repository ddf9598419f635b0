package lyceum

import (
	"fmt"
	"slices"
)

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

// Product names the course as a product.
func (id CourseID) Product() Product { return Product{CourseKind, int32(id)} }

// String names the product as a sentence does, such as "membership tier 7".
func (p Product) String() string { return fmt.Sprintf("%s %d", p.Kind.Name(), p.ID) }

// Holds reports whether the product is one that holds others.
func (p Product) Holds() bool { return p.Kind == CollectionKind || p.Kind == TierKind }

// productWords are what the places of the contract call a kind of product.
type productWords struct {
	sentence string
	path     string // of its pricing plans
	purchase string
	coupon   []string // all that the product of a coupon may be called
}

var productNames = map[ProductKind]productWords{
	CourseKind: {"course", "courses", "course", []string{"course"}},
	DownloadKind: {
		"digital download", "digital-downloads", "digital_download", []string{"digital_download", "digital_product"},
	},
	CollectionKind: {
		"product collection", "product-collections", "bundle", []string{"product_collection", "bundle", "creator_product"},
	},
	TierKind:     {"membership tier", "membership-tiers", "membership", []string{"membership_tier"}},
	CoachingKind: {"coaching", "coaching", "coaching", []string{"coaching"}},
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

// CouponWords lists what the product of a coupon may be called.
func CouponWords() []string {
	var words []string
	for _, kind := range ProductKinds() {
		words = append(words, kind.words().coupon...)
	}
	return words
}

// KindOfCoupon returns the kind that a coupon calls by a word; none of them by
// another one.
func KindOfCoupon(word string) ProductKind {
	for _, kind := range ProductKinds() {
		if slices.Contains(kind.words().coupon, word) {
			return kind
		}
	}
	return ""
}
