package server_test

const (
	potteryOf   = "course_id=1 user_id="
	none        = `{"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}}`
	refOfMira   = `{"data":[{"user":{"id":2,"href":"/v2/users/2"},"sale":null,"status":"active","enrolled_at":"2024-01-05T12:00:00Z","expires_at":null,`
	pastOfFour  = `"user":{"id":4,"href":"/v2/users/4"},"sale":null,"status":"disabled","enrolled_at":"2024-01-03T12:00:00Z","expires_at":null,"created_at":"2024-01-03T12:00:00Z","updated_at":"2024-01-04T12:00:00Z"`
	finishedSay = `"status":"completed","enrolled_at":"2024-01-05T12:00:00Z","expires_at":null,"created_at":"2024-01-05T12:00:00Z","updated_at":"2024-01-09T12:00:00Z","progress":{"percent_complete":100,"completed_at":"2024-01-09T12:00:00Z"}`
)

// enrollmentRows are derived from contract/v2/course_enrollments.yaml and read what a classroom
// has: in course 1, users 4 (until day 400), 5 (completed), 3 (expired on day 8) and 2, and
// user 4 before.
var enrollmentRows = slicesOf(
	versionTwo("listCourseEnrollments",
		requestCase{name: "newest first", values: "course_id=1", golden: "v2/course_enrollments.json"},
		requestCase{name: "oldest first", values: "course_id=1", query: "sort_direction=asc&per_page=1", says: `{"data":[{` + pastOfFour},
		requestCase{name: "second page", values: "course_id=1", query: "sort_by=enrolled_at&per_page=2&page=2", says: `{"data":[{"user":{"id":3,"href":"/v2/users/3"},"sale":null,"status":"expired","enrolled_at":"2024-01-05T12:00:00Z","expires_at":"2024-01-08T12:00:00Z","created_at":"2024-01-05T12:00:00Z","updated_at":"2024-01-08T12:00:00Z"`},
		requestCase{name: "beyond the last", values: "course_id=1", query: "page=9", says: `{"data":[],"meta":{"page":9,"per_page":25,"total_pages":1,"total_count":5}}`},
		requestCase{name: "active", values: "course_id=1", query: "status=active", says: `"total_count":2}`},
		requestCase{name: "completed", values: "course_id=1", query: "status=completed", says: finishedSay + `}],"meta":{"page":1,"per_page":25,"total_pages":1,"total_count":1}`},
		requestCase{name: "expired", values: "course_id=1", query: "status=expired", says: `"total_count":1}`},
		requestCase{name: "disabled", values: "course_id=1", query: "status=disabled", says: `{"data":[{` + pastOfFour},
		requestCase{name: "of a user", values: "course_id=1", query: "user_id=4", says: `"total_count":2}`},
		requestCase{name: "of a user, active", values: "course_id=1", query: "user_id=4&status=active", says: `"total_count":1}`},
		requestCase{name: "of an unknown user", values: "course_id=1", query: "user_id=999", says: none},
		requestCase{name: "after is excluded", values: "course_id=1", query: "enrolled_after=2024-01-05T12:00:00Z", says: `"total_count":1}`},
		requestCase{name: "before is included", values: "course_id=1", query: "enrolled_before=2024-01-05T12:00:00Z", says: `"total_count":4}`},
		requestCase{name: "a period of a year", values: "course_id=1", query: "enrolled_after=2023-05-01&enrolled_before=2024-05-01", says: `"total_count":5}`},
		requestCase{name: "by completion, then by enrollment", values: "course_id=1", query: "sort_by=completed_at&per_page=2", says: `{"data":[{"user":{"id":5,"href":"/v2/users/5"},"sale":null,` + finishedSay + `},{"user":{"id":4,`},
		requestCase{name: "by completion, the first to complete first", values: "course_id=1", query: "sort_by=completed_at&sort_direction=asc&per_page=2", says: finishedSay + `},{` + pastOfFour},
		requestCase{name: "by completion, of a user", values: "course_id=1", query: "sort_by=completed_at&user_id=5", says: `"total_count":1}`},
		requestCase{name: "of an empty course", values: "course_id=4", says: none},
		requestCase{name: "by completion, of an empty course", values: "course_id=4", query: "sort_by=completed_at", says: none},
		requestCase{name: "unknown", values: "course_id=999", status: 404, says: "there is no course 999"},
		requestCase{name: "mistakes", values: "course_id=1", query: "status=over&user_id=x&sort_by=name&sort_direction=up&enrolled_after=x&enrolled_before=2024-02-30&page=0&per_page=101", status: 400, golden: "v2/enrollments_mistakes.json"},
	), badPaths("v2", "listCourseEnrollments", "course_id", ""),
	versionTwo("listUserCourseEnrollments",
		requestCase{name: "active", values: potteryOf + "2", says: refOfMira},
		requestCase{name: "completed", values: potteryOf + "5", says: finishedSay},
		requestCase{name: "the active of two", values: potteryOf + "4", says: `"total_count":1}`},
		requestCase{name: "expired", values: potteryOf + "3", says: none},
		requestCase{name: "never enrolled", values: potteryOf + "1", says: none},
		requestCase{name: "beyond the last", values: potteryOf + "2", query: "page=2&per_page=1", says: `{"data":[],"meta":{"page":2,"per_page":1,"total_pages":1,"total_count":1}}`},
		requestCase{name: "an unknown user", values: potteryOf + "999", status: 404, says: "there is no user 999"},
		requestCase{name: "an unknown course", values: "course_id=999 user_id=2", status: 404, says: "there is no course 999"},
		requestCase{name: "mistakes", values: potteryOf + "2", query: "page=x&per_page=0", status: 400, says: `{"field":"per_page","message":"must be an integer from 1 to 100"}`},
	), badPaths("v2", "listUserCourseEnrollments", "user_id", "course_id=1"),
)

// memberRows are derived from contract/v2, in a course that they create.
var memberRows = slicesOf(
	versionTwo("createProductCourse", requestCase{name: "for members", body: `{"name":"Weaving","author_bio_id":1}`, says: `"id":` + weavingID + `,`}),
	versionTwo("putCourseEnrollment",
		requestCase{name: "new", values: weavingOf + "2", golden: "v2/course_enrollment.json"},
		requestCase{name: "again", values: weavingOf + "2", golden: "v2/course_enrollment.json"},
		requestCase{name: "an unknown user", values: weavingOf + "999", status: 404, says: "there is no user 999"},
		requestCase{name: "an unknown course", values: "course_id=999 user_id=2", status: 404, says: "there is no course 999"},
	), badPaths("v2", "putCourseEnrollment", "user_id", "course_id=1"),
	versionTwo("updateCourseEnrollment",
		requestCase{name: "again", values: weavingOf + "2", golden: "v2/course_enrollment.json"},
		requestCase{name: "new", values: weavingOf + "3", says: `{"data":{"user":{"id":3,"href":"/v2/users/3"},"sale":null,"status":"active"`},
		requestCase{name: "an unknown course", values: "course_id=999 user_id=2", status: 404, says: "there is no course 999"},
	), badPaths("v2", "updateCourseEnrollment", "course_id", "user_id=1"),
	[]requestCase{{face: "v1", op: "ShowCourseEnrollments", name: "of version 2", values: "course_id=" + weavingID, says: `{"enrollments":[{"user_id":3,"enrolled_at":"2024-01-10T12:00:00Z","completed_at":null,"percent_complete":0,"expires_at":null},{"user_id":2,`}},
	versionTwo("deleteCourseEnrollment",
		requestCase{name: "one", values: weavingOf + "3"},
		requestCase{name: "again", values: weavingOf + "3"},
		requestCase{name: "never enrolled", values: weavingOf + "1", status: 404, says: "user 1 is not enrolled in course " + weavingID},
		requestCase{name: "an unknown user", values: weavingOf + "999", status: 404, says: "there is no user 999"},
		requestCase{name: "an unknown course", values: "course_id=999 user_id=2", status: 404, says: "there is no course 999"},
	), badPaths("v2", "deleteCourseEnrollment", "user_id", "course_id=1"),
	versionTwo("listCourseEnrollments",
		requestCase{name: "ended ones, too", values: "course_id=" + weavingID, query: "user_id=3", says: `"status":"disabled"`},
		requestCase{name: "in all", values: "course_id=" + weavingID, says: `"total_count":2}`},
	),
	versionTwo("listUserCourseEnrollments", requestCase{name: "ended", values: weavingOf + "3", says: none}),
	versionTwo("putCourseEnrollment", requestCase{name: "back", values: weavingOf + "3", says: `"status":"active"`}),
	versionTwo("listCourseEnrollments", requestCase{name: "twice", values: "course_id=" + weavingID, query: "user_id=3", says: `"total_count":2}`}),
	versionTwo("createProductCollection", requestCase{name: "for members", body: `{"name":"Textiles"}`, says: `"name":"Textiles"`}),
	versionTwo("addProductCollectionProducts", requestCase{name: "for members", values: theTextiles, body: `{"data":[{"id":` + weavingID + `,"type":"course"}]}`, says: `"name":"Weaving"`}),
	own("createEnrollment", requestCase{name: "to the collection of a course", body: `{"user_id":4,"product_type":"product_collection","product_id":` + textilesID + `,"ends_at":"2024-03-01T00:00:00Z"}`, status: 201}),
	versionTwo("listUserCourseEnrollments", requestCase{name: "by a collection", values: weavingOf + "4", says: `"status":"active","enrolled_at":"2024-01-10T12:00:00Z","expires_at":"2024-03-01T00:00:00Z"`}),
	versionTwo("putCourseEnrollment", requestCase{name: "who has it by a collection", values: weavingOf + "4", says: `"expires_at":"2024-03-01T00:00:00Z"`}),
	versionTwo("deleteCourseEnrollment", requestCase{name: "by a collection", values: weavingOf + "4"}),
	versionTwo("listCourseEnrollments",
		requestCase{name: "blocked", values: "course_id=" + weavingID, query: "user_id=4", says: `"status":"disabled"`},
		requestCase{name: "among the disabled", values: "course_id=" + weavingID, query: "status=disabled", says: `"total_count":2}`},
		requestCase{name: "not among the active", values: "course_id=" + weavingID, query: "status=active", says: `"total_count":2}`},
		requestCase{name: "all of several ways", values: "course_id=" + weavingID, query: "per_page=1", says: `"total_count":4}`},
	),
	versionTwo("putCourseEnrollment", requestCase{name: "who was kept out", values: weavingOf + "4", says: `"status":"active","enrolled_at":"2024-01-10T12:00:00Z","expires_at":null`}),
	versionTwo("listUserCourseEnrollments", requestCase{name: "by both ways", values: weavingOf + "4", says: `"total_count":2}`}),
	versionTwo("createDigitalDownload", requestCase{name: "for members", body: `{"name":"Drafts of weaves","author_bio_id":1}`, says: `"id":` + draftsID + `,`}),
	versionTwo("listDigitalDownloadEnrollments", requestCase{name: "none", values: theDrafts, says: none}),
	versionTwo("putDigitalDownloadEnrollment",
		requestCase{name: "new", values: theDrafts + " user_id=2", golden: "v2/download_enrollment.json"},
		requestCase{name: "again", values: theDrafts + " user_id=2", golden: "v2/download_enrollment.json"},
		requestCase{name: "an unknown user", values: theDrafts + " user_id=999", status: 404, says: "there is no user 999"},
		requestCase{name: "an unknown download", values: "digital_download_id=999 user_id=2", status: 404, says: "there is no digital download 999"},
	), badPaths("v2", "putDigitalDownloadEnrollment", "user_id", theDrafts),
	versionTwo("showDigitalDownloadEnrollment",
		requestCase{name: "one", values: theDrafts + " user_id=2", golden: "v2/download_enrollment.json"},
		requestCase{name: "never enrolled", values: theDrafts + " user_id=3", status: 404, says: "user 3 was never enrolled in digital download " + draftsID},
		requestCase{name: "an unknown user", values: theDrafts + " user_id=999", status: 404, says: "there is no user 999"},
	), badPaths("v2", "showDigitalDownloadEnrollment", "user_id", theDrafts),
	versionTwo("listDigitalDownloadEnrollments",
		requestCase{name: "after is included", values: theDrafts, query: "enrolled_after=2024-01-10T12:00:00Z", says: `"total_count":1}`},
		requestCase{name: "a second later", values: theDrafts, query: "enrolled_after=2024-01-10T12:00:01Z", says: none},
		requestCase{name: "before is included", values: theDrafts, query: "enrolled_before=2024-01-10T12:00:00Z&sort_by=enrolled_at&sort_direction=asc", says: `"total_count":1}`},
		requestCase{name: "active", values: theDrafts, query: "status=active", says: `"total_count":1}`},
		requestCase{name: "expired", values: theDrafts, query: "status=expired", says: none},
		requestCase{name: "mistakes", values: theDrafts, query: "status=completed&sort_by=completed_at&sort_direction=up&enrolled_after=x", status: 400, says: "status must be active or expired or disabled"},
		requestCase{name: "unknown", values: "digital_download_id=999", status: 404, says: "there is no digital download 999"},
	),
	versionTwo("deleteDigitalDownloadEnrollment",
		requestCase{name: "one", values: theDrafts + " user_id=2"},
		requestCase{name: "again", values: theDrafts + " user_id=2"},
		requestCase{name: "never enrolled", values: theDrafts + " user_id=3", status: 404, says: "user 3 is not enrolled in digital download " + draftsID},
	), badPaths("v2", "deleteDigitalDownloadEnrollment", "user_id", theDrafts),
	versionTwo("showDigitalDownloadEnrollment", requestCase{name: "ended", values: theDrafts + " user_id=2", says: `"status":"disabled"`}),
	versionTwo("listProductCollectionEnrollments",
		requestCase{name: "one until March", values: theTextiles, golden: "v2/collection_enrollments.json"},
		requestCase{name: "of a user", values: theTextiles, query: "user_id=3", says: none},
		requestCase{name: "after is excluded", values: theTextiles, query: "enrolled_after=2024-01-10T12:00:00Z", says: none},
		requestCase{name: "mistakes", values: theTextiles, query: "status=expired&user_id=x&sort_by=completed_at", status: 400, says: "status must be active or disabled"},
		requestCase{name: "unknown", values: "product_collection_id=999", status: 404, says: "there is no product collection 999"},
	), badPaths("v2", "listProductCollectionEnrollments", "product_collection_id", ""),
	versionTwo("putProductCollectionEnrollment",
		requestCase{name: "new", values: theTextiles + " user_id=5", says: `{"data":{"user":{"id":5,"href":"/v2/users/5"},"status":"active",`},
		requestCase{name: "an unknown collection", values: "product_collection_id=999 user_id=2", status: 404, says: "there is no product collection 999"},
	), badPaths("v2", "putProductCollectionEnrollment", "user_id", theTextiles),
	versionTwo("listUserCourseEnrollments", requestCase{name: "with a collection", values: weavingOf + "5", says: `"total_count":1}`}),
	versionTwo("deleteProductCollectionEnrollment",
		requestCase{name: "one", values: theTextiles + " user_id=5"},
		requestCase{name: "again", values: theTextiles + " user_id=5"},
		requestCase{name: "an unknown user", values: theTextiles + " user_id=999", status: 404, says: "there is no user 999"},
	), badPaths("v2", "deleteProductCollectionEnrollment", "user_id", theTextiles),
	versionTwo("listUserCourseEnrollments", requestCase{name: "ended with a collection", values: weavingOf + "5", says: none}),
	versionTwo("listProductCollectionEnrollments", requestCase{name: "disabled", values: theTextiles, query: "status=disabled", says: `"total_count":1}`}),
	versionTwo("showProductCollectionEnrollment",
		requestCase{name: "ended", values: theTextiles + " user_id=5", says: `"status":"disabled"`},
		requestCase{name: "never enrolled", values: theTextiles + " user_id=3", status: 404, says: "user 3 was never enrolled"},
	), badPaths("v2", "showProductCollectionEnrollment", "user_id", theTextiles),
	versionTwo("updateProductCollectionEnrollment", requestCase{name: "back", values: theTextiles + " user_id=5", says: `"status":"active"`}),
	badPaths("v2", "updateProductCollectionEnrollment", "user_id", theTextiles),
)

// completionRows are derived from contract/v2 and read what a classroom has.
var completionRows = slicesOf(
	versionTwo("showCompletion",
		requestCase{name: "complete", values: "lecture_id=11 " + potteryOf + "2", says: `{"data":{"completed":true,"completed_at":"2024-01-06T12:00:00Z"}}`},
		requestCase{name: "not published, not complete", values: "lecture_id=14 " + potteryOf + "2", says: `{"data":{"completed":false,"completed_at":null}}`},
		requestCase{name: "never enrolled", values: "lecture_id=11 " + potteryOf + "1", says: `{"data":{"completed":false,"completed_at":null}}`},
		requestCase{name: "of another course", values: "lecture_id=21 " + potteryOf + "2", status: 404, says: "there is no lecture 21 in course 1"},
		requestCase{name: "an unknown user", values: "lecture_id=11 " + potteryOf + "999", status: 404, says: "there is no user 999"},
	), badPaths("v2", "showCompletion", "user_id", "course_id=1 lecture_id=11"),
	versionTwo("showUserCourseProgress",
		requestCase{name: "begun", values: potteryOf + "2", golden: "v2/user_progress.json"},
		requestCase{name: "never enrolled", values: "course_id=4 user_id=2", status: 404, says: "user 2 was never enrolled in course 4"},
		requestCase{name: "an unknown user", values: potteryOf + "999", status: 404, says: "there is no user 999"},
		requestCase{name: "an unknown course", values: "course_id=999 user_id=2", status: 404, says: "there is no course 999"},
	), badPaths("v2", "showUserCourseProgress", "user_id", "course_id=1"),
)

// completingRows are derived from contract/v2. User 4 is in course 1.
var completingRows = slicesOf(
	versionTwo("putCompletion",
		requestCase{name: "one, with a body that is ignored", values: "lecture_id=12 " + potteryOf + "4", body: `{"x":1}`, says: `{"data":{"completed":true,"completed_at":"2024-01-10T12:00:00Z"}}`},
		requestCase{name: "again", values: "lecture_id=12 " + potteryOf + "4", says: `"completed_at":"2024-01-10T12:00:00Z"`},
		requestCase{name: "not enrolled", values: "lecture_id=12 " + potteryOf + "1", status: 404, says: "user 1 is not enrolled in course 1"},
		requestCase{name: "an unknown user", values: "lecture_id=12 " + potteryOf + "999", status: 404, says: "there is no user 999"},
		requestCase{name: "out of order", values: "course_id=3 lecture_id=32 user_id=3", status: 409, says: `"code":"unmet_requirements"`},
	), badPaths("v2", "putCompletion", "lecture_id", "course_id=1 user_id=4"),
	versionTwo("deleteCompletion",
		requestCase{name: "one", values: "lecture_id=12 " + potteryOf + "4"},
		requestCase{name: "again", values: "lecture_id=12 " + potteryOf + "4"},
		requestCase{name: "an unknown user", values: "lecture_id=12 " + potteryOf + "999", status: 404, says: "there is no user 999"},
	), badPaths("v2", "deleteCompletion", "user_id", "course_id=1 lecture_id=12"),
	versionTwo("showCompletion", requestCase{name: "taken back", values: "lecture_id=12 " + potteryOf + "4", says: `{"data":{"completed":false,"completed_at":null}}`}),
)

// draftsID is the download that memberRows create.
const (
	draftsID  = "704"
	theDrafts = "digital_download_id=" + draftsID
)

// weavingID is the course that memberRows create, and textilesID the collection.
const (
	weavingID   = "10"
	weavingOf   = "course_id=" + weavingID + " user_id="
	textilesID  = "4"
	theTextiles = "product_collection_id=" + textilesID
)
