package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Uploads, noun[lyceum.UploadID, lyceum.Upload, lyceum.UploadFilter]{
	table:   table[lyceum.Upload]{name: "uploads"},
	entries: "upload",
	key:     idKey("upload_id", func(u *lyceum.Upload) *lyceum.UploadID { return &u.ID }),
	rest: []column[lyceum.Upload]{
		textColumn("uuid", func(u *lyceum.Upload) *string { return &u.UUID }),
		textColumn("target_type", func(u *lyceum.Upload) *lyceum.UploadTarget { return &u.TargetType }),
		intColumn("target_id", func(u *lyceum.Upload) *int32 { return &u.TargetID }),
		textColumn("purpose", func(u *lyceum.Upload) *lyceum.UploadPurpose { return &u.Purpose }),
		textColumn("extension", func(u *lyceum.Upload) *string { return &u.Extension }),
		timeColumn("created_at", func(u *lyceum.Upload) *time.Time { return &u.CreatedAt }),
		timeColumn("expires_at", func(u *lyceum.Upload) *time.Time { return &u.ExpiresAt }),
		optTimeColumn("received_at", func(u *lyceum.Upload) *lyceum.Opt[time.Time] { return &u.ReceivedAt }),
		optIntColumn("size_in_bytes", func(u *lyceum.Upload) *lyceum.Opt[int64] { return &u.SizeInBytes }),
		optTextColumn("checksum", func(u *lyceum.Upload) *lyceum.Opt[string] { return &u.Checksum }),
		optIntColumn("duration", func(u *lyceum.Upload) *lyceum.Opt[int32] { return &u.Duration }),
		optTextColumn("stored_as", func(u *lyceum.Upload) *lyceum.Opt[lyceum.FileName] { return &u.StoredAs }),
	},
	narrow: func(w *where, f lyceum.UploadFilter) {
		if f.UUID.Present {
			w.equal("uuid", f.UUID.Value)
		}
		if f.Picture.Present {
			w.equal("checksum", f.Picture.Value)
			w.equal("purpose", string(lyceum.ThumbnailUpload))
		}
		if f.Extension.Present {
			w.equal("extension", f.Extension.Value)
		}
		if f.After.Present {
			w.and("upload_id > ?", int64(f.After.Value))
		}
	},
	order: func(lyceum.UploadFilter) string { return "upload_id" },
})
