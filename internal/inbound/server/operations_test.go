package server_test

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/inbound/wire/wiretest"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// class is a campus of two classrooms with the same ids, which differ in their texts. The clock
// is at the tenth day of 2024.
type class struct {
	*campus
	ours, theirs *campusSchool
	tokens       map[bearer]string
	links        map[string]heldLink // by their paths; nil until files are stored
}

// bearer is a learner of a school who authorized an app of a version.
type bearer struct {
	part    *campusSchool
	user    lyceum.UserID
	version lyceum.InterfaceVersion
}

// The learners of a classroom (storetest.NewClassroom).
const (
	mira   lyceum.UserID = 2 // in the courses 1, 2 and 3; 2 is not published
	noName lyceum.UserID = 3 // in course 3; access to course 1 has expired
)

func newClass(t *testing.T, c *campus) *class {
	t.Helper()
	c.clock.Pass(storetest.Day(10).Sub(c.clock.Now()))
	k := &class{campus: c, tokens: map[bearer]string{}}
	k.ours, k.theirs = k.enter(t, "ours"), k.enter(t, "theirs")
	return k
}

func (k *class) enter(t *testing.T, mark string) *campusSchool {
	t.Helper()
	school, room := storetest.MakeClassroom(t, k.store, mark)
	hash := lyceum.Some(goodHash())
	people := slices.Clone(room.Users)
	for i := range people {
		people[i].PasswordHash = hash
	}
	storetest.Write(t, k.store, school, func(tx lyceum.Tx) error { _, err := tx.Users.Save(tx, people...); return err })
	p := &campusSchool{id: school, clients: map[lyceum.InterfaceVersion]credentials{}}
	var err error
	if _, p.key, err = k.options.Keys.Create(t.Context(), lyceum.By{School: school, Actor: "test"}, "test", lyceum.Read|lyceum.Write|lyceum.Accounts, access.NewEntropy()); err != nil {
		t.Fatal(err)
	}
	for _, version := range []lyceum.InterfaceVersion{lyceum.V1, lyceum.V2} {
		p.clients[version] = k.register(t, school, access.AppForm{Name: "Ledger", RedirectURL: callbackURL, Version: version})
		for _, u := range people[1:3] {
			k.authorize(t, p, u.ID, u.Email, version)
		}
	}
	return p
}

// authorize gets a token with every scope for a learner.
func (k *class) authorize(t *testing.T, p *campusSchool, user lyceum.UserID, email string, version lyceum.InterfaceVersion) {
	t.Helper()
	required := lyceum.Scopes(slices.DeleteFunc(access.ListScopes(version), func(s lyceum.Scope) bool { return s == "courses:read" })).String()
	b := k.browse()
	b.signIn(t, p, email)
	var response tokenResponse
	w := k.token(t, version, "token", "form", exchangeOf(p.clients[version], b.code(t, p, version, set("required_scopes", required))))
	decode(t, w.Body.Bytes(), &response)
	k.tokens[bearer{p, user, version}] = response.AccessToken
}

// operationOf returns an operation of a face.
func operationOf(face wire.Face, id string) wire.Operation {
	for _, op := range face.Operations() {
		if op.ID == id {
			return op
		}
	}
	panic("there is no operation " + id)
}

// requestCase is one request, and what the contract says about its response.
type requestCase struct {
	face, op string
	name     string
	values   string // of the path, such as "course_id=1 lecture_id=11"
	query    string
	body     string // JSON, for operations that have a body
	headers  []string
	user     lyceum.UserID // for operations of learners; 0 is Mira
	status   int           // 0 is the operation's success
	golden   string        // a file in testdata
	says     string        // what the body must contain
	prepare  func(*testing.T, *class)
}

// wanted returns the status that a row expects.
func (a *requestCase) wanted(op wire.Operation) int {
	return cmp.Or(a.status, op.Success, http.StatusOK)
}

// fill fills in the pattern of a path; parameters without a value get unknown ids.
func fill(pattern, values string) string {
	pairs := []string{}
	for _, value := range strings.Fields(values) {
		name, v, _ := strings.Cut(value, "=")
		pairs = append(pairs, "{"+name+"}", url.PathEscape(v))
	}
	return strings.NewReplacer(pairs...).Replace(pattern)
}

// operation returns the operation of a row.
func (k *class) operation(a requestCase) wire.Operation {
	return operationOf(k.options.Faces[map[string]int{"v1": 0, "v2": 1, "lyceum": 2}[a.face]], a.op)
}

func (k *class) send(t testing.TB, p *campusSchool, a requestCase) (wire.Operation, *httptest.ResponseRecorder) {
	t.Helper()
	op := k.operation(a)
	headers := a.headers
	switch op.Credential {
	case wire.APIKey:
		headers = append(headers, "apiKey: "+p.key)
	case wire.Bearer:
		user := a.user
		if user == 0 {
			user = mira
		}
		headers = append(headers, "Authorization: bearer "+k.tokens[bearer{p, user, op.Version}])
	case wire.Open:
	}
	if a.body != "" && !slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, "Content-Type") }) {
		headers = append(headers, "Content-Type: application/json")
	}
	if a.face == "lyceum" && !slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, "Idempotency-Key") }) {
		headers = append(headers, "Idempotency-Key: "+rand.Text()) // which makes no difference for the first request
	}
	r := request(op.Method, fill(op.Path, a.values), strings.NewReader(a.body), headers...)
	r.URL.RawQuery = a.query
	w := k.do(r)
	wantOf(t, op.Method, op.Path, w)
	return op, w
}

// TestOperations sends the requests in the contract, on both engines, row after row in one
// classroom, and counts the statements of changes. What a change leaves to be settled is
// settled before the next row, as a server does.
func TestOperations(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		lessons := learning.New(k.store, k.clock.Now)
		changes := statements{}
		for _, a := range requestCases {
			if a.prepare != nil {
				a.prepare(t, k)
			}
			if err := lessons.Settle(t.Context(), k.ours.id); err != nil {
				t.Fatal(err)
			}
			t.Run(a.face+"/"+a.op+"/"+a.name, func(t *testing.T) { k.hold(t, a, changes) })
		}
		changes.compare(t, strings.HasSuffix(t.Name(), "postgres"))
	})
}

func (k *class) hold(t *testing.T, a requestCase, changes statements) {
	before := k.ran.Load()
	op, w := k.send(t, k.ours, a)
	changes.note(op.Method, a, k.ran.Load()-before)
	if want := a.wanted(op); w.Code != want {
		t.Fatalf("status %d, want %d: %s", w.Code, want, w.Body)
	}
	if !strings.Contains(w.Body.String(), a.says) {
		t.Errorf("%q is not in %s", a.says, w.Body)
	}
	if strings.Contains(w.Body.String(), "theirs") {
		t.Errorf("another school's: %s", w.Body)
	}
	if a.golden != "" {
		wiretest.Golden(t, a.golden, w.Body.Bytes())
	}
}

// TestV2SwitchedOff checks that if version 2 is disabled, keys are rejected in its format, and
// nobody else is affected.
func TestV2SwitchedOff(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		list := requestCase{face: "v2", op: "listProductCourses"}
		want := func(p *campusSchool, a requestCase, status int) string {
			t.Helper()
			_, w := k.send(t, p, a)
			wantStatus(t, w, status)
			return w.Body.String()
		}
		for _, off := range []bool{true, false, true} {
			storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error { return tx.ChangeSchool(func(s *lyceum.School) { s.V2Disabled = off }) })
			if off {
				k.clock.Pass(5 * time.Second) // as long as a key is cached
			}
			status := map[bool]int{true: http.StatusForbidden, false: http.StatusOK}[off]
			if text := want(k.ours, list, status); off && (!strings.Contains(text, `"code":"access_forbidden"`) || !strings.Contains(text, " --v2 on")) {
				t.Errorf("refused in the words %s", text)
			}
			want(k.theirs, list, http.StatusOK)
			want(k.ours, requestCase{face: "v2", op: "listCurrentUserCourses"}, http.StatusOK)
			want(k.ours, requestCase{face: "v1", op: "ListCourses"}, http.StatusOK)
		}
	})
}

// TestWithoutADatabase checks that an operation that cannot reach the database says so in its
// face's format, and says nothing else.
func TestWithoutADatabase(t *testing.T) {
	k := newClass(t, newCampus(t))
	each := func(want func(op wire.Operation, w *httptest.ResponseRecorder)) {
		for _, face := range k.options.Faces {
			for _, op := range face.Operations() {
				if op.Credential == wire.Open || op.ID == "getCurrentUser" || // which is cached for a while
					op.ID == "showCustomizations" || // which reads nothing
					strings.HasPrefix(op.Path, "/lyceum/v1/sandbox/") { // which is about files
					continue
				}
				a := requestCase{face: face.Name(), op: op.ID, values: everyID, query: "user_id=2"}
				if own, ok := ownBodies[op.ID]; ok {
					a.body = own
				} else if op.Method != http.MethodGet && op.Credential == wire.APIKey {
					a.body = `{"user_id":2,"course_id":1,"email":"a@example.com"}`
				}
				_, w := k.send(t, k.ours, a)
				want(op, w)
			}
		}
	}
	each(func(op wire.Operation, w *httptest.ResponseRecorder) { // credentials are cached from now on
		if w.Code >= 500 {
			t.Fatalf("%s is a %d: %s", op.ID, w.Code, w.Body)
		}
	})
	if err := k.store.Close(); err != nil {
		t.Fatal(err)
	}
	each(func(op wire.Operation, w *httptest.ResponseRecorder) {
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "sql") {
			t.Errorf("%s is a %d: %s", op.ID, w.Code, w.Body)
		}
	})
}
