package intake_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestFilesHaveEveryField checks that a transaction keeps all its fields in either format.
func TestFilesHaveEveryField(t *testing.T) {
	want := storetest.FullTransaction()
	for _, format := range []intake.Format{intake.CSV, intake.JSONLines} {
		file := written(t, intake.Transactions(), format, []lyceum.Transaction{want})
		rows, ignored, err := readAll(intake.Transactions(), strings.NewReader(file))
		if err != nil || len(ignored) > 0 || len(rows) != 1 || len(rows[0].Problems) > 0 {
			t.Fatalf("rows %v, ignored %q, %v", rows, ignored, err)
		}
		if diff := cmp.Diff(want, rows[0].Value); diff != "" {
			t.Errorf("format %v (-want +got):\n%s", format, diff)
		}
	}
}
