package main

import (
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestExportOfAnUnknownZone: a school whose time zone this program does not
// know, as one that a later program set, has no days.
func TestExportOfAnUnknownZone(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	school, err := store.CreateSchool(t.Context(), lyceum.School{ID: 1, Name: "Fernwood", CreatedAt: storetest.Begin, TimeZone: "Mars/Olympus"}, "test")
	if err != nil {
		t.Fatal(err)
	}
	days := dayRange{first: lyceum.Some(lyceum.Day{Year: 2026, Month: 3, Day: 1})}
	if _, err := days.in(t.Context(), store, school.ID); err == nil || !strings.Contains(err.Error(), "Mars/Olympus") {
		t.Errorf("its days: %v", err)
	}
}
