package lyceum_test

import (
	"bufio"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/lyceum-school/lyceum"

// rooms maps each layer to what it may import besides the root package. Packages must be in a
// layer, the root or cmd.
var rooms = map[string][]string{
	"internal/inbound":  {"internal/rules", "internal/gen", "contract"},
	"internal/outbound": {"internal/rules"},
	"internal/rules":    nil,
	"internal/storage":  nil,
	"internal/gen":      nil,
	"contract":          nil,
	"tools":             nil, // a separate module
}

// source is what the test knows about a file. Folder names are relative to the root, which is
// "".
type source struct {
	folder  string
	name    string
	pack    string // the package clause
	doc     string // the package comment
	imports []string
}

func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

func (s source) path() string { return path.Join(s.folder, s.name) }

// room returns the layer of a folder and the package in the layer that it belongs to, such as
// internal/rules and internal/rules/access.
func room(folder string) (room, pack string) {
	parts := strings.Split(folder, "/")
	if parts[0] != "internal" {
		return parts[0], parts[0]
	}
	return strings.Join(parts[:min(2, len(parts))], "/"), strings.Join(parts[:min(3, len(parts))], "/")
}

// breaches returns the import rules that the files break, one sentence each.
func breaches(files []source) []string {
	var found []string
	documented := map[string]bool{}
	for _, f := range files {
		for _, target := range f.imports {
			if why := forbidden(f, target); why != "" {
				found = append(found, fmt.Sprintf("%s imports %s: %s", f.path(), target, why))
			}
		}
		if _, known := rooms[roomOf(f.folder)]; !known && f.folder != "" && roomOf(f.folder) != "cmd" {
			found = append(found, f.path()+" is in no room")
		}
		if f.isTest() {
			continue
		}
		documented[f.folder] = documented[f.folder] || f.doc != ""
		if begin := docBegin(f); f.doc != "" && !strings.HasPrefix(f.doc, begin+" ") {
			found = append(found, fmt.Sprintf("%s: the package's comment does not begin with %q", f.path(), begin))
		}
	}
	for folder, has := range documented {
		if !has {
			found = append(found, fmt.Sprintf("the package in %q has no comment", folder))
		}
	}
	slices.Sort(found)
	return found
}

func docBegin(f source) string {
	if f.pack == "main" {
		return "Command " + path.Base(f.folder)
	}
	return "Package " + f.pack
}

func roomOf(folder string) string {
	room, _ := room(folder)
	return room
}

// forbidden returns why a file may not import a package, or "" if it may.
func forbidden(f source, imported string) string {
	target, ours := strings.CutPrefix(imported+"/", module+"/")
	if !ours {
		if first, _, _ := strings.Cut(imported, "/"); f.folder == "" && !f.isTest() && strings.Contains(first, ".") {
			return "the root imports the standard library alone"
		}
		return ""
	}
	target = strings.TrimSuffix(target, "/")
	fromRoom, from := room(f.folder)
	toRoom, to := room(target)
	switch {
	case target == f.folder: // a test next to its package
		return ""
	case to == "internal/storage/storetest" && !f.isTest():
		return "storetest is for tests"
	case (target == "internal/inbound/web/webtest" || target == "internal/inbound/wire/wiretest") && !f.isTest():
		return path.Base(target) + " is for tests"
	case toRoom == "internal/storage" && f.isTest():
		return ""
	case fromRoom == "cmd":
		return ""
	case target == "":
		if fromRoom == "internal/gen" || fromRoom == "contract" || fromRoom == "tools" {
			return fromRoom + " imports nothing of the project"
		}
		return ""
	case from == to:
		return ""
	case toRoom == "internal/gen" && from == "internal/inbound/mirror":
		return "" // it sends requests to the face of another server and reads its responses
	case toRoom == "internal/gen" && (fromRoom != "internal/inbound" || path.Base(from) != path.Base(to)):
		return "only the face of the same name imports what is generated for it"
	case fromRoom == toRoom && fromRoom == "internal/rules" && f.isTest():
		return "" // tests of how rules work together use all of them
	case from == "internal/inbound/server" && toRoom == "internal/outbound" && f.isTest():
		return "" // it assembles a whole server, as cmd does
	case fromRoom == toRoom:
		shared := path.Base(to) == "wire" || path.Base(to) == "web"
		if fromRoom == "internal/inbound" && (shared || path.Base(from) == "server") {
			return ""
		}
		return "packages in one room do not import each other"
	case !slices.Contains(rooms[fromRoom], toRoom):
		return fmt.Sprintf("the room %q may not import the room %q", fromRoom, toRoom)
	}
	return ""
}

// sources parses the package clauses and imports of all Go files under the root. It does not
// run the go command, whose cache can miss changes.
func sources(t *testing.T) []source {
	t.Helper()
	var files []source
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); name != "." && (base[0] == '.' || base[0] == '_' || base == "node_modules" || base == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		s := source{folder: path.Dir(filepath.ToSlash(name)), name: entry.Name(), pack: file.Name.Name, doc: file.Doc.Text()}
		if s.folder == "." {
			s.folder = ""
		}
		for _, spec := range file.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, target)
		}
		files = append(files, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWalls(t *testing.T) {
	files := sources(t)
	// A walk that finds no files would find no breaches.
	seen := map[string]bool{}
	for _, f := range files {
		seen[f.path()] = true
	}
	for _, name := range []string{
		"time.go", "walls_test.go", "cmd/lyceum/main.go", "contract/contract.go", "internal/gen/apiv1/apiv1.gen.go",
		"internal/inbound/server/handler.go", "internal/rules/access/keys.go", "internal/storage/sqlstore/open.go",
	} {
		if !seen[name] {
			t.Errorf("%s was not looked at", name)
		}
	}
	for _, breach := range breaches(files) {
		t.Error(breach)
	}
}

func TestModuleIsTheOneOfTheWalls(t *testing.T) {
	file, err := os.Open("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	if !lines.Scan() || lines.Text() != "module "+module {
		t.Errorf("go.mod begins with %q; the walls are about %s", lines.Text(), module)
	}
}

// TestWallsHold checks that each rule can be broken, and what each rule permits.
func TestWallsHold(t *testing.T) {
	const own = module + "/"
	for _, tc := range []struct {
		name, file, imported string
		breach               string // part of the sentence; empty: the import is permitted
	}{
		{"root imports the standard library", "time.go", "go/token", ""},
		{"root imports another module", "time.go", "github.com/google/uuid", "standard library alone"},
		{"root imports x", "time.go", "golang.org/x/text/cases", "standard library alone"},
		{"root imports a rule", "time.go", own + "internal/rules/sales", `room "" may not import`},
		{"root imports the contract", "time.go", own + "contract", `room "" may not import`},
		{"a test of the root imports another module", "time_test.go", "pgregory.net/rapid", ""},
		{"a test of the root imports the root", "time_test.go", module, ""},

		{"a face imports the root", "internal/inbound/apiv1/face.go", module, ""},
		{"a face imports a rule", "internal/inbound/apiv1/face.go", own + "internal/rules/sales", ""},
		{"a face imports the contract", "internal/inbound/reference/page.go", own + "contract", ""},
		{"a face imports what is generated for it", "internal/inbound/apiv1/face.go", own + "internal/gen/apiv1", ""},
		{"a face imports what is generated for another", "internal/inbound/apiv2/face.go", own + "internal/gen/apiv1", "face of the same name"},
		{"the mirror imports what is generated", "internal/inbound/mirror/courses.go", own + "internal/gen/apiv1", ""},
		{"the server imports what is generated", "internal/inbound/server/serve.go", own + "internal/gen/apiv1", "face of the same name"},
		{"a rule imports what is generated", "internal/rules/sales/sales.go", own + "internal/gen/apiv1", "face of the same name"},
		{"a rule named like a face imports what is generated", "internal/rules/apiv1/sales.go", own + "internal/gen/apiv1", "face of the same name"},
		{"a face imports wire", "internal/inbound/apiv1/face.go", own + "internal/inbound/wire", ""},
		{"wire imports a face", "internal/inbound/wire/binder.go", own + "internal/inbound/apiv1", "in one room"},
		{"the server imports a face", "internal/inbound/server/serve.go", own + "internal/inbound/apiv1", ""},
		{"a face imports the server", "internal/inbound/apiv1/face.go", own + "internal/inbound/server", "in one room"},
		{"a test of a face imports the server", "internal/inbound/apiv1/face_test.go", own + "internal/inbound/server", "in one room"},
		{"a face imports a face", "internal/inbound/apiv2/face.go", own + "internal/inbound/apiv1", "in one room"},
		{"a face imports a store", "internal/inbound/apiv1/face.go", own + "internal/storage/sqlstore", `"internal/inbound" may not import the room "internal/storage"`},
		{"a face imports the outbound room", "internal/inbound/apiv1/face.go", own + "internal/outbound/webhook", "may not import"},
		{"a test of the server imports the outbound room", "internal/inbound/server/fixture_test.go", own + "internal/outbound/webhook", ""},
		{"a test of a face imports the outbound room", "internal/inbound/apiv1/face_test.go", own + "internal/outbound/webhook", "may not import"},
		{"a face imports a command", "internal/inbound/apiv1/face.go", own + "cmd/lyceum", "may not import"},
		{"a test of a face imports a store", "internal/inbound/apiv1/face_test.go", own + "internal/storage/sqlstore", ""},
		{"a test of a face imports storetest", "internal/inbound/apiv1/face_test.go", own + "internal/storage/storetest", ""},
		{"a face imports web", "internal/inbound/console/page.go", own + "internal/inbound/web", ""},
		{"a face imports webtest", "internal/inbound/console/page.go", own + "internal/inbound/web/webtest", "webtest is for tests"},
		{"a face imports wiretest", "internal/inbound/apiv1/face.go", own + "internal/inbound/wire/wiretest", "wiretest is for tests"},
		{"a test of a face imports wiretest", "internal/inbound/apiv1/face_test.go", own + "internal/inbound/wire/wiretest", ""},
		{"web imports webtest", "internal/inbound/web/page.go", own + "internal/inbound/web/webtest", "webtest is for tests"},
		{"a test of a face imports webtest", "internal/inbound/console/page_test.go", own + "internal/inbound/web/webtest", ""},
		{"a command imports webtest", "cmd/lyceum/serve.go", own + "internal/inbound/web/webtest", "webtest is for tests"},
		{"a test of a command imports webtest", "cmd/lyceum/serve_test.go", own + "internal/inbound/web/webtest", ""},
		{"a package inside a face's own folder", "internal/inbound/console/page.go", own + "internal/inbound/console/chart", ""},

		{"a rule imports the root", "internal/rules/sales/sales.go", module, ""},
		{"a rule imports a rule", "internal/rules/sales/sales.go", own + "internal/rules/access", "in one room"},
		{"a rule imports a face", "internal/rules/sales/sales.go", own + "internal/inbound/wire", "may not import"},
		{"a rule imports a store", "internal/rules/sales/sales.go", own + "internal/storage/sqlstore", "may not import"},
		{"a rule imports the contract", "internal/rules/sales/sales.go", own + "contract", "may not import"},
		{"a test of a rule imports a store", "internal/rules/sales/sales_test.go", own + "internal/storage/sqlstore", ""},
		{"a test of a rule imports another rule", "internal/rules/sales/sales_test.go", own + "internal/rules/people", ""},
		{"a test of a rule imports its own package", "internal/rules/sales/sales_test.go", own + "internal/rules/sales", ""},

		{"outbound imports a rule", "internal/outbound/webhook/send.go", own + "internal/rules/events", ""},
		{"outbound imports the contract", "internal/outbound/webhook/send.go", own + "contract", "may not import"},
		{"outbound imports inbound", "internal/outbound/webhook/send.go", own + "internal/inbound/wire", "may not import"},

		{"a store imports the root", "internal/storage/sqlstore/open.go", module, ""},
		{"a store imports another module", "internal/storage/sqlstore/open.go", "modernc.org/sqlite", ""},
		{"a store imports a rule", "internal/storage/sqlstore/open.go", own + "internal/rules/sales", "may not import"},
		{"a store imports a store", "internal/storage/salesindex/index.go", own + "internal/storage/sqlstore", "in one room"},
		{"a test of a store imports a store", "internal/storage/salesindex/index_test.go", own + "internal/storage/sqlstore", ""},
		{"a store imports storetest", "internal/storage/sqlstore/open.go", own + "internal/storage/storetest", "storetest is for tests"},

		{"what is generated imports the root", "internal/gen/apiv1/apiv1.gen.go", module, "nothing of the project"},
		{"what is generated imports a rule", "internal/gen/apiv1/apiv1.gen.go", own + "internal/rules/sales", "may not import"},
		{"what is generated imports what is generated", "internal/gen/apiv2/apiv2.gen.go", own + "internal/gen/apiv1", "face of the same name"},
		{"the contract imports the root", "contract/contract.go", module, "nothing of the project"},
		{"the contract imports a face", "contract/contract.go", own + "internal/inbound/apiv1", "may not import"},
		{"a tool imports the root", "tools/contract/main.go", module, "nothing of the project"},
		{"a tool imports a rule", "tools/contract/main.go", own + "internal/rules/sales", "may not import"},

		{"a command imports a store", "cmd/lyceum/serve.go", own + "internal/storage/sqlstore", ""},
		{"a command imports a face", "cmd/lyceum/serve.go", own + "internal/inbound/apiv1", ""},
		{"a command imports storetest", "cmd/lyceum/serve.go", own + "internal/storage/storetest", "storetest is for tests"},
		{"a test of a command imports storetest", "cmd/lyceum/serve_test.go", own + "internal/storage/storetest", ""},

		{"a package in no room", "internal/utils/strings.go", "strings", "is in no room"},
		{"a folder beside the rooms", "pkg/helper.go", "strings", "is in no room"},
		{"a module whose name begins like ours", "internal/rules/sales/sales.go", module + "-tools/x", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := source{folder: path.Dir(tc.file), name: path.Base(tc.file), pack: path.Base(path.Dir(tc.file)), imports: []string{tc.imported}}
			if f.folder == "." {
				f.folder, f.pack = "", "lyceum"
			}
			f.doc = docBegin(f) + " is made up."
			found := breaches([]source{f})
			if tc.breach == "" && len(found) > 0 || tc.breach != "" && (len(found) != 1 || !strings.Contains(found[0], tc.breach)) {
				t.Errorf("breaches %q, want %q", found, tc.breach)
			}
		})
	}
}

func TestWallsWantPackageComments(t *testing.T) {
	doc := source{folder: "internal/rules/sales", name: "doc.go", pack: "sales", doc: "Package sales decides."}
	for _, tc := range []struct {
		name   string
		change func(*source)
		breach string
	}{
		{"a package with a comment", func(*source) {}, ""},
		{"a package without", func(s *source) { s.doc = "" }, "has no comment"},
		{"another package's comment", func(s *source) { s.doc = "Package people decides." }, `does not begin with "Package sales"`},
		{"a comment that only begins like it", func(s *source) { s.doc = "Package salesman." }, `does not begin with "Package sales"`},
		{"a test's comment does not count", func(s *source) { s.name, s.doc = "sales_test.go", "Anything." }, ""},
		{"a command", func(s *source) { s.folder, s.pack, s.doc = "cmd/lyceum", "main", "Command lyceum serves." }, ""},
		{"a command that calls itself a package", func(s *source) { s.folder, s.pack, s.doc = "cmd/lyceum", "main", "Package main serves." }, `does not begin with "Command lyceum"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			changed := doc
			tc.change(&changed)
			second := changed
			second.name, second.doc = "z"+changed.name, "" // one comment is enough for all files of a package
			found := breaches([]source{changed, second})
			if tc.breach == "" && len(found) > 0 || tc.breach != "" && (len(found) != 1 || !strings.Contains(found[0], tc.breach)) {
				t.Errorf("breaches %q, want %q", found, tc.breach)
			}
		})
	}
}
