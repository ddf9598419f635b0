package server_test

import "strings"

const (
	shawl    = `{"name":"Shawl pattern","description":"Lace, charted","category":"Knitting","is_published":true,"author_bio_id":1,"image_url":"https://files.example.com/1.jpg"}`
	download = "digital_download_id=1"
)

// downloads returns rows of an operation on digital downloads.
func downloads(op string, rows ...asking) []asking {
	for i := range rows {
		rows[i].face, rows[i].op = "v2", op
	}
	return rows
}

// downloadRows are derived from contract/v2, one after the other in one school, which has no
// digital downloads at first.
var downloadRows = slicesOf(
	downloads("listDigitalDownloads",
		asking{name: "none yet", says: `{"data":[],"meta":{"page":1,"per_page":20,"total_pages":0,"total_count":0}}`},
	),
	downloads("createDigitalDownload",
		asking{name: "with every field", body: shawl, golden: "v2/digital_download.json"},
		asking{name: "with what it must have", body: `{"name":"Bread log","author_bio_id":2}`, golden: "v2/digital_download_bare.json"},
		asking{
			name: "with nulls", body: `{"name":"Plan","author_bio_id":1,"description":null,"category":null,"image_url":null}`,
			says: `"description":null,"is_published":false,"is_listed":true`,
		},
		asking{name: "without anything", body: `{}`, status: 400, golden: "v2/digital_download_missing.json"},
		asking{
			name: "every mistake is named", status: 400, golden: "v2/digital_download_mistakes.json",
			body: `{"name":"","description":1,"category":[],"is_published":"maybe","author_bio_id":0,"image_url":"nowhere","price":1}`,
		},
		asking{
			name: "a name that is too long", body: `{"name":"` + strings.Repeat("n", 256) + `","author_bio_id":1}`,
			status: 400, says: `"field":"name"`,
		},
		asking{
			name: "of an author that is not there", body: `{"name":"Plan","author_bio_id":999}`, status: 422,
			says: `{"code":"validation_failed","message":"author_bio_id must be the id of an author of the school","errors":[{"field":"author_bio_id","message":"must be the id of an author of the school"}`,
		},
		asking{name: "no body", status: 400, golden: "v2/digital_download_missing.json"},
	),
	downloads("listDigitalDownloads",
		asking{name: "newest first", golden: "v2/digital_downloads.json"},
		asking{name: "oldest first", query: "sort_direction=asc&per_page=1", says: `"data":[{"id":1,`},
		asking{name: "second page", query: "sort_direction=asc&per_page=2&page=2", says: `"data":[{"id":3,`},
		asking{name: "beyond the last", query: "page=9", says: `"data":[],"meta":{"page":9,"per_page":20,"total_pages":1,"total_count":3}`},
		asking{name: "by last change", query: "sort_by=updated_at", says: `"data":[{"id":3,`},
		asking{name: "a part of the name", query: "name=PATTERN", says: `"total_count":1`},
		asking{name: "a part of the description", query: "search=charted", says: `"total_count":1`},
		asking{name: "a name with a percent sign", query: "name=%25", says: `"total_count":0`},
		asking{name: "published", query: "is_published=1", says: `"total_count":1`},
		asking{name: "not published", query: "is_published=false", says: `"total_count":2`},
		asking{name: "of an author", query: "author_bio_id=2", says: `"total_count":1`},
		asking{name: "created after", query: "created_after=2024-01-10T12:00:00Z", says: `"total_count":0`},
		asking{name: "created until", query: "created_before=2024-01-10T12:00:00Z", says: `"total_count":3`},
		asking{
			name: "mistakes", status: 400, golden: "v2/digital_downloads_mistakes.json",
			query: "page=0&per_page=101&sort_by=name&sort_direction=up&is_published=x&author_bio_id=x&created_after=x&created_before=y&name=&search=",
		},
	),
	downloads("showDigitalDownload",
		asking{name: "one", values: download, golden: "v2/digital_download.json"},
		asking{name: "unknown", values: "digital_download_id=999", status: 404, says: "there is no digital download 999"},
	), badPaths("v2", "showDigitalDownload", "digital_download_id", ""),
	downloads("updateDigitalDownload",
		asking{name: "nothing", values: download, body: `{}`, golden: "v2/digital_download.json"},
		asking{name: "without a body", values: download, golden: "v2/digital_download.json"},
		asking{
			name: "some fields", values: download, body: `{"name":"Lace","category":null,"is_published":false}`,
			says: `"name":"Lace","description":"Lace, charted","is_published":false`,
		},
		asking{name: "a name that is null stays", values: download, body: `{"name":null}`, says: `"name":"Lace"`},
		asking{name: "the author", values: download, body: `{"author_bio_id":2}`, status: 400, says: `"field":"author_bio_id"`},
		asking{name: "an address that is not one", values: download, body: `{"image_url":"ftp://x"}`, status: 400, says: `"field":"image_url"`},
		asking{name: "unknown", values: "digital_download_id=999", body: `{}`, status: 404, says: "there is no digital download 999"},
	),
	downloads("deleteDigitalDownload",
		asking{name: "one", values: "digital_download_id=3"},
		asking{name: "again", values: "digital_download_id=3"},
		asking{name: "unknown", values: "digital_download_id=999", status: 404, says: "there is no digital download 999"},
	),
	downloads("showDigitalDownload", asking{name: "archived", values: "digital_download_id=3", status: 404, says: "there is no digital download 3"}),
	downloads("updateDigitalDownload", asking{name: "archived", values: "digital_download_id=3", body: `{"name":"Back"}`, status: 404, says: "there is no digital download 3"}),
	downloads("listDigitalDownloads", asking{name: "without the archived", says: `"total_count":2`}),
	[]asking{{
		face: "lyceum", op: "listChanges", name: "a digital download as it is now", query: "types=digital_download.updated&limit=1",
		says: `"object":{"id":1,"name":"Lace","description":"Lace, charted","category":null,"is_published":false,"is_listed":true,` +
			`"image_url":"https://files.example.com/1.jpg","author_id":1,"created_at":"2024-01-10T12:00:00Z","updated_at":"2024-01-10T12:00:00Z","archived_at":null}`,
	}, {
		face: "lyceum", op: "listChanges", name: "an archived digital download", query: "types=digital_download.updated",
		says: `"object":{"id":3,"name":"Plan","description":null,"category":null,"is_published":false,"is_listed":true,"image_url":null,"author_id":1,` +
			`"created_at":"2024-01-10T12:00:00Z","updated_at":"2024-01-10T12:00:00Z","archived_at":"2024-01-10T12:00:00Z"}`,
	}},
)
