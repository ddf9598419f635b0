package learning

import "github.com/lyceum-school/lyceum"

// DigitalDownloads returns the rules for digital downloads.
func (s *Service) DigitalDownloads() Products[
	lyceum.DigitalDownloadID, lyceum.DigitalDownload, lyceum.DigitalDownloadFilter,
] {
	type row = lyceum.DigitalDownload
	return Products[lyceum.DigitalDownloadID, row, lyceum.DigitalDownloadFilter]{
		service: s, what: "digital download", author: "author_bio_id",
		rows: func(t *lyceum.Tables) lyceum.Table[lyceum.DigitalDownloadID, row, lyceum.DigitalDownloadFilter] {
			return t.DigitalDownloads
		},
		parts: func(d *row) productParts[lyceum.DigitalDownloadID] {
			return productParts[lyceum.DigitalDownloadID]{
				&d.ID, &d.CreatedAt, &d.UpdatedAt, &d.ArchivedAt, &d.AuthorID, &d.ImageURL,
			}
		},
		names: []reference[row]{{
			"author_bio_id", "author", lyceum.AuthorSequence, func(d *row) int32 { return int32(d.AuthorID.Value) },
		}},
	}
}
