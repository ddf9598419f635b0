package server_test

// collections returns rows of an operation on a product collection in version 2.
func collections(op string, rows ...requestCase) []requestCase {
	return versionTwo(op+"ProductCollection", rows...)
}

// studioRows are derived from contract/v2/product_collections.yaml, in a school with
// collections of the Lyceum face.
var studioRows = slicesOf(
	versionTwo("showCustomizations", requestCase{name: "none", says: `{"data":null}`}),
	collections("create",
		requestCase{
			name: "with every field", golden: "v2/product_collection.json",
			body: `{"name":"Studio","description":"All of it","image_url":"https://files.example.com/5.jpg","is_published":true,"is_listed":false}`,
		},
		requestCase{name: "with what it must have", body: `{"name":"Bare"}`, golden: "v2/product_collection_bare.json"},
		requestCase{name: "without anything", body: `{}`, status: 400, golden: "v2/product_collection_missing.json"},
		requestCase{name: "no body", status: 400, golden: "v2/product_collection_missing.json"},
		requestCase{
			name: "every mistake is named", status: 400, golden: "v2/product_collection_mistakes.json",
			body: `{"name":"","description":1,"image_url":"nowhere","is_published":"maybe","is_listed":0,"friendly_url":"x"}`,
		},
	),
	versionTwo("listProductCollections",
		requestCase{name: "newest first", query: "per_page=1", says: `"name":"Bare"`},
		requestCase{name: "by last change, oldest first", query: "per_page=1&sort_by=updated_at&sort_direction=asc", says: `"data":[{"id":`},
		requestCase{name: "beyond the last", query: "page=99", says: `"data":[],"meta":{"page":99,"per_page":25,`},
		requestCase{name: "mistakes", query: "page=0&per_page=101&sort_by=name&sort_direction=up", status: 400, golden: "v2/product_collections_mistakes.json"},
	),
	collections("show",
		requestCase{name: "one", values: theStudio, golden: "v2/product_collection.json"},
		requestCase{name: "unknown", values: "product_collection_id=999", status: 404, says: "there is no product collection 999"},
	), badPaths("v2", "showProductCollection", "product_collection_id", ""),
	collections("update",
		requestCase{name: "no body", values: theStudio, golden: "v2/product_collection.json"},
		requestCase{name: "nothing", values: theStudio, body: `{"name":null}`, golden: "v2/product_collection.json"},
		requestCase{name: "every field", values: theStudio, body: `{"name":"Atelier","description":null,"image_url":null,"is_published":false,"is_listed":true}`, golden: "v2/product_collection_changed.json"},
		requestCase{name: "what is counted", values: theStudio, body: `{"id":7,"total_sales":1,"enrolled":1}`, status: 400, says: `"field":"enrolled"`},
		requestCase{name: "unknown", values: "product_collection_id=999", body: `{}`, status: 404, says: "there is no product collection 999"},
	),
	collections("put",
		requestCase{name: "some fields", values: theStudio, body: `{"name":"Workshop","is_published":true}`, says: `"name":"Workshop","description":null,"is_published":true`},
		requestCase{name: "nothing", values: theStudio, says: `"name":"Workshop","description":null,"is_published":true`},
		requestCase{name: "unknown", values: "product_collection_id=999", body: `{}`, status: 404, says: "there is no product collection 999"},
	),
	versionTwo("addProductCollectionProducts",
		requestCase{name: "two", values: theStudio, body: `{"data":[{"id":4,"type":"course","name":"x","href":"y","created_at":"2024-01-01T00:00:00Z","updated_at":"2024-01-01T00:00:00Z"},{"id":1,"type":"digital_download"}]}`, golden: "v2/collection_added.json"},
		requestCase{name: "one that is in, and one twice", values: theStudio, body: `{"data":[{"id":4,"type":"course"},{"id":3,"type":"course"},{"id":3,"type":"course"}]}`, says: `{"data":[{"id":4,"type":"course","name":"Empty ours","href":"/v2/products/courses/4",`},
		requestCase{name: "an unknown one", values: theStudio, body: `{"data":[{"id":2,"type":"course"},{"id":999,"type":"course"}]}`, status: 404, says: "there is no course 999"},
		requestCase{name: "to an unknown collection", values: "product_collection_id=999", body: `{"data":[{"id":2,"type":"course"}]}`, status: 404, says: "there is no product collection 999"},
		requestCase{name: "none", values: theStudio, body: `{"data":[]}`, status: 400, says: "data must be a list of 1 to 100 objects"},
		requestCase{name: "no body", values: theStudio, status: 400, says: "data must be a list of objects"},
		requestCase{name: "mistakes", values: theStudio, body: `{"data":[{"id":0,"type":"membership_tier","price":1},{}]}`, status: 400, golden: "v2/collection_added_mistakes.json"},
	),
	versionTwo("listProductCollectionProducts",
		requestCase{name: "newest first", values: theStudio, query: "limit=2", golden: "v2/collection_products.json"},
		requestCase{name: "second page", values: theStudio, query: "limit=2&page=2", says: `"data":[{"id":4,"type":"course",`},
		requestCase{name: "of a kind", values: theStudio, query: "type=digital_download", says: `"total_count":1}`},
		requestCase{name: "of a kind that there is none of", values: theStudio, query: "type=coaching", says: `{"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}}`},
		requestCase{name: "mistakes", values: theStudio, query: "type=bundle&page=0&limit=101", status: 400, says: "type must be course or coaching or digital_download"},
		requestCase{name: "unknown", values: "product_collection_id=999", status: 404, says: "there is no product collection 999"},
	),
	own("createPricingPlan", requestCase{name: "of the collection", body: `{"product_type":"product_collection","product_id":` + studioID + `,"name":"Studio","price":0,"currency":"USD"}`, says: `"name":"Studio"`}),
	own("createEnrollment", requestCase{name: "to the collection", body: `{"user_id":3,"product_type":"product_collection","product_id":` + studioID + `}`, status: 201}),
	own("createSale", requestCase{name: "of the collection", body: `{"user_id":3,"pricing_plan_id":20}`}),
	collections("show", requestCase{name: "with products and a learner", values: theStudio, says: `"enrolled":1,"total_sales":1,"total_products":3,"status":"published"`}),
	versionTwo("removeProductCollectionProduct",
		requestCase{name: "one", values: theStudio + " product_type=course product_id=3"},
		requestCase{name: "again", values: theStudio + " product_type=course product_id=3"},
		requestCase{name: "an unknown one", values: theStudio + " product_type=course product_id=999", status: 404, says: "there is no course 999"},
		requestCase{name: "of no kind", values: theStudio + " product_type=bundle product_id=3", status: 400, says: `"field":"product_type"`},
		requestCase{name: "of an unknown collection", values: "product_collection_id=999 product_type=course product_id=3", status: 404, says: "there is no product collection 999"},
	),
	collections("show", requestCase{name: "with one less", values: theStudio, says: `"total_products":2`}),
	own("createEnrollment", requestCase{name: "to a download", body: `{"user_id":2,"product_type":"digital_download","product_id":1}`, status: 201}),
	downloads("showDigitalDownload", requestCase{name: "with a learner of its own, and one who has it with the collection", values: download, says: `"total_attachments":1,"total_admissions":2,"total_sales":0`}),
	collections("delete",
		requestCase{name: "one", values: theStudio},
		requestCase{name: "again", values: theStudio},
		requestCase{name: "unknown", values: "product_collection_id=999", status: 404, says: "there is no product collection 999"},
	),
	collections("show", requestCase{name: "archived", values: theStudio, status: 404, says: "there is no product collection " + studioID}),
	collections("update", requestCase{name: "archived", values: theStudio, body: `{"name":"Back"}`, status: 404, says: "there is no product collection " + studioID}),
	versionTwo("listProductCollectionProducts", requestCase{name: "of an archived one", values: theStudio, status: 404, says: "there is no product collection " + studioID}),
	own("showProductCollection", requestCase{name: "as version 2 left it", values: theStudio, says: `"name":"Workshop"`}),
)

// studioID is the collection that studioRows create first.
const (
	studioID  = "3"
	theStudio = "product_collection_id=" + studioID
)
