package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.DownloadAttachments, noun[lyceum.DownloadAttachmentID, lyceum.DownloadAttachment,
	lyceum.DownloadAttachmentFilter]{
	table:   table[lyceum.DownloadAttachment]{name: "download_attachments"},
	entries: "download_attachment",
	key: idKey("download_attachment_id", func(a *lyceum.DownloadAttachment) *lyceum.DownloadAttachmentID {
		return &a.ID
	}),
	rest: []column[lyceum.DownloadAttachment]{
		intColumn("digital_download_id", func(a *lyceum.DownloadAttachment) *lyceum.DigitalDownloadID {
			return &a.DigitalDownloadID
		}),
		textColumn("kind", func(a *lyceum.DownloadAttachment) *lyceum.DownloadAttachmentKind { return &a.Kind }),
		textColumn("url", func(a *lyceum.DownloadAttachment) *string { return &a.URL }),
		optTextColumn("filename", func(a *lyceum.DownloadAttachment) *lyceum.Opt[string] { return &a.Filename }),
		optIntColumn("size_in_bytes", func(a *lyceum.DownloadAttachment) *lyceum.Opt[int64] { return &a.SizeInBytes }),
		optTextColumn("button_text", func(a *lyceum.DownloadAttachment) *lyceum.Opt[string] { return &a.ButtonText }),
		timeColumn("created_at", func(a *lyceum.DownloadAttachment) *time.Time { return &a.CreatedAt }),
		timeColumn("updated_at", func(a *lyceum.DownloadAttachment) *time.Time { return &a.UpdatedAt }),
	},
	narrow: func(w *where, f lyceum.DownloadAttachmentFilter) {
		is(w, "digital_download_id", f.Download)
		if f.Kind.Present {
			w.equal("kind", string(f.Kind.Value))
		}
	},
	order: func(lyceum.DownloadAttachmentFilter) string { return "download_attachment_id" },
})
