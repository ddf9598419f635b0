package lyceum

import "time"

// DigitalDownloadID identifies a digital download.
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
	AuthorID    Opt[AuthorID] // the author whose bio the product shows
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ArchivedAt  Opt[time.Time] // when it stopped being sold
}

// DigitalDownloadFilter narrows and orders digital downloads; absent fields match everything.
type DigitalDownloadFilter struct {
	Name        Opt[string] // part of the name, case-insensitive
	Search      Opt[string] // part of the name or the description, case-insensitive
	IsPublished Opt[bool]
	IsArchived  Opt[bool]
	AuthorID    Opt[AuthorID]
	Created     Period
	Order       CourseOrder
}
