package intake

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// DigitalDownloads returns the kind of products that consist of files. A file must have id,
// name, is_published and is_listed; the other fields may be null.
func DigitalDownloads() Kind[lyceum.DigitalDownload] {
	type row = lyceum.DigitalDownload
	return Kind[row]{
		name: "digital-downloads", list: "digital_downloads",
		id: func(d *row) int32 { return int32(d.ID) },
		columns: []column[row]{
			idColumn("id", func(d *row) *lyceum.DigitalDownloadID { return &d.ID }),
			textColumn("name", func(d *row) *string { return &d.Name }),
			optTextColumn("description", func(d *row) *lyceum.Opt[string] { return &d.Description }).always().long(),
			optTextColumn("category", func(d *row) *lyceum.Opt[string] { return &d.Category }).always(),
			booleanColumn("is_published", func(d *row) *bool { return &d.IsPublished }),
			booleanColumn("is_listed", func(d *row) *bool { return &d.IsListed }),
			optTextColumn("image_url", func(d *row) *lyceum.Opt[string] { return &d.ImageURL }).always(),
			optIDColumn("author_bio_id", func(d *row) *lyceum.Opt[lyceum.AuthorID] { return &d.AuthorID }).always(),
			timeColumn("created_at", func(d *row) *time.Time { return &d.CreatedAt }).optional(),
			timeColumn("updated_at", func(d *row) *time.Time { return &d.UpdatedAt }).optional(),
			optTimeColumn("archived_at", func(d *row) *lyceum.Opt[time.Time] { return &d.ArchivedAt }),
		},
	}
}
