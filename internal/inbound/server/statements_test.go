package server_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"
)

// turnStatements is how many statements a change takes on PostgreSQL besides those on
// SQLite: it waits for its school's turn.
const turnStatements = 1

// manyStatements has the operations of version 2 that change something with more than
// maxStatements: the most of any row of askings, on SQLite and on PostgreSQL. None runs a
// statement for each row.
var manyStatements = map[string][2]int64{
	// What is answered has sums of its own: of sales, holders, attachments, and what it is in.
	"createDigitalDownload": {11, 12}, "updateDigitalDownload": {12, 13}, "updateProductCoupon": {9, 10},
	"createProductCollection": {9, 10}, "updateProductCollection": {10, 11}, "putProductCollection": {10, 11},
	"createProductCoupon": {9, 10}, "createProductPricingPlan": {11, 12}, "updateProductCourse": {9, 10},
	"createUser": {14, 15}, "updateUser": {19, 21}, // with tags, consent, an email and sessions that end
	// Who may use something follows from entitlements, blocks, and what products are in.
	"addProductCollectionProducts": {22, 23}, "removeProductCollectionProduct": {11, 12},
	"putCourseEnrollment": {17, 18}, "updateCourseEnrollment": {16, 17}, "deleteCourseEnrollment": {15, 16},
	"putDigitalDownloadEnrollment": {13, 14}, "deleteDigitalDownloadEnrollment": {11, 12},
	"putProductCollectionEnrollment": {21, 22}, "updateProductCollectionEnrollment": {19, 20},
	"deleteProductCollectionEnrollment": {16, 17},
	// Whether a learner may, and what of the course they have completed then.
	"putCompletion": {16, 17}, "deleteCompletion": {11, 12},
	"putCurrentUserCompletion": {17, 18}, "deleteCurrentUserCompletion": {12, 13},
	"putCurrentUserQuizResponse": {21, 22},
	"createCurrentUserComment":   {16, 17}, "updateCurrentUserComment": {12, 13}, "deleteCurrentUserComment": {13, 14},
	"createLectureComment": {10, 11},
	// What learners have completed is counted again, if the lecture was published.
	"createLecture": {21, 22}, "updateLecture": {11, 12}, "deleteLecture": {20, 21},
	// All tables that may have something of a person are searched.
	"deleteUser": {74, 78},
}

// statements are the most that each operation of version 2 that changes something took.
type statements map[string]int64

func (s statements) note(method string, a asking, n int64) {
	if a.face == "v2" && method != http.MethodGet && a.status < http.StatusBadRequest {
		s[a.op] = max(s[a.op], n)
	}
}

func (s statements) compare(t *testing.T, postgres bool) {
	t.Helper()
	for _, op := range slices.Sorted(maps.Keys(s)) {
		most, named := manyStatements[op]
		if !named {
			most = [2]int64{maxStatements, maxStatements + turnStatements}
		}
		limit := most[0]
		if postgres {
			limit = most[1]
		}
		t.Logf("%-40s %d statements", op, s[op])
		if s[op] > limit {
			t.Errorf("%s takes %d statements, at most %d", op, s[op], limit)
		}
	}
}
