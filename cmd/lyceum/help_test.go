package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestHelp requests the help of every command: it says what the command does, shows an example,
// and documents every flag.
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

// TestREADMEListsEveryCommand checks that the table of commands in README.md has every command.
func TestREADMEListsEveryCommand(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, kong.Name("lyceum"), rowKindVars())
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Commands\n")
	listed := map[string]bool{} // such as "user erase"
	for _, cell := range regexp.MustCompile("(?m)^\\| `lyceum ([^|]+)` \\|").FindAllStringSubmatch(table, -1) {
		names := strings.Split(cell[1], "`, `") // the first one has the part that they share
		first := regexp.MustCompile(`^[a-z -]*[a-z]`).FindString(strings.Split(names[0], " --")[0])
		listed[first] = true
		for _, name := range names[1:] {
			listed[first[:strings.LastIndex(first, " ")+1]+name] = true
		}
	}
	for _, command := range parser.Model.Leaves(true) {
		path := strings.TrimPrefix(command.Path(), "lyceum ")
		if !listed[path] {
			t.Errorf("README.md does not list lyceum %s", path)
		}
		delete(listed, path)
	}
	for path := range listed {
		t.Errorf("README.md lists lyceum %s, which is no command", path)
	}
}
