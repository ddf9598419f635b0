package server_test

import "strings"

const (
	shawl    = `{"name":"Shawl pattern","description":"Lace, charted","category":"Knitting","is_published":true,"author_bio_id":1,"image_url":"https://files.example.com/1.jpg"}`
	download = "digital_download_id=1"
)

// downloads returns rows of an operation on digital downloads.
func downloads(op string, rows ...requestCase) []requestCase {
	for i := range rows {
		rows[i].face, rows[i].op = "v2", op
	}
	return rows
}

// downloadRows are derived from contract/v2, one after the other in one school, which has no
// digital downloads at first.
var downloadRows = slicesOf(
	downloads("listDigitalDownloads",
		requestCase{name: "none yet", says: `{"data":[],"meta":{"page":1,"per_page":20,"total_pages":0,"total_count":0}}`},
	),
	downloads("createDigitalDownload",
		requestCase{name: "with every field", body: shawl, golden: "v2/digital_download.json"},
		requestCase{name: "a long text of escapes", body: `{"name":"x","author_bio_id":2,"description":"` + strings.Repeat(`\u00e4`, 20_001) + `"}`, status: 400, says: "description must be"},
		requestCase{name: "with what it must have", body: `{"name":"Bread log","author_bio_id":2}`, golden: "v2/digital_download_bare.json"},
		requestCase{
			name: "with nulls", body: `{"name":"Plan","author_bio_id":1,"description":null,"category":null,"image_url":null}`,
			says: `"description":null,"is_published":false,"is_listed":true`,
		},
		requestCase{name: "without anything", body: `{}`, status: 400, golden: "v2/digital_download_missing.json"},
		requestCase{
			name: "every mistake is named", status: 400, golden: "v2/digital_download_mistakes.json",
			body: `{"name":"","description":1,"category":[],"is_published":"maybe","author_bio_id":0,"image_url":"nowhere","price":1}`,
		},
		requestCase{
			name: "a name that is too long", body: `{"name":"` + strings.Repeat("n", 256) + `","author_bio_id":1}`,
			status: 400, says: `"field":"name"`,
		},
		requestCase{
			name: "of an author that is not there", body: `{"name":"Plan","author_bio_id":999}`, status: 422,
			says: `{"code":"validation_failed","message":"author_bio_id must be the id of an author of the school","errors":[{"field":"author_bio_id","message":"must be the id of an author of the school"}`,
		},
		requestCase{name: "no body", status: 400, golden: "v2/digital_download_missing.json"},
	),
	downloads("listDigitalDownloads",
		requestCase{name: "newest first", golden: "v2/digital_downloads.json"},
		requestCase{name: "oldest first", query: "sort_direction=asc&per_page=1", says: `"data":[{"id":1,`},
		requestCase{name: "second page", query: "sort_direction=asc&per_page=2&page=2", says: `"data":[{"id":3,`},
		requestCase{name: "beyond the last", query: "page=9", says: `"data":[],"meta":{"page":9,"per_page":20,"total_pages":1,"total_count":3}`},
		requestCase{name: "by last change", query: "sort_by=updated_at", says: `"data":[{"id":3,`},
		requestCase{name: "a part of the name", query: "name=PATTERN", says: `"total_count":1`},
		requestCase{name: "a part of the description", query: "search=charted", says: `"total_count":1`},
		requestCase{name: "a name with a percent sign", query: "name=%25", says: `"total_count":0`},
		requestCase{name: "published", query: "is_published=1", says: `"total_count":1`},
		requestCase{name: "not published", query: "is_published=false", says: `"total_count":2`},
		requestCase{name: "of an author", query: "author_bio_id=2", says: `"total_count":1`},
		requestCase{name: "created after", query: "created_after=2024-01-10T12:00:00Z", says: `"total_count":0`},
		requestCase{name: "created until", query: "created_before=2024-01-10T12:00:00Z", says: `"total_count":3`},
		requestCase{
			name: "mistakes", status: 400, golden: "v2/digital_downloads_mistakes.json",
			query: "page=0&per_page=101&sort_by=name&sort_direction=up&is_published=x&author_bio_id=x&created_after=x&created_before=y&name=&search=",
		},
	),
	downloads("showDigitalDownload",
		requestCase{name: "one", values: download, golden: "v2/digital_download.json"},
		requestCase{name: "unknown", values: "digital_download_id=999", status: 404, says: "there is no digital download 999"},
	), badPaths("v2", "showDigitalDownload", "digital_download_id", ""),
	downloads("updateDigitalDownload",
		requestCase{name: "nothing", values: download, body: `{}`, golden: "v2/digital_download.json"},
		requestCase{name: "without a body", values: download, golden: "v2/digital_download.json"},
		requestCase{
			name: "some fields", values: download, body: `{"name":"Lace","category":null,"is_published":false}`,
			says: `"name":"Lace","description":"Lace, charted","is_published":false`,
		},
		requestCase{name: "a name that is null stays", values: download, body: `{"name":null}`, says: `"name":"Lace"`},
		requestCase{name: "the author", values: download, body: `{"author_bio_id":2}`, status: 400, says: `"field":"author_bio_id"`},
		requestCase{name: "an address that is not one", values: download, body: `{"image_url":"ftp://x"}`, status: 400, says: `"field":"image_url"`},
		requestCase{name: "unknown", values: "digital_download_id=999", body: `{}`, status: 404, says: "there is no digital download 999"},
	),
	downloads("deleteDigitalDownload",
		requestCase{name: "one", values: "digital_download_id=3"},
		requestCase{name: "again", values: "digital_download_id=3"},
		requestCase{name: "unknown", values: "digital_download_id=999", status: 404, says: "there is no digital download 999"},
	),
	downloads("showDigitalDownload", requestCase{name: "archived", values: "digital_download_id=3", status: 404, says: "there is no digital download 3"}),
	downloads("updateDigitalDownload", requestCase{name: "archived", values: "digital_download_id=3", body: `{"name":"Back"}`, status: 404, says: "there is no digital download 3"}),
	downloads("listDigitalDownloads", requestCase{name: "without the archived", says: `"total_count":2`}),
	[]requestCase{{
		face: "lyceum", op: "listChanges", name: "a digital download as it is now", query: "types=digital_download.updated&limit=1",
		says: `"object":{"id":1,"name":"Lace","description":"Lace, charted","category":null,"is_published":false,"is_listed":true,` +
			`"image_url":"https://files.example.com/1.jpg","author_id":1,"created_at":"2024-01-10T12:00:00Z","updated_at":"2024-01-10T12:00:00Z","archived_at":null}`,
	}, {
		face: "lyceum", op: "listChanges", name: "an archived digital download", query: "types=digital_download.updated",
		says: `"object":{"id":3,"name":"Plan","description":null,"category":null,"is_published":false,"is_listed":true,"image_url":null,"author_id":1,` +
			`"created_at":"2024-01-10T12:00:00Z","updated_at":"2024-01-10T12:00:00Z","archived_at":"2024-01-10T12:00:00Z"}`,
	}},
)
