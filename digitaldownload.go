package lyceum

import "time"

// DigitalDownloadID names a digital download.
type DigitalDownloadID int32

// DigitalDownloadSequence numbers digital downloads.
const DigitalDownloadSequence Sequence = "digital_download_id"

var _ = product("digital_download")

// DigitalDownload is a product of files.
type DigitalDownload struct {
	ID          DigitalDownloadID
	Name        string
	Description Opt[string]
	Category    Opt[string]
	IsPublished bool
	IsListed    bool
	ImageURL    Opt[string]
	AuthorID    Opt[AuthorID] // whose bio the product shows
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ArchivedAt  Opt[time.Time] // since when it cannot be sold
}

// DigitalDownloadFilter narrows and orders digital downloads; an absent part
// holds always.
type DigitalDownloadFilter struct {
	Name        Opt[string] // a part of the name, whatever its case
	Search      Opt[string] // a part of the name or of the description, whatever its case
	IsPublished Opt[bool]
	IsArchived  Opt[bool]
	AuthorID    Opt[AuthorID]
	Created     Period
	Order       CourseOrder
}
