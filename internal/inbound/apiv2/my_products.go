package apiv2

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

const (
	myDownloadsPath   = "/v2/current_user/digital-downloads"
	myCollectionsPath = "/v2/current_user/product-collections"
	myMembershipsPath = "/v2/current_user/memberships"
)

func (f *Face) myProducts() []wire.Operation {
	const download, collection = myDownloadsPath + "/{digital_download_id}", myCollectionsPath + "/{product_collection_id}"
	l := f.learning
	return []wire.Operation{
		many("listCurrentUserProducts", "/v2/current_user/products", perPage, bindMyProducts, l.Held, myProduct),
		many(
			"listCurrentUserDigitalDownloads", myDownloadsPath, perPage, heldOf(lyceum.DownloadKind), l.Held, myProduct,
		),
		one("showCurrentUserDigitalDownload", wire.Get, download, func(in *wire.Input) lyceum.Product {
			return lyceum.Product{Kind: lyceum.DownloadKind, ID: int32(byDownload(in))}
		}, l.HeldProduct, myProduct),
		many(
			"listCurrentUserDigitalDownloadAttachments", download+"/attachments", 20, byDownload, l.DownloadAttachments,
			f.linkedAttachment,
		),
		many(
			"listCurrentUserProductCollections", myCollectionsPath, perPage, heldOf(lyceum.CollectionKind), l.Held, myProduct,
		),
		one("showCurrentUserProductCollection", wire.Get, collection, func(in *wire.Input) lyceum.Product {
			return lyceum.Product{Kind: lyceum.CollectionKind, ID: int32(byCollection(in))}
		}, l.HeldProduct, myProduct),
		many("listCurrentUserCollectionProducts", collection+"/products", perPage, byCollection, l.HeldIn, myProduct),
	}
}

func bindMyProducts(in *wire.Input) lyceum.HeldFilter {
	return lyceum.HeldFilter{Kind: wire.OneOf(in.Query("type"), lyceum.ProductKinds()...)}
}

func heldOf(kind lyceum.ProductKind) func(*wire.Input) lyceum.HeldFilter {
	return func(*wire.Input) lyceum.HeldFilter { return lyceum.HeldFilter{Kind: lyceum.Some(kind)} }
}

// myPath returns the path at which a learner finds a product, or nil for coaching.
func myPath(h *lyceum.Held) *string {
	path, id := "", h.Product.ID
	switch h.Product.Kind {
	case lyceum.CourseKind:
		path = "/v2/current_user/courses"
	case lyceum.DownloadKind:
		path = myDownloadsPath
	case lyceum.CollectionKind:
		path = myCollectionsPath
	case lyceum.TierKind:
		path, id = myMembershipsPath, int32(h.Membership.Value.ID)
	case lyceum.CoachingKind:
		return nil
	}
	path = fmt.Sprintf("%s/%d", path, id)
	return &path
}

func myProduct(h lyceum.Held) gen.LearnerProduct {
	return gen.LearnerProduct{
		ID: h.Product.ID, Type: string(h.Product.Kind), Name: h.Name, Description: wire.Optional(h.Description),
		ImageURL: wire.Optional(h.ImageURL), Href: myPath(&h), EnrolledAt: wire.Moment(h.Since),
		ExpiresAt: wire.OptMoment(h.Until),
	}
}
