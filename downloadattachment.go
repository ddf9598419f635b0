package lyceum

import (
	"path"
	"strings"
	"time"
)

// DownloadAttachmentID identifies an attachment of a digital download.
type DownloadAttachmentID int32

var _ = product("download_attachment")

// DownloadAttachmentKind is what an attachment of a digital download is.
type DownloadAttachmentKind string

// The contract's kinds. All attachments of one digital download have the same kind.
const (
	DownloadFile     DownloadAttachmentKind = "download" // a file
	DownloadRedirect DownloadAttachmentKind = "redirect" // a page that a button links to
)

// DownloadAttachmentKinds lists every kind.
func DownloadAttachmentKinds() []DownloadAttachmentKind {
	return []DownloadAttachmentKind{DownloadFile, DownloadRedirect}
}

// Limits of the attachments of digital downloads.
const (
	MaxDownloadAttachments = 500 // per digital download
	MaxButtonText          = 24  // characters
	MaxFilename            = 255 // characters
	MaxFileBytes           = 1<<53 - 1
)

// DownloadAttachment is a file of a digital download, or a page that it links to.
type DownloadAttachment struct {
	ID                DownloadAttachmentID
	DigitalDownloadID DigitalDownloadID
	Kind              DownloadAttachmentKind
	URL               string      // the permanent address
	Filename          Opt[string] // of a file
	SizeInBytes       Opt[int64]  // of a file
	ButtonText        Opt[string] // of a redirect
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// DownloadAttachmentFilter narrows attachments of digital downloads, which are listed by id;
// absent fields match everything.
type DownloadAttachmentFilter struct {
	Download Opt[DigitalDownloadID]
	Kind     Opt[DownloadAttachmentKind]
}

// FileType returns the extension of a file name in lower case, without the dot.
func FileType(name string) Opt[string] {
	ending := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if ending == "" {
		return None[string]()
	}
	return Some(ending)
}

// Odd returns the first field of the attachment that does not fit its kind, and what is wrong
// with it.
func (a *DownloadAttachment) Odd() (field, wrong string) {
	file := a.Kind == DownloadFile
	switch {
	case !strings.HasPrefix(a.URL, "https://") && !strings.HasPrefix(a.URL, "http://"):
		return "url", "must be a URL such as https://files.example.com/a.pdf"
	case file && a.Filename.Value == "":
		return "filename", "must not be empty for an attachment of the kind download"
	case file && (a.SizeInBytes.Value < 1 || a.SizeInBytes.Value > MaxFileBytes):
		return "size_in_bytes", "must be 1 or more for an attachment of the kind download"
	case file && a.ButtonText.Present:
		return "button_text", "does not go with an attachment of the kind download"
	case !file && a.ButtonText.Value == "":
		return "button_text", "must not be empty for an attachment of the kind redirect"
	case !file && a.Filename.Present:
		return "filename", "does not go with an attachment of the kind redirect"
	case !file && a.SizeInBytes.Present:
		return "size_in_bytes", "does not go with an attachment of the kind redirect"
	}
	return "", ""
}
