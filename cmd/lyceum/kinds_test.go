package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestKindsAreTheCommands checks that the command line accepts all kinds, in the order in which
// they are imported.
func TestKindsAreTheCommands(t *testing.T) {
	var names []string
	for _, kind := range rowKinds {
		names = append(names, kind.name)
	}
	parser, err := kong.New(&commands{}, rowKindVars())
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, leaf := range parser.Model.Leaves(false) {
		if leaf.Name != "import" && leaf.Name != "export" {
			continue
		}
		seen++
		if got := leaf.Positional[0].Enum; got != strings.Join(names, ",") {
			t.Errorf("%s takes %s, want %s", leaf.Name, got, strings.Join(names, ","))
		}
	}
	if seen != 2 {
		t.Errorf("%d commands take a kind, want 2", seen)
	}
}
