package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// TestExportHasEveryFilter checks that the export has all filters of the sales list.
func TestExportHasEveryFilter(t *testing.T) {
	var flags []string
	for i := range reflect.TypeFor[listFilter]().NumField() {
		name := reflect.TypeFor[listFilter]().Field(i).Tag.Get("name")
		flags = append(flags, strings.ReplaceAll(name, "-", "_"))
	}
	if diff := cmp.Diff(wire.SalesFilterNames(), flags); diff != "" {
		t.Errorf("(-list +export):\n%s", diff)
	}
}
