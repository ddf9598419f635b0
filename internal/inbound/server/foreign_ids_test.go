package server_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/contract"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// Objects that onlyTheirs adds have the id onlyID, and attachments (a text, a quiz and a video)
// one that is larger by a hundred. No object has the id unknownID or a larger one.
const (
	onlyID    = 50_000
	unknownID = 60_000
)

// idPair is an id of somebody else (of the other school, unless stated otherwise), and an id
// that does not exist.
type idPair struct{ theirs, unknown string }

// foreignID returns the ids to try for a name in a path, query or body, if it is the name of an
// id.
func foreignID(name string) (idPair, bool) {
	more := 0
	switch name {
	case "attachment_id":
		more = 100
	case "quiz_id":
		more = 101
	case "video_id":
		more = 102
	case "certificate_page_id", "template_id", // are numbers that the school chooses
		"client_id", "request_id", "upload_id", "session_id": // are not numbers
		return idPair{}, false
	}
	is := name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_ids")
	return idPair{strconv.Itoa(onlyID + more), strconv.Itoa(unknownID + more)}, is
}

// isOnlyTheirs reports whether a text is an id that only the other school has.
func isOnlyTheirs(text string) bool {
	return slices.ContainsFunc([]string{"id", "attachment_id", "quiz_id", "video_id"}, func(name string) bool {
		pair, _ := foreignID(name)
		return pair.theirs == text
	})
}

// mutant is a request in which one id is replaced by each id of a pair.
type mutant struct {
	idName

	pair idPair
	with func(id string) requestCase
}

// mutants returns the requests that differ from a row in one id. Ids that are in the contract
// but not in the row are added.
func mutants(a requestCase, contracted []idName) (all []mutant) {
	add := func(name string, in place, with func(requestCase, string) requestCase) {
		if pair, is := foreignID(name); is {
			all = append(all, mutant{idName{name, in}, pair, func(id string) requestCase { return with(a, id) }})
		}
	}
	for n, value := range strings.Fields(a.values) {
		name, _, _ := strings.Cut(value, "=")
		add(name, inPath, func(a requestCase, id string) requestCase {
			values := strings.Fields(a.values)
			values[n] = name + "=" + id
			a.values = strings.Join(values, " ")
			return a
		})
	}
	query, _ := url.ParseQuery(a.query)
	body := idsOf(a.body)
	for _, c := range contracted {
		switch {
		case c.in == inQuery && !query.Has(c.name):
			query.Set(c.name, "")
		case c.in == inBody && !slices.Contains(body, c.name):
			add(c.name, inBody, func(a requestCase, id string) requestCase { a.body = withMember(a.body, c.name, id); return a })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(contracted, idName{name, inQuery}) { // it is ignored
			continue
		}
		add(name, inQuery, func(a requestCase, id string) requestCase {
			query, _ := url.ParseQuery(a.query)
			query.Set(name, id)
			a.query = query.Encode()
			return a
		})
	}
	for n, name := range body {
		with := func(a requestCase, id string) requestCase { a.body = withID(a.body, n, id); return a }
		add(name, inBody, with)
		if name == "id" { // of whatever the body is about, such as an attachment
			pair, _ := foreignID("attachment_id")
			all = append(all, mutant{idName{name, inBody}, pair, func(id string) requestCase { return with(a, id) }})
		}
	}
	return all
}

// withMember returns a body with one more member.
func withMember(body, name, id string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &members) != nil {
		members = map[string]json.RawMessage{}
	}
	members[name] = json.RawMessage(id)
	text, _ := json.Marshal(members)
	return string(text)
}

// idsOf returns the names of the ids in a body.
func idsOf(body string) (names []string) {
	eachID(body, func(name string, _ func(json.Number)) { names = append(names, name) })
	return names
}

// withID returns a body with its nth id replaced.
func withID(body string, n int, id string) string {
	return eachID(body, func(_ string, set func(json.Number)) {
		if n == 0 {
			set(json.Number(id))
		}
		n--
	})
}

// eachID calls visit for each id in a body, and returns the modified body.
func eachID(body string, visit func(name string, set func(json.Number))) string {
	var value any
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return body
	}
	var walk func(name string, value any, set func(any))
	walk = func(name string, value any, set func(any)) {
		switch value := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				walk(key, value[key], func(v any) { value[key] = v })
			}
		case []any:
			for i := range value {
				walk(name, value[i], func(v any) { value[i] = v })
			}
		case json.Number:
			if _, is := foreignID(name); is {
				visit(name, func(id json.Number) { set(id) })
			}
		}
	}
	walk("", value, nil)
	text, _ := json.Marshal(value)
	return string(text)
}

// idName is an id that the contract has in a request.
type idName struct {
	name string
	in   place
}

type place int

const (
	inPath place = iota
	inQuery
	inBody
	within // in an object of the body
)

// idNames returns the ids in the requests of each operation, by its face and name.
func idNames(t *testing.T) map[string][]idName {
	t.Helper()
	all := map[string][]idName{}
	for _, d := range contract.All() {
		document, err := openapi3.NewLoader().LoadFromData(d.JSON)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range document.Paths.Map() {
			for _, op := range item.Operations() {
				names := map[idName]bool{}
				for _, p := range append(slices.Clone(item.Parameters), op.Parameters...) {
					in, sent := map[string]place{"path": inPath, "query": inQuery}[p.Value.In]
					names[idName{p.Value.Name, in}] = sent
				}
				if op.RequestBody != nil && op.RequestBody.Value.Content.Get("application/json") != nil {
					addProperties(names, op.RequestBody.Value.Content.Get("application/json").Schema.Value, inBody)
				}
				for id, sent := range names {
					if _, is := foreignID(id.name); is && sent {
						all[d.Name+"/"+op.OperationID] = append(all[d.Name+"/"+op.OperationID], id)
					}
				}
			}
		}
	}
	return all
}

func addProperties(names map[idName]bool, s *openapi3.Schema, in place) {
	for name, property := range s.Properties {
		names[idName{name, in}] = true
		addProperties(names, property.Value, within)
	}
	for _, part := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		addProperties(names, part.Value, in)
	}
	if s.Items != nil {
		addProperties(names, s.Items.Value, within)
	}
}

// TestF9_AnotherSchoolsIDIsAnUnknownOne checks that nobody learns what another school has by
// trying its ids, and that nothing changes there. Each request in the contract is sent with
// each of its ids replaced by one of the other school and by one that does not exist; both must
// get the same response. The unmodified request gets the same response as if the other school
// had nothing similar.
func TestF9_AnotherSchoolsIDIsAnUnknownOne(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		k.sendToTheirs(t)
		onlyTheirs(t, k.store, k.theirs.id)
		lessons := learning.New(k.store, k.clock.Now)
		before := k.rowsOf(t, k.theirs.id)
		tried, contracted := map[string]bool{}, idNames(t)
		for _, a := range requestCases {
			if a.prepare != nil {
				a.prepare(t, k)
			}
			if err := lessons.Settle(t.Context(), k.ours.id); err != nil {
				t.Fatal(err)
			}
			if valid(a) {
				for _, m := range mutants(a, contracted[a.face+"/"+a.op]) {
					tried[a.face+"/"+a.op+"/"+m.name] = true
					if theirs, unknown := k.tries(t, k.ours, m); theirs != unknown {
						t.Errorf("%s/%s/%s: with the other school's %s: %s\nwith an unknown one: %s", a.face, a.op, a.name, m.name, theirs, unknown)
					}
				}
			}
			if op, w := k.send(t, k.ours, a); w.Code != a.wanted(op) {
				t.Errorf("%s/%s/%s, which the other school was asked, too: %d %s", a.face, a.op, a.name, w.Code, w.Body)
			}
		}
		if diff := cmp.Diff(before, k.rowsOf(t, k.theirs.id)); diff != "" {
			t.Errorf("requests to a school change another one (-before +after):\n%s", diff)
		}
		k.wantTried(t, contracted, tried)
	})
}

// valid reports whether a request conforms to the contract, whatever else prevents it.
func valid(a requestCase) bool {
	return a.status < http.StatusMultipleChoices || a.status == http.StatusConflict
}

var madeID = regexp.MustCompile(`"id":\d+`)

// sendToTheirs sends the other school the requests that ours is going to get, so that it has
// objects with the ids, codes, references and keys that ours gets. Operations about the only
// school of a sandbox are left out.
func (k *class) sendToTheirs(t *testing.T) {
	t.Helper()
	for _, a := range requestCases {
		op := k.operation(a)
		sandbox := strings.HasPrefix(op.Path, "/lyceum/v1/clock") || strings.HasPrefix(op.Path, "/lyceum/v1/sandbox/")
		if a.user == 0 && op.Method != http.MethodDelete && !sandbox {
			k.send(t, k.theirs, a)
		}
	}
}

// tries sends a request with each id of a pair and returns the responses, with the ids replaced
// so that they can be compared.
func (k *class) tries(t *testing.T, p *campusSchool, m mutant) (theirs, unknown string) {
	t.Helper()
	responseTo := func(id string) string {
		a := m.with(id)
		a.headers = slices.DeleteFunc(slices.Clone(a.headers), func(h string) bool { return strings.HasPrefix(h, "Idempotency-Key") })
		_, w := k.send(t, p, a)
		if w.Code == http.StatusUnauthorized {
			t.Errorf("%s/%s/%s: %s: %s", a.face, a.op, a.name, m.name, w.Body)
		}
		text := w.Body.String()
		if w.Code == http.StatusCreated { // each gets the next id
			text = madeID.ReplaceAllString(text, `"id":0`)
		}
		return fmt.Sprint(w.Code, " ", text)
	}
	theirs, unknown = responseTo(m.pair.theirs), responseTo(m.pair.unknown)
	return strings.ReplaceAll(theirs, m.pair.theirs, m.pair.unknown), unknown
}

// wantTried checks that every id in the contract was tried, and that the other school has an
// object of each kind, which it finds by the ids that were tried.
func (k *class) wantTried(t *testing.T, contracted map[string][]idName, tried map[string]bool) {
	t.Helper()
	for op, ids := range contracted {
		for _, id := range ids {
			if !tried[op+"/"+id.name] {
				t.Errorf("no valid row of requestCases has the %s of %s", id.name, op)
			}
		}
	}
	has := map[string]bool{}
	for _, deleting := range []bool{false, true} { // deleted objects are not found
		for _, a := range requestCases {
			if !valid(a) || a.user != 0 || deleting != (k.operation(a).Method == http.MethodDelete) {
				continue
			}
			for _, m := range mutants(a, nil) {
				if !has[m.name] {
					theirs, unknown := k.tries(t, k.theirs, m)
					has[m.name] = theirs != unknown
				}
			}
		}
	}
	for name, there := range has {
		if !there {
			t.Errorf("onlyTheirs adds nothing with the %s %d, so nothing was tried", name, onlyID)
		}
	}
}

// rowsOf returns the rows of a school in the database, by table.
func (k *class) rowsOf(t *testing.T, school lyceum.SchoolID) map[string][]string {
	t.Helper()
	db, err := sql.Open(k.driver, k.database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string][]string{}
	for _, table := range rows(t, db, map[string]string{
		"sqlite": "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'school_id'",
		"pgx":    "SELECT table_name FROM information_schema.columns WHERE column_name = 'school_id' AND table_schema = current_schema()",
	}[k.driver]) {
		found := rows(t, db, fmt.Sprintf("SELECT * FROM %s WHERE school_id = %d", table, school))
		slices.Sort(found)
		all[table] = found
	}
	if len(all["users"]) == 0 {
		t.Fatalf("no users of school %d in %v", school, slices.Collect(maps.Keys(all)))
	}
	return all
}

// rows returns the rows of a query, each as a string.
func rows(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		text := &bytes.Buffer{}
		for i, value := range values {
			if i > 0 {
				text.WriteByte(' ')
			}
			fmt.Fprint(text, value)
		}
		all = append(all, text.String())
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
