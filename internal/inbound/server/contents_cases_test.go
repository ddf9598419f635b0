package server_test

import "strings"

// ofV2 returns rows of an operation of version 2, with some ids for its path.
func ofV2(op, values string, rows ...requestCase) []requestCase {
	for i := range rows {
		rows[i].face, rows[i].op = "v2", op
		if rows[i].values == "" {
			rows[i].values = values
		}
	}
	return rows
}

var name300, name301 = strings.Repeat("é", 300), strings.Repeat("é", 301)

// contentsRows are derived from contract/v2, one after the other in one school.
var contentsRows = slicesOf(
	productCourseRows, sectionRows, lectureRows, attachmentRows, commentRows, quizRows, newQuizRows, userResponseRows, myQuizRows, goneQuizRows,
	complianceRows, myCommentRows,
)

var sectionRows = slicesOf(
	ofV2("listSections", "course_id=1",
		requestCase{name: "by position", golden: "v2/sections.json"},
		requestCase{name: "backwards", query: "sort_direction=desc&per_page=1", says: `"data":[{"id":3,`},
		requestCase{name: "by name", query: "sort_by=name&per_page=1", says: `"name":"Beginning `},
		requestCase{name: "beyond the last", query: "page=9", says: `"data":[],"meta":{"page":9,"per_page":25,"total_pages":1,"total_count":3}`},
		requestCase{name: "of a course without any", values: "course_id=4", says: `"data":[]`},
		requestCase{name: "of an unknown course", values: "course_id=999", status: 404, says: "there is no course 999"},
		requestCase{name: "mistakes", query: "page=0&per_page=101&sort_by=id&sort_direction=up", status: 400, golden: "v2/sections_mistakes.json"},
	), badPaths("v2", "listSections", "course_id", ""),
	ofV2("createSection", "course_id=1",
		requestCase{name: "at the end", body: `{"name":"Encore"}`, golden: "v2/section.json"},
		requestCase{name: "in an empty course", values: "course_id=4", body: `{"name":"` + name300 + `"}`, says: `"position":1,`},
		requestCase{name: "a name that is too long", body: `{"name":"` + name301 + `"}`, status: 400, says: `"field":"name"`},
		requestCase{name: "no name", body: `{"name":""}`, status: 400, says: `"field":"name"`},
		requestCase{name: "without a body", status: 400, says: `name is required`},
		requestCase{name: "read-only", body: `{"name":"x","position":1,"id":1}`, status: 400, says: `"field":"id"`},
		requestCase{name: "in an unknown course", values: "course_id=999", body: `{"name":"x"}`, status: 404, says: "there is no course 999"},
	),
	ofV2("showSection", "course_id=1 section_id=1",
		requestCase{name: "one", says: `"position":2,`},
		requestCase{name: "of another course", values: "course_id=2 section_id=1", status: 404, says: "there is no section 1 in course 2"},
		requestCase{name: "unknown", values: "course_id=1 section_id=999", status: 404, says: "there is no section 999 in course 1"},
	), badPaths("v2", "showSection", "section_id", "course_id=1"),
	ofV2("updateSection", "course_id=1 section_id=1",
		requestCase{name: "a name", body: `{"name":"Overture"}`, says: `"id":1,"name":"Overture","position":2,`},
		requestCase{name: "without a body", status: 400, says: `name is required`},
		requestCase{name: "null", body: `{"name":null}`, status: 400, says: `name is required`},
		requestCase{name: "a name of a wrong type", body: `{"name":1}`, status: 400, says: `"field":"name"`},
		requestCase{name: "read-only", body: `{"name":"x","position":2}`, status: 400, says: `"field":"position"`},
		requestCase{name: "of another course", values: "course_id=2 section_id=1", body: `{"name":"x"}`, status: 404, says: "there is no section 1 in course 2"},
	),
	ofV2("replaceSection", "course_id=1 section_id=1", requestCase{name: "as PATCH", body: `{"name":"Prelude"}`, says: `"name":"Prelude"`}),
	ofV2("reorderSections", "course_id=1",
		requestCase{name: "all", body: `{"data":[{"id":3,"position":-5},{"id":1,"position":70},{"id":2,"position":0},{"id":6,"position":71}]}`, golden: "v2/sections_ordered.json"},
		requestCase{
			name: "repeated, foreign and missing", status: 422, golden: "v2/sections_misordered.json",
			body: `{"data":[{"id":1,"position":1},{"id":1,"position":2},{"id":4,"position":3},{"id":999,"position":4},{"id":3,"position":1}]}`,
		},
		requestCase{name: "mistakes", status: 400, golden: "v2/sections_order_mistakes.json", body: `{"data":[{"id":0,"position":"x"},{"id":1,"place":2}],"more":1}`},
		requestCase{name: "none", body: `{"data":[]}`, status: 400, says: "data must be a list of 1 to 2000 objects"},
		requestCase{name: "no objects", body: `{"data":[1]}`, status: 400, says: "data must be a list of objects"},
		requestCase{name: "as many as there may be", body: `{"data":[` + strings.Repeat(`{ "id": 2147483647, "position": 2147483647 }, `, 1999) + `{"id":1,"position":1}]}`, status: 422, says: `2147483647 matches no section of course`},
		requestCase{name: "too many", body: `{"data":[` + strings.Repeat(`{"id":1,"position":1},`, 2000) + `{"id":1,"position":1}]}`, status: 400, says: "data must be a list of 1 to 2000 objects"},
		requestCase{name: "without a body", status: 400, says: `"field":"data"`},
		requestCase{name: "of an unknown course", values: "course_id=999", body: `{"data":[{"id":1,"position":1}]}`, status: 404, says: "there is no course 999"},
	),
	ofV2("listSections", "course_id=1", requestCase{name: "in the new order", query: "per_page=2", says: `"data":[{"id":3,`}),
	[]requestCase{{face: "v1", op: "ShowCourse", name: "in the new order", values: "course_id=1", says: `"lecture_sections":[{"id":3,`}},
)
