package sqlstore

import (
	"net/url"
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestChangesReadWhatIsCommitted checks that the isolation of changes does not depend on the
// default of a database.
func TestChangesReadWhatIsCommitted(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	parameters := address.Query()
	parameters.Set("default_transaction_isolation", "serializable")
	address.RawQuery = parameters.Encode()
	store, err := OpenPostgres(t.Context(), address.String(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var inherited, isolation string
	err = store.write(t.Context(), 0, func(q *session) error {
		_, err := q.one("SELECT current_setting('default_transaction_isolation'), current_setting('transaction_isolation')",
			nil, scanText(&inherited), scanText(&isolation))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if inherited != "serializable" || isolation != "read committed" {
		t.Errorf("the isolation is %q by default, and %q for changes", inherited, isolation)
	}
}
