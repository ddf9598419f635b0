package apiv2

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) digitalDownloads() []wire.Operation {
	const all, each = "/v2/products/digital-downloads", "/v2/products/digital-downloads/{digital_download_id}"
	d := f.learning.DigitalDownloads().Current().Counted(lyceum.DownloadKind)
	return []wire.Operation{
		many("listDigitalDownloads", all, 20, bindDigitalDownloads, d.List, digitalDownload),
		one("createDigitalDownload", wire.Create, all, bindNewDigitalDownload, d.Create, digitalDownload).Long(),
		one("showDigitalDownload", wire.Get, each, byDownload, d.Get, digitalDownload),
		one("updateDigitalDownload", wire.Patch, each, bindDigitalDownloadChange, d.Update, digitalDownload).Long(),
		wire.None("deleteDigitalDownload", wire.Delete, each, byDownload, d.Archive),
	}
}

var byDownload = wire.ByID[lyceum.DigitalDownloadID]("digital_download_id")

func bindDigitalDownloads(in *wire.Input) lyceum.DigitalDownloadFilter {
	return lyceum.DigitalDownloadFilter{
		Name:        in.Query("name").Text(1, wire.Unbounded),
		Search:      in.Query("search").Text(1, wire.Unbounded),
		IsPublished: in.Query("is_published").Bool(),
		IsArchived:  lyceum.Some(false),
		AuthorID:    wire.AnyInt[lyceum.AuthorID](in.Query("author_bio_id")),
		Created:     wire.Period(in.Query("created_after"), in.Query("created_before")),
		Order:       bindOrder(in, "created_at", "updated_at"),
	}
}

// The maximum lengths of strings, in characters (contract/v2/digital_downloads.yaml).
const (
	maxTitle       = 255
	maxDescription = 20_000
	maxURL         = 2048
)

func bindNewDigitalDownload(in *wire.Input) lyceum.DigitalDownload {
	return lyceum.DigitalDownload{
		Name:        in.Body("name").Required().Text(1, maxTitle).Value,
		Description: in.Body("description").Text(0, maxDescription),
		Category:    in.Body("category").Text(0, maxTitle),
		IsPublished: in.Body("is_published").Bool().Value,
		IsListed:    true,
		ImageURL:    in.Body("image_url").URL(maxURL),
		AuthorID:    wire.ID[lyceum.AuthorID](in.Body("author_bio_id").Required()),
	}
}

func bindDigitalDownloadChange(in *wire.Input) learning.Edit[lyceum.DigitalDownloadID, lyceum.DigitalDownload] {
	id, name := byDownload(in), in.Body("name").Text(1, maxTitle)
	description := wire.Nullable(in.Body("description"), in.Body("description").Text(0, maxDescription))
	category := wire.Nullable(in.Body("category"), in.Body("category").Text(0, maxTitle))
	published := in.Body("is_published").Bool()
	image := wire.Nullable(in.Body("image_url"), in.Body("image_url").URL(maxURL))
	return learning.Edit[lyceum.DigitalDownloadID, lyceum.DigitalDownload]{ID: id, Apply: func(d *lyceum.DigitalDownload) {
		d.Name = name.Else(d.Name)
		d.Description = description.Else(d.Description)
		d.Category = category.Else(d.Category)
		d.IsPublished = published.Else(d.IsPublished)
		d.ImageURL = image.Else(d.ImageURL)
	}}
}

func digitalDownload(p learning.CountedProduct[lyceum.DigitalDownload]) gen.DigitalDownload {
	d := p.Row
	href, image := fmt.Sprintf("/v2/products/digital-downloads/%d", d.ID), wire.Optional(d.ImageURL)
	return gen.DigitalDownload{
		ID: int32(d.ID), Name: d.Name, Description: wire.Optional(d.Description), Category: wire.Optional(d.Category),
		IsPublished: d.IsPublished, IsListed: d.IsListed, Href: &href, ImageURL: image, SafeImageURL: image,
		AuthorBioID: wire.Number(d.AuthorID), Kind: wire.Word(p.Counts.AttachmentKind),
		TotalAttachments: int32(p.Counts.Attachments), TotalAdmissions: int32(p.Counts.Holders),
		TotalSales: int32(p.Counts.Sales),
		CreatedAt:  wire.Moment(d.CreatedAt), UpdatedAt: wire.Moment(d.UpdatedAt),
	}
}
