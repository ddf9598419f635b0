package console

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// TestEveryEndHasASentence checks that every way in which a reason can end has an explanation.
func TestEveryEndHasASentence(t *testing.T) {
	for _, end := range lyceum.EntitlementEnds() {
		if reasonEnds[end] == "" {
			t.Errorf("%s has no sentence", end)
		}
	}
	if len(reasonEnds) != len(lyceum.EntitlementEnds()) {
		t.Errorf("%d sentences, want %d", len(reasonEnds), len(lyceum.EntitlementEnds()))
	}
}

// The last day of access is in the school's time zone, and may be as late as the last supported
// day.
func TestLastDay(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		day, zone string
		want      time.Time
	}{
		{"2026-03-31", "UTC", time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)},
		{"2026-03-31", "Europe/Berlin", time.Date(2026, 3, 31, 22, 0, 0, 0, time.UTC)},
		{"2027-03-13", "America/Havana", time.Date(2027, 3, 14, 5, 0, 0, 0, time.UTC)}, // the next day begins at one
		{"9999-12-31", "UTC", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
		{"9999-12-31", "America/Havana", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
		{"9999-12-31", "Asia/Tokyo", time.Date(9999, 12, 31, 15, 0, 0, 0, time.UTC)},
	} {
		zone, err := time.LoadLocation(row.zone)
		if err != nil {
			t.Fatal(err)
		}
		if end, wrong := lastDay(row.day, zone); wrong != "" || !end.Value.Equal(row.want) {
			t.Errorf("%s in %s ends at %v, %q; want %v", row.day, row.zone, end.Value, wrong, row.want)
		}
	}
}
