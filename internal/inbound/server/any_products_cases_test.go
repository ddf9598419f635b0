package server_test

// anyProductRows are derived from contract/v2/products.yaml. They come after the rows that
// create products of every type, and find those by the names in their own rows.
var anyProductRows = slicesOf(
	versionTwo("createProductCourse", requestCase{name: "to list", body: `{"name":"Lino cuts","description":"Ink and 100% paper","author_bio_id":1}`}),
	downloads("createDigitalDownload", requestCase{name: "to list", body: `{"name":"Lino templates","is_published":true,"author_bio_id":2,"image_url":"https://files.example.com/lino.jpg"}`}),
	versionTwo("createProductCollection", requestCase{name: "to list", body: `{"name":"All of lino"}`}),
	versionTwo("listProducts",
		requestCase{name: "newest first, then by type and id", query: "name=LINO", golden: "v2/products.json"},
		requestCase{name: "oldest first", query: "name=lino&sort_direction=asc&per_page=1", says: `"type":"course","name":"Lino cuts"`},
		requestCase{name: "second page", query: "name=lino&per_page=2&page=2", says: `"page":2,"per_page":2,"total_pages":2,"total_count":3}`},
		requestCase{name: "beyond the last", query: "name=lino&page=9", says: `{"data":[],"meta":{"page":9,"per_page":25,"total_pages":1,"total_count":3}}`},
		requestCase{name: "by last change", query: "name=lino&sort_by=updated_at&per_page=1", says: `"name":"All of lino"`},
		requestCase{name: "a part of the description", query: "search=100%25", says: `"name":"Lino cuts"`},
		requestCase{name: "no part of the name", query: "name=100%25%20paper", says: none},
		requestCase{name: "published", query: "name=lino&is_published=true", says: `"total_count":1`},
		requestCase{name: "of an author", query: "name=lino&author_bio_id=1", says: `"total_count":1`},
		requestCase{name: "of an unknown author", query: "author_bio_id=999", says: none},
		requestCase{name: "after is excluded", query: "name=lino&created_after=2024-01-10T12:00:00Z", says: none},
		requestCase{name: "before is included", query: "name=lino&created_before=2024-01-10T12:00:00Z", says: `"total_count":3`},
		requestCase{name: "mistakes", status: 400, golden: "v2/products_mistakes.json", query: "page=0&per_page=101&sort_by=name&sort_direction=up&is_published=x&author_bio_id=x&created_after=x&created_before=y&name=&search="},
	),
)
