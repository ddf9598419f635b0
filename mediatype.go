package lyceum

// mediaTypes maps common extensions to media types. Unlike those of package mime, they do not
// depend on the machine.
var mediaTypes = map[string]string{
	"jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
	"svg": "image/svg+xml", "avif": "image/avif", "pdf": "application/pdf", "zip": "application/zip",
	"mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "webm": "video/webm", "mkv": "video/x-matroska",
	"mp3": "audio/mpeg", "m4a": "audio/mp4", "wav": "audio/wav", "ogg": "audio/ogg", "flac": "audio/flac",
	"txt": "text/plain; charset=utf-8", "csv": "text/csv; charset=utf-8", "md": "text/markdown; charset=utf-8",
	"html": "text/html; charset=utf-8", "json": "application/json", "epub": "application/epub+zip",
	"doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

// anyMedia is the media type of a file of unknown content.
const anyMedia = "application/octet-stream"

// KnownMediaType returns the media type for a lower-case extension, if it is one of the common
// ones.
func KnownMediaType(extension string) (kind string, known bool) {
	kind, known = mediaTypes[extension]
	return kind, known
}

// MediaType returns the media type for a lower-case extension.
func MediaType(extension string) string {
	if kind, known := mediaTypes[extension]; known {
		return kind
	}
	return anyMedia
}
