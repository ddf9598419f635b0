package oauth_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestNamesOnPaper checks that certificates and receipts, which are printed, show names as long as
// they can be, and each in its own writing direction.
func TestNamesOnPaper(t *testing.T) {
	t.Parallel()
	c := learner(t)
	now := lyceum.Second(time.Now())
	course, name := strings.Repeat("קדרות ", 30)+"סוף", strings.Repeat("Mira ", 40)+"Okafor"
	seller, street := strings.Repeat("Fernwood ", 20)+"Ltd", strings.Repeat("Long ", 30)+"Street"
	c.buy()
	c.certify()
	storetest.Write(t, c.store, c.school, func(tx lyceum.Tx) error {
		user, err := tx.Users.Get(tx, 7)
		if err != nil {
			return err
		}
		user.Name = lyceum.Some(name)
		_, err = tx.Courses.Save(tx,
			lyceum.Course{ID: 1, Name: course, CreatedAt: now, UpdatedAt: now}, lyceum.Course{ID: 3, Name: course, CreatedAt: now, UpdatedAt: now})
		return errors.Join(err, tx.Users.Update(tx, user))
	})
	by := lyceum.By{School: c.school, Actor: "test"}
	_, e1 := c.sales.ChangeSeller(t.Context(), by, sales.SellerChange{Name: lyceum.Some(seller), Address: lyceum.Some(street)})
	n := sales.NewSale{User: 7, Plan: 1}
	n.Charge = lyceum.Some(lyceum.USDCents(16000))
	_, e2 := c.sales.Record(t.Context(), by, n)
	if err := errors.Join(e1, e2); err != nil {
		t.Fatal(err)
	}
	shows := func(page string, names ...string) {
		t.Helper()
		w := c.send("GET", page, nil)
		for _, name := range names {
			wantIsolated(t, w, name)
		}
	}
	shows("/account/certificates/1", course, name)
	shows("/account/receipts/3", course, name, seller, street)
}

func wantIsolated(t *testing.T, w *httptest.ResponseRecorder, name string) {
	t.Helper()
	if !strings.Contains(w.Body.String(), "<bdi>"+name) {
		t.Errorf("the page does not show %q: %s", name, w.Body)
	}
}
