package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.DigitalDownloads, noun[lyceum.DigitalDownloadID, lyceum.DigitalDownload,
	lyceum.DigitalDownloadFilter]{
	table:   table[lyceum.DigitalDownload]{name: "digital_downloads", lasting: true},
	entries: "digital_download",
	key: idKey("digital_download_id", func(d *lyceum.DigitalDownload) *lyceum.DigitalDownloadID {
		return &d.ID
	}),
	rest: []column[lyceum.DigitalDownload]{
		textColumn("name", func(d *lyceum.DigitalDownload) *string { return &d.Name }),
		optTextColumn("description", func(d *lyceum.DigitalDownload) *lyceum.Opt[string] { return &d.Description }),
		optTextColumn("category", func(d *lyceum.DigitalDownload) *lyceum.Opt[string] { return &d.Category }),
		boolColumn("is_published", func(d *lyceum.DigitalDownload) *bool { return &d.IsPublished }),
		boolColumn("is_listed", func(d *lyceum.DigitalDownload) *bool { return &d.IsListed }),
		optTextColumn("image_url", func(d *lyceum.DigitalDownload) *lyceum.Opt[string] { return &d.ImageURL }),
		optIntColumn("author_id", func(d *lyceum.DigitalDownload) *lyceum.Opt[lyceum.AuthorID] { return &d.AuthorID }),
		timeColumn("created_at", func(d *lyceum.DigitalDownload) *time.Time { return &d.CreatedAt }),
		timeColumn("updated_at", func(d *lyceum.DigitalDownload) *time.Time { return &d.UpdatedAt }),
		optTimeColumn("archived_at", func(d *lyceum.DigitalDownload) *lyceum.Opt[time.Time] { return &d.ArchivedAt }),
	},
	narrow: func(w *where, f lyceum.DigitalDownloadFilter) {
		w.part(f.Name, "name")
		w.part(f.Search, "name", "description")
		w.truth("is_published", f.IsPublished)
		w.archived(f.IsArchived)
		is(w, "author_id", f.AuthorID)
		w.within("created_at", f.Created)
	},
	order:   func(f lyceum.DigitalDownloadFilter) string { return ordered(f.Order, "digital_download_id") },
	largest: 256 << 10,
})
