package server_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"
)

// turnStatements is how many more statements a change takes on PostgreSQL than on SQLite,
// because it waits for its school's turn.
const turnStatements = 1

// manyStatements has the operations of version 2 that change something with more than
// maxStatements: the maximum of all rows of requestCases, on SQLite and on PostgreSQL. None runs a
// statement for each row.
var manyStatements = map[string][2]int64{
	"updateUser": {8, 10},  // the failed sign-ins, which processes count together, are reset
	"deleteUser": {57, 61}, // all tables that may have data of a user are searched
}

// statements has the maximum for each operation of version 2 that changes something.
type statements map[string]int64

func (s statements) note(method string, a requestCase, n int64) {
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
