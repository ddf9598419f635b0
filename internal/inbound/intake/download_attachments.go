package intake

import (
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// DownloadAttachments returns the kind of the contents of digital downloads. A file must have
// id, digital_download_id, kind and url; filename, size_in_bytes and button_text may be
// null.
func DownloadAttachments() Kind[lyceum.DownloadAttachment] {
	type row = lyceum.DownloadAttachment
	return Kind[row]{
		name: "digital-download-attachments", list: "attachments",
		id: func(a *row) int32 { return int32(a.ID) },
		columns: []column[row]{
			idColumn("id", func(a *row) *lyceum.DownloadAttachmentID { return &a.ID }),
			idColumn("digital_download_id", func(a *row) *lyceum.DigitalDownloadID { return &a.DigitalDownloadID }),
			wordColumn("kind", lyceum.DownloadAttachmentKinds(), func(a *row) *lyceum.DownloadAttachmentKind { return &a.Kind }),
			textColumn("url", func(a *row) *string { return &a.URL }),
			optTextColumn("filename", func(a *row) *lyceum.Opt[string] { return &a.Filename }).always(),
			optSizeColumn("size_in_bytes", func(a *row) *lyceum.Opt[int64] { return &a.SizeInBytes }).always(),
			optTextColumn("button_text", func(a *row) *lyceum.Opt[string] { return &a.ButtonText }).always(),
			timeColumn("created_at", func(a *row) *time.Time { return &a.CreatedAt }).optional(),
			timeColumn("updated_at", func(a *row) *time.Time { return &a.UpdatedAt }).optional(),
		},
	}
}

// optSizeColumn returns a column of file sizes in bytes that may be null.
func optSizeColumn[T any](name string, at func(*T) *lyceum.Opt[int64]) column[T] {
	taken := "must be an integer from 1 to " + strconv.FormatInt(lyceum.MaxFileBytes, 10) + ", digits only"
	return nullable(at, func(at func(*T) *int64) column[T] {
		return column[T]{
			name: name,
			read: func(_ *memo, c cell, v *T) string {
				n, err := strconv.ParseUint(string(c.text), 10, 53)
				if err != nil || n < 1 {
					return taken
				}
				*at(v) = int64(n)
				return ""
			},
			write: func(e *encoder, v *T) { e.integer(*at(v)) },
		}
	})
}
