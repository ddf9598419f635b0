package access_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

var update = flag.Bool("update", false, "write docs/staff.md from the table of doors")

// The tables in docs/staff.md match the code.
func TestStaffInDocuments(t *testing.T) {
	const path = "../../../docs/staff.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for mark, table := range map[string]string{"rights": rightsTable(), "doors": doorsTable()} {
		begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->"
		before, rest, found := strings.Cut(text, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no marks of %s", path, mark)
		}
		text = before + begin + table + end + after
	}
	switch {
	case text == string(page):
	case *update:
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the code says; run this test with -update", path)
	}
}

func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func heads(first ...string) string {
	for _, role := range lyceum.StaffRoles() {
		first = append(first, string(role))
	}
	return row(first...) + strings.Repeat("|---", len(first)) + "|\n"
}

func heldBy(right access.Right, cells ...string) string {
	for _, role := range lyceum.StaffRoles() {
		cell := ""
		if access.Holds(role, right) {
			cell = "yes"
		}
		cells = append(cells, cell)
	}
	return row(cells...)
}

func rightsTable() string {
	var b strings.Builder
	b.WriteString(heads("right"))
	for _, right := range access.Rights() {
		b.WriteString(heldBy(right, string(right)))
	}
	return b.String()
}

func doorsTable() string {
	var b strings.Builder
	b.WriteString(heads("method", "path"))
	doors := access.Doors()
	byPath := func(x, y string) int {
		xm, xp, _ := strings.Cut(x, " ")
		ym, yp, _ := strings.Cut(y, " ")
		return strings.Compare(xp+" "+xm, yp+" "+ym)
	}
	for _, door := range slices.SortedFunc(maps.Keys(doors), byPath) {
		method, path, _ := strings.Cut(door, " ")
		b.WriteString(heldBy(doors[door], method, fmt.Sprintf("`%s`", path)))
	}
	return b.String()
}

// Doors that are not in the table are closed, even to owners; only the school itself, which has
// no role, may use them.
func TestDoorsThatAreNotInTheTable(t *testing.T) {
	for _, role := range lyceum.StaffRoles() {
		if err := access.PermitDoor(lyceum.By{Staff: role}, "GET /admin/not/there"); lyceum.KindOf(err) != lyceum.Forbidden {
			t.Errorf("%s: %v", role, err)
		}
	}
	if err := access.PermitDoor(lyceum.By{}, "GET /admin/not/there"); err != nil {
		t.Error(err)
	}
	if access.May("", "GET /admin") || access.May("boss", "GET /admin") {
		t.Error("who has no role opens the console")
	}
}
