package intake

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// Uploads returns the kind of uploaded files. A file of them must have uuid, target_type,
// target_id, purpose, extension and file, the name of the content in the folder of files;
// size_in_bytes and sha256 may be null.
func Uploads() Kind[lyceum.UploadRow] {
	type row = lyceum.UploadRow
	return Kind[row]{
		name: "uploads", list: "uploads",
		id:   func(*row) int32 { return 0 },
		keys: []key[row]{hashed(inColumn("uuid"), func(u *row) (string, bool) { return u.UUID, true })},
		columns: []column[row]{
			checked(textColumn("uuid", func(u *row) *string { return &u.UUID }), lyceum.IsUUID, uuidTaken),
			wordColumn("target_type", lyceum.UploadTargets(), func(u *row) *lyceum.UploadTarget { return &u.TargetType }),
			idColumn("target_id", func(u *row) *int32 { return &u.TargetID }),
			wordColumn("purpose", lyceum.UploadPurposes(), func(u *row) *lyceum.UploadPurpose { return &u.Purpose }),
			checked(textColumn("extension", func(u *row) *string { return &u.Extension }), lyceum.IsExtension, extensionTaken),
			textColumn("file", func(u *row) *string { return &u.File }),
			optSizeColumn("size_in_bytes", func(u *row) *lyceum.Opt[int64] { return &u.SizeInBytes }),
			checked(optTextColumn("sha256", func(u *row) *lyceum.Opt[string] { return &u.Checksum }),
				lyceum.IsChecksum, sha256Taken),
			timeColumn("created_at", func(u *row) *time.Time { return &u.CreatedAt }).optional(),
		},
	}
}

const (
	uuidTaken      = "must be a UUID in lower case, such as 7c0e2a4e-5a53-4b5e-9d3c-0a4de5f3b1aa"
	extensionTaken = "must be 1 to 10 lower-case letters and digits, such as png"
	sha256Taken    = "must be a SHA-256, 64 hexadecimal digits in lower case"
)

// checked restricts a text column to the values that satisfy is. taken says what these are.
func checked[T any](k column[T], is func(string) bool, taken string) column[T] {
	read := k.read
	k.read = func(m *memo, c cell, v *T) string {
		if !is(string(c.text)) {
			return taken
		}
		return read(m, c, v)
	}
	return k
}
