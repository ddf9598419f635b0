package server_test

import "strings"

const watercolour = `{"name":"Water & Colour","description":"Paint","is_published":true,"is_listed":true,"friendly_url":"Water-colour_1","image_url":"https://files.example.com/w.jpg","author_bio_id":1}`

var productCourseRows = slicesOf(
	ofV2("createProductCourse", "",
		requestCase{name: "with every field", body: watercolour, golden: "v2/course.json"},
		requestCase{name: "with what it must have", body: `{"name":"Pottery ours","author_bio_id":2}`, golden: "v2/course_bare.json"},
		requestCase{name: "the longest name", body: `{"name":"` + strings.Repeat("é", 200) + `","author_bio_id":1,"description":null,"image_url":" "}`, says: `"image_url":null`},
		requestCase{name: "without a body", status: 400, golden: "v2/course_missing.json"},
		requestCase{
			name: "every mistake", status: 400, golden: "v2/course_mistakes.json",
			body: `{"name":"` + strings.Repeat("é", 201) + `","description":"` + strings.Repeat("é", 256) + `","is_published":1,"is_listed":"x","friendly_url":"a b","image_url":"ftp://x","author_bio_id":0,"id":1}`,
		},
		requestCase{name: "an address that is taken", body: `{"name":"x","friendly_url":"WATER-COLOUR_1","author_bio_id":1}`, status: 422, says: `{"code":"validation_failed","message":"friendly_url is that of another course of the school"`},
		requestCase{name: "of an unknown author", body: `{"name":"x","author_bio_id":999}`, status: 422, says: `"field":"author_bio_id"`},
	),
	ofV2("showProductCourse", "course_id=7",
		requestCase{name: "one", golden: "v2/course.json"},
		requestCase{name: "unknown", values: "course_id=999", status: 404, says: "there is no course 999"},
	), badPaths("v2", "showProductCourse", "course_id", ""),
	ofV2("updateProductCourse", "course_id=7",
		requestCase{name: "without a body", golden: "v2/course.json"},
		requestCase{name: "what it has", body: watercolourAgain, golden: "v2/course.json"},
		requestCase{name: "some fields", body: `{"name":"Water","description":null,"is_listed":false,"image_url":""}`, says: `"name":"Water","is_published":true,"is_listed":false,"description":null,"author_bio_id":1,"href":"/v2/products/courses/7","image_url":null`},
		requestCase{name: "its own address", body: `{"friendly_url":"water-Colour_1"}`, says: `"id":7`},
		requestCase{name: "an address that is taken", values: "course_id=8", body: `{"friendly_url":"water-colour_1"}`, status: 422, says: `"field":"friendly_url"`},
		requestCase{name: "the author", body: `{"author_bio_id":2}`, status: 400, says: `"field":"author_bio_id"`},
		requestCase{name: "an empty name", body: `{"name":""}`, status: 400, says: `"field":"name"`},
		requestCase{name: "an empty address", body: `{"friendly_url":""}`, status: 400, says: `"field":"friendly_url"`},
		requestCase{name: "unknown", values: "course_id=999", body: `{}`, status: 404, says: "there is no course 999"},
	),
	[]requestCase{
		{face: "v1", op: "ShowCourse", name: "one that v2 made", values: "course_id=7", says: `"name":"Water"`},
		{face: "lyceum", op: "showCourse", name: "one that v2 made", values: "course_id=7", says: `"name":"Water"`},
	},
)

const watercolourAgain = `{"name":"Water & Colour","is_published":true,"friendly_url":"Water-colour_1"}`
