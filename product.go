package lyceum

import (
	"fmt"
	"slices"
)

// ProductKind is the kind of a product.
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

// Product identifies something that a pricing plan can sell.
type Product struct {
	Kind ProductKind
	ID   int32
}

// Product returns the course as a product.
func (id CourseID) Product() Product { return Product{CourseKind, int32(id)} }

// String returns the product as it appears in a sentence, such as "membership tier 7".
func (p Product) String() string { return fmt.Sprintf("%s %d", p.Kind.Name(), p.ID) }

// Holds reports whether the product is of a kind that contains other products.
func (p Product) Holds() bool { return p.Kind == CollectionKind || p.Kind == TierKind }

// productWords are the words for a kind of product in different parts of the contract.
type productWords struct {
	sentence string
	path     string // of the URLs of its pricing plans
	purchase string
	coupon   []string // all words for it in a coupon
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

// Known reports whether the kind exists.
func (k ProductKind) Known() bool {
	_, known := productNames[k]
	return known
}

// Name returns the kind as it appears in a sentence, such as "membership tier".
func (k ProductKind) Name() string { return k.words().sentence }

// Path returns the kind as it appears in the path of a product's pricing plans, such as
// "membership-tiers".
func (k ProductKind) Path() string { return k.words().path }

// Purchase returns the kind as it appears in a purchase in version 2, such as "bundle".
func (k ProductKind) Purchase() string { return k.words().purchase }

// CouponWords lists all words for the kind of a coupon's product.
func CouponWords() []string {
	var words []string
	for _, kind := range ProductKinds() {
		words = append(words, kind.words().coupon...)
	}
	return words
}

// KindOfCoupon returns the kind for a word in a coupon, or "" if the word is unknown.
func KindOfCoupon(word string) ProductKind {
	for _, kind := range ProductKinds() {
		if slices.Contains(kind.words().coupon, word) {
			return kind
		}
	}
	return ""
}
