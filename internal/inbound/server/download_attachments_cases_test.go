package server_test

import "strings"

const (
	guide = `{"kind":"download","filename":"Guide.PDF","url":"https://files.example.com/guide.pdf","size_in_bytes":20000000000}`
	lead  = `{"kind":"redirect","url":"https://pages.example.com/shawl","button_text":"Open the patterns page !"}`
	// theBread is the digital download that downloadRows leave without a description.
	theBread = "digital_download_id=2"
)

// downloadFileRows are derived from contract/v2/download_attachments.yaml, one after the other
// in one school. downloadRows created the digital downloads 1 to 3 and archived 3.
var downloadFileRows = slicesOf(
	downloads("listDigitalDownloadAttachments",
		requestCase{name: "none yet", values: download, says: `{"data":[],"meta":{"page":1,"per_page":20,"total_pages":0,"total_count":0}}`},
	),
	downloads("createDigitalDownloadAttachment",
		requestCase{name: "a file", values: download, body: guide, golden: "v2/download_attachment.json"},
		requestCase{
			name: "a file without an ending", values: download, body: `{"kind":"download","filename":"LICENCE","url":"http://files.example.com/L","size_in_bytes":1,"button_text":null}`,
			says: `"filename":"LICENCE","file_type":null,"size_in_bytes":1,"kind":"download","button_text":null`,
		},
		requestCase{name: "a page", values: theBread, body: lead, golden: "v2/download_redirect.json"},
		requestCase{
			name: "another kind than the others", values: download, body: lead, status: 422,
			says: `{"code":"validation_failed","message":"kind must be download, like the other attachments of digital download 1","errors":[{"field":"kind",`,
		},
		requestCase{name: "a file beside a page", values: theBread, body: guide, status: 422, says: "kind must be redirect, like the other attachments of digital download 2"},
		requestCase{name: "a second page", values: theBread, body: lead, status: 422, says: "kind redirect can be that of one attachment, and digital download 2 has one"},
		requestCase{name: "without anything", values: download, body: `{}`, status: 400, golden: "v2/download_attachment_missing.json"},
		requestCase{name: "no body", values: download, status: 400, says: "kind is required; it must be download or redirect"},
		requestCase{name: "a file without what it needs", values: download, body: `{"kind":"download"}`, status: 400, golden: "v2/download_attachment_bare.json"},
		requestCase{name: "a page without what it needs", values: download, body: `{"kind":"redirect","url":null,"button_text":null}`, status: 400, says: "button_text is required"},
		requestCase{name: "a file with a button", values: download, body: strings.Replace(guide, "{", `{"button_text":"Get it",`, 1), status: 422, says: `"errors":[{"field":"button_text"`},
		requestCase{name: "a page with a name", values: download, body: strings.Replace(lead, "{", `{"filename":"a.pdf",`, 1), status: 422, says: `"errors":[{"field":"filename"`},
		requestCase{name: "a page with a size", values: download, body: strings.Replace(lead, "{", `{"size_in_bytes":1,`, 1), status: 422, says: `"errors":[{"field":"size_in_bytes"`},
		requestCase{
			name: "every mistake is named", values: download, status: 400, golden: "v2/download_attachment_mistakes.json",
			body: `{"kind":"download","filename":"","url":"ftp://files.example.com/a","size_in_bytes":0,"button_text":"` + strings.Repeat("b", 25) + `","id":7}`,
		},
		requestCase{name: "an unknown kind", values: download, body: `{"kind":"stream","url":"https://a.example.com"}`, status: 400, says: "kind must be download or redirect"},
		requestCase{name: "an address that runs", values: download, body: strings.Replace(lead, "https://pages.example.com/shawl", "javascript:alert(1)", 1), status: 400, says: `"field":"url"`},
		requestCase{name: "a name that is too long", values: download, body: strings.Replace(guide, "Guide", strings.Repeat("g", 252), 1), status: 400, says: `"field":"filename"`},
		requestCase{name: "a size that no number of JavaScript has", values: download, body: strings.Replace(guide, "20000000000", "9007199254740992", 1), status: 400, says: "size_in_bytes must be an integer from 1 to 9007199254740991"},
		requestCase{name: "of an archived download", values: "digital_download_id=3", body: guide, status: 404, says: "there is no digital download 3"},
		requestCase{name: "of an unknown download", values: "digital_download_id=999", body: guide, status: 404, says: "there is no digital download 999"},
	), badPaths("v2", "createDigitalDownloadAttachment", "digital_download_id", ""),
	downloads("listDigitalDownloadAttachments",
		requestCase{name: "by id", values: download, golden: "v2/download_attachments.json"},
		requestCase{name: "the second page", values: download, query: "page=2&per_page=1", says: `"meta":{"page":2,"per_page":1,"total_pages":2,"total_count":2}`},
		requestCase{name: "of another", values: theBread, says: `"button_text":"Open the patterns page !"`},
		requestCase{name: "of an archived one", values: "digital_download_id=3", status: 404, says: "there is no digital download 3"},
		requestCase{name: "mistakes", values: download, query: "page=0&per_page=0", status: 400, says: "per_page must be an integer from 1 to 100"},
	),
	downloads("showDigitalDownload",
		requestCase{name: "with its attachments", values: download, says: `"kind":"download","image_url":"https://files.example.com/1.jpg"`},
		requestCase{name: "with the number of its attachments", values: download, says: `"total_attachments":2,`},
		requestCase{name: "with a page", values: theBread, says: `"kind":"redirect"`},
	),
	downloads("listDigitalDownloads", requestCase{name: "with their attachments", query: "sort_direction=asc&per_page=1", says: `"total_attachments":2,`}),
	downloads("showDigitalDownloadAttachment",
		requestCase{name: "one", values: download + " attachment_id=1", golden: "v2/download_attachment.json"},
		requestCase{name: "of another download", values: theBread + " attachment_id=1", status: 404, says: "there is no attachment 1 in digital download 2"},
		requestCase{name: "unknown", values: download + " attachment_id=999", status: 404, says: "there is no attachment 999 in digital download 1"},
	), badPaths("v2", "showDigitalDownloadAttachment", "attachment_id", download),
	downloads("deleteDigitalDownloadAttachment",
		requestCase{name: "of another download", values: theBread + " attachment_id=2", status: 404, says: "there is no attachment 2 in digital download 2"},
		requestCase{name: "one", values: download + " attachment_id=2"},
		requestCase{name: "again", values: download + " attachment_id=2", status: 404, says: "there is no attachment 2 in digital download 1"},
	),
	downloads("showDigitalDownload", requestCase{name: "without what was deleted", values: download, says: `"total_attachments":1,`}),
	[]requestCase{{
		face: "lyceum", op: "listChanges", name: "an attachment of a download as it is now", query: "types=download_attachment.created&limit=1",
		says: `"object":{"id":1,"digital_download_id":1,"kind":"download","url":"https://files.example.com/guide.pdf","filename":"Guide.PDF","size_in_bytes":20000000000,` +
			`"button_text":null,"created_at":"2024-01-10T12:00:00Z","updated_at":"2024-01-10T12:00:00Z"}`,
	}, {
		face: "lyceum", op: "listChanges", name: "a deleted attachment of a download", query: "types=download_attachment.deleted",
		says: `"type":"download_attachment.deleted","id":2,"actor":"api_key:1","event":null,"object":null`,
	}},
)
