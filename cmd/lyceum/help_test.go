package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestHelp asks every command for help: it says what the command does, shows
// an example, and documents every flag.
func TestHelp(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Name("lyceum"), rowKindVars())
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(false) {
		path := strings.Fields(leaf.Path())
		t.Run(leaf.Path(), func(t *testing.T) {
			var out, errs bytes.Buffer
			args := append(path[:len(path):len(path)], "--help")
			if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != 0 || errs.Len() > 0 {
				t.Fatalf("%q ends with %d: %s", args, status, errs.String())
			}
			text := out.String()
			if !strings.HasPrefix(text, "Usage: lyceum "+leaf.Path()) || !strings.Contains(text, "Example") {
				t.Errorf("the help has no usage or no example:\n%s", text)
			}
			if !strings.Contains(text, "lyceum "+strings.Join(path, " ")+"\n") && !strings.Contains(text, "lyceum "+leaf.Path()) {
				t.Errorf("no example runs %q:\n%s", leaf.Path(), text)
			}
			for _, flag := range leaf.Flags {
				if flag.Help == "" {
					t.Errorf("--%s has no help", flag.Name)
				}
			}
		})
	}
}
