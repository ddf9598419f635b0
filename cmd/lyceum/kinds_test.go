package main

import (
	"reflect"
	"strings"
	"testing"
)

// TestKindsAreTheCommands: the command line takes the kinds there are, in the
// order in which they are imported.
func TestKindsAreTheCommands(t *testing.T) {
	var names []string
	for _, kind := range rowKinds {
		names = append(names, kind.name)
	}
	for _, command := range []any{importCommand{}, exportCommand{}} {
		field, _ := reflect.TypeOf(command).FieldByName("Kind")
		if got := field.Tag.Get("enum"); got != strings.Join(names, ",") {
			t.Errorf("%T takes %s, want %s", command, got, strings.Join(names, ","))
		}
	}
}
