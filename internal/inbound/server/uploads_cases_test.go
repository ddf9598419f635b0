package server_test

// uploadRows are derived from contract/v2/uploads.yaml. downloadRows created the digital
// downloads 1 to 3 and archived 3.
var uploadRows = slicesOf(
	downloads("createUpload",
		requestCase{
			name: "a picture of a course", body: `{"type":"course","id":1,"purpose":"thumbnail","extension":"JPG"}`,
			says: `.jpg","expires":"2024-01-10T13:00:00Z","upload_id":"`,
		},
		requestCase{
			name: "a file of a download", body: `{"type":"digital_download","id":1,"purpose":"attachment","extension":"pdf"}`,
			says: `"upload_method":"PUT","upload_headers":{"Content-Type":"application/pdf"},"upload_body":null,"file_field_name":null,"url":"https://school.example.com/files/`,
		},
		requestCase{name: "a picture of a download", body: `{"type":"digital_download","id":2,"purpose":"thumbnail","extension":"webp"}`, says: `"Content-Type":"image/webp"`},
		requestCase{name: "a file of a lecture", body: `{"type":"lecture","id":11,"purpose":"attachment","extension":"x7z"}`, says: `"Content-Type":"application/octet-stream"`},
		requestCase{name: "no body", status: 400, golden: "v2/upload_missing.json"},
		requestCase{name: "every mistake is named", body: `{"type":"page","id":0,"purpose":"logo","extension":"a.b","name":"x"}`, status: 400, golden: "v2/upload_mistakes.json"},
		requestCase{name: "an extension that is too long", body: `{"type":"course","id":1,"purpose":"thumbnail","extension":"jpegjpegjpg"}`, status: 400, says: `"field":"extension"`},
		requestCase{name: "an extension that leads elsewhere", body: `{"type":"lecture","id":11,"purpose":"attachment","extension":"../x"}`, status: 400, says: "extension must be 1 to 10 letters and digits, such as pdf"},
		requestCase{name: "nulls", body: `{"type":null,"id":null,"purpose":null,"extension":null}`, status: 400, says: `"field":"type"`},
		requestCase{
			name: "a file of a course", body: `{"type":"course","id":1,"purpose":"attachment","extension":"pdf"}`, status: 422,
			says: `{"code":"validation_failed","message":"purpose must be thumbnail for the type course","errors":[{"field":"purpose",`,
		},
		requestCase{name: "a picture of a lecture", body: `{"type":"lecture","id":11,"purpose":"thumbnail","extension":"png"}`, status: 422, says: "purpose must be attachment for the type lecture"},
		requestCase{name: "not a picture", body: `{"type":"coaching","id":1,"purpose":"thumbnail","extension":"pdf"}`, status: 422, says: "extension must be jpg, jpeg, png, gif or webp for a thumbnail"},
		requestCase{name: "a picture that runs", body: `{"type":"membership","id":1,"purpose":"thumbnail","extension":"svg"}`, status: 422, says: "extension must be"},
		requestCase{name: "of an unknown course", body: `{"type":"course","id":999,"purpose":"thumbnail","extension":"png"}`, status: 422, says: "id 999 matches no course of this school"},
		requestCase{name: "of an unknown collection", body: `{"type":"product_collection","id":999,"purpose":"thumbnail","extension":"png"}`, status: 422, says: "id 999 matches no product collection of this school"},
		requestCase{name: "of an archived download", body: `{"type":"digital_download","id":3,"purpose":"attachment","extension":"pdf"}`, status: 422, says: "id 3 matches no digital download of this school"},
		requestCase{name: "of an unknown lecture", body: `{"type":"lecture","id":999,"purpose":"attachment","extension":"pdf"}`, status: 422, says: "id 999 matches no lecture of this school"},
		requestCase{name: "of an unknown membership", body: `{"type":"membership","id":999,"purpose":"thumbnail","extension":"png"}`, status: 422, says: "id 999 matches no membership of this school"},
		requestCase{name: "of unknown coaching", body: `{"type":"coaching","id":999,"purpose":"thumbnail","extension":"png"}`, status: 422, says: "id 999 matches no coaching of this school"},
	),
	[]requestCase{{
		face: "lyceum", op: "listChanges", name: "an upload whose file has not come", query: "types=upload.created&limit=1",
		says: `"target_type":"course","target_id":1,"purpose":"thumbnail","extension":"jpg","created_at":"2024-01-10T12:00:00Z","expires_at":"2024-01-10T13:00:00Z","received_at":null,"size_in_bytes":null`,
	}},
	downloads("createDigitalDownloadAttachment",
		requestCase{
			name: "a link that expires", values: download, status: 422, says: `"errors":[{"field":"url","message":"must be a permanent address, not a link that expires"}`,
			body: `{"kind":"download","filename":"a.pdf","size_in_bytes":1,"url":"https://school.example.com/files/1/links/digital-downloads/1?key=1&until=1&signature=x"}`,
		},
		requestCase{
			name: "an address of this server that nobody uploaded to", values: download, says: `"url":"https://school.example.com/files/`,
			body: `{"kind":"download","filename":"a.pdf","size_in_bytes":1,"url":"https://school.example.com/files/1/7c0e2a4e-5a53-4b5e-9d3c-0a4de5f3b1aa.pdf"}`,
		},
	),
	downloads("deleteDigitalDownloadAttachment", requestCase{name: "that one", values: download + " attachment_id=4"}),
)
