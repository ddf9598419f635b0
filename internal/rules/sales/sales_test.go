package sales_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

func openStore(t *testing.T) lyceum.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), t.TempDir(), sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// engines opens a store of each engine.
func engines(t *testing.T) map[string]lyceum.Store {
	t.Helper()
	return enginesWith(t, sqlstore.Options{})
}

func enginesWith(t *testing.T, o sqlstore.Options) map[string]lyceum.Store {
	t.Helper()
	sqlite, err := sqlstore.Open(t.Context(), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sqlite.Close() })
	postgres, err := sqlstore.OpenPostgres(t.Context(), storetest.Postgres(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = postgres.Close() })
	return map[string]lyceum.Store{"SQLite": sqlite, "PostgreSQL": postgres}
}

// now is when imports happen; transactions are older.
var now = storetest.Begin.AddDate(1, 0, 0)

func newService(store lyceum.Store) *sales.Service {
	clock := func() time.Time { return now }
	return sales.New(store, clock, learning.New(store, clock), nil)
}

// shop is a school with users 1 to 3 and pricing plans 1 to 3.
type shop struct {
	store   lyceum.Store
	service *sales.Service
	school  lyceum.SchoolID
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return fill(t, openStore(t))
}

// fill creates a shop in a store.
func fill(t *testing.T, store lyceum.Store) *shop {
	t.Helper()
	s := &shop{store: store, service: newService(store), school: storetest.MakeSchool(t, store)}
	storetest.Write(t, store, s.school, func(tx lyceum.Tx) error {
		var users []lyceum.User
		var plans []lyceum.PricingPlan
		for id := range int32(3) {
			users = append(users, lyceum.User{ID: lyceum.UserID(id + 1), Email: fmt.Sprintf("user%d@example.com", id+1), Role: lyceum.Student, CreatedAt: storetest.Begin})
			plans = append(plans, lyceum.PricingPlan{ID: lyceum.PricingPlanID(id + 1), Name: "Plan", Price: 1999, Currency: "EUR", Frequency: lyceum.Subscription, CreatedAt: storetest.Begin, UpdatedAt: storetest.Begin})
		}
		_, usersErr := tx.Users.Save(tx, users...)
		_, plansErr := tx.PricingPlans.Save(tx, plans...)
		return errors.Join(usersErr, plansErr)
	})
	return s
}

// sold returns a transaction dated id hours after Begin.
func sold(id lyceum.TransactionID, user lyceum.UserID, plan lyceum.PricingPlanID, change ...func(*lyceum.Transaction)) lyceum.Transaction {
	at := storetest.Begin.Add(time.Duration(id) * time.Hour)
	x := lyceum.Transaction{
		ID: id, UserID: user, PricingPlanID: plan, SaleID: lyceum.SaleID(id), CreatedAt: at, PurchasedAt: at,
		Charge: 2100, FinalPrice: 1999, Currency: "EUR", Revenue: 1900, Paid: true,
	}
	for _, c := range change {
		c(&x)
	}
	return x
}

func ofSale(id lyceum.SaleID) func(*lyceum.Transaction) {
	return func(x *lyceum.Transaction) { x.SaleID = id }
}

func at(d time.Duration) func(*lyceum.Transaction) {
	return func(x *lyceum.Transaction) { x.CreatedAt = storetest.Begin.Add(d) }
}

func (s *shop) save(t *testing.T, missing lyceum.Missing, batch ...lyceum.Transaction) (lyceum.Saved, []lyceum.RowProblem) {
	t.Helper()
	given := slices.Clone(batch)
	saved, problems, err := s.service.Import(lyceum.By{School: s.school, Actor: "import"}, missing).Save(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(given, batch) {
		t.Error("the batch itself was changed")
	}
	return saved, problems
}

func (s *shop) check(t *testing.T, missing lyceum.Missing, batch ...lyceum.Transaction) []lyceum.RowProblem {
	t.Helper()
	problems, err := s.service.Import(lyceum.By{School: s.school, Actor: "import"}, missing).Check(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

func (s *shop) kept(t *testing.T) (all []lyceum.Transaction) {
	t.Helper()
	err := s.service.Each(t.Context(), lyceum.By{School: s.school, Actor: "test"}, lyceum.TransactionFilter{}, lyceum.OldestFirst, func(x *lyceum.Transaction) error {
		all = append(all, *x)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// journal returns the entries after a number, as "type id", and the number of the last one.
func (s *shop) journal(t *testing.T, after int64) (texts []string, last int64) {
	t.Helper()
	entries, err := storetest.FindEntries(t.Context(), s.store, s.school, after, 1000)
	if err != nil {
		t.Fatal(err)
	}
	last = after
	for _, e := range entries {
		texts = append(texts, fmt.Sprint(e.Type, " ", e.ObjectID))
		last = e.Number
		if e.Actor != "import" && after > 0 || after > 0 && !e.At.Equal(now) {
			t.Errorf("entry %d is by %q at %v", e.Number, e.Actor, e.At)
		}
	}
	return texts, last
}

func (s *shop) end(t *testing.T) int64 {
	t.Helper()
	_, last := s.journal(t, 0)
	return last
}

// inTx runs do in a transaction that is rolled back.
func (s *shop) inTx(t *testing.T, do func(lyceum.Tx) error) {
	t.Helper()
	undo := errors.New("undo")
	err := s.store.Write(t.Context(), lyceum.Stamp{School: s.school, At: now, Actor: "test"}, func(tx lyceum.Tx) error {
		return errors.Join(do(tx), undo)
	})
	if err == nil || err.Error() != undo.Error() {
		t.Fatal(err)
	}
}

func problem(index int, field, message string) lyceum.RowProblem {
	return lyceum.RowProblem{Index: index, FieldError: lyceum.FieldError{Field: field, Message: message}}
}

func TestUnknownUsersAndPlansAreProblems(t *testing.T) {
	s := newShop(t)
	begin := s.end(t)
	batch := []lyceum.Transaction{sold(1, 1, 1), sold(2, 77, 1), sold(3, 2, 88), sold(4, 77, 88), sold(5, 3, 3)}
	want := []lyceum.RowProblem{
		problem(1, "user_id", "77 matches no user of this school; import the users first, or use --create-missing"),
		problem(2, "pricing_plan_id", "88 matches no pricing plan of this school; import the pricing plans first, or use --create-missing"),
		problem(3, "user_id", "77 matches no user of this school; import the users first, or use --create-missing"),
		problem(3, "pricing_plan_id", "88 matches no pricing plan of this school; import the pricing plans first, or use --create-missing"),
	}
	if diff := cmp.Diff(want, s.check(t, lyceum.RefuseMissing, batch...)); diff != "" {
		t.Errorf("checked (-want +got):\n%s", diff)
	}
	if texts, _ := s.journal(t, begin); len(texts) > 0 {
		t.Errorf("the check left %v", texts)
	}
	saved, problems := s.save(t, lyceum.RefuseMissing, batch...)
	if diff := cmp.Diff(want, problems); diff != "" || saved != (lyceum.Saved{Created: 2}) {
		t.Errorf("saved %+v (-want +got):\n%s", saved, diff)
	}
	if diff := cmp.Diff([]lyceum.Transaction{batch[0], batch[4]}, s.kept(t)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	// Nothing of a bad row is saved, not even its sale.
	texts, _ := s.journal(t, begin)
	if want := []string{"sale.created 1", "sale.created 5", "transaction.created 1", "transaction.created 5"}; !slices.Equal(texts, want) {
		t.Errorf("journal %v, want %v", texts, want)
	}
}

func TestF9AnotherSchoolsUsersAreUnknown(t *testing.T) {
	s := newShop(t)
	other := storetest.MakeSchool(t, s.store)
	problems, err := s.service.Import(lyceum.By{School: other, Actor: "import"}, lyceum.RefuseMissing).Check(t.Context(), []lyceum.Transaction{sold(1, 1, 1)})
	if err != nil || len(problems) != 2 {
		t.Errorf("problems %v, %v; want one of the user and one of the plan", problems, err)
	}
}

func TestMissingAreCreated(t *testing.T) {
	s := newShop(t)
	begin := s.end(t)
	batch := []lyceum.Transaction{sold(1, 1, 1), sold(2, 77, 88), sold(3, 77, 88), sold(4, 2, 9, func(x *lyceum.Transaction) { x.FinalPrice, x.Currency = 500, "JPY" })}
	if problems := s.check(t, lyceum.CreateMissing, batch...); len(problems) > 0 {
		t.Errorf("checked: %v", problems)
	}
	if texts, _ := s.journal(t, begin); len(texts) > 0 {
		t.Errorf("the check left %v", texts)
	}
	saved, problems := s.save(t, lyceum.CreateMissing, batch...)
	if saved != (lyceum.Saved{Created: 4}) || len(problems) > 0 {
		t.Errorf("saved %+v, %v", saved, problems)
	}
	s.inTx(t, func(tx lyceum.Tx) error {
		users, err := tx.Users.Find(tx, 1, 77)
		want := lyceum.User{ID: 77, Email: "user-77@missing.invalid", Role: lyceum.Student, CreatedAt: batch[1].CreatedAt, UpdatedAt: now}
		if users[77] != want || users[1].Email != "user1@example.com" {
			t.Errorf("user %+v, want %+v; user 1 is now %+v", users[77], want, users[1])
		}
		if err != nil {
			return err
		}
		plans, err := tx.PricingPlans.Find(tx, 1, 9, 88)
		if p := plans[88]; p.Price != 1999 || p.Currency != "EUR" || p.Frequency != lyceum.OneTimePayment || p.CourseID.Present || p.Name != "Pricing plan 88" || !p.CreatedAt.Equal(batch[1].CreatedAt) {
			t.Errorf("plan 88 is %+v", p)
		}
		if p := plans[9]; p.Price != 500 || p.Currency != "JPY" {
			t.Errorf("plan 9 is %+v", p)
		}
		if p := plans[1]; p.Name != "Plan" {
			t.Errorf("plan 1 is now %+v", p)
		}
		return err
	})
	// An import that refuses missing sales now finds them.
	if problems := s.check(t, lyceum.RefuseMissing, batch...); len(problems) > 0 {
		t.Errorf("then: %v", problems)
	}
}

func TestTwiceChangesNothing(t *testing.T) {
	for name, missing := range map[string]lyceum.Missing{"refuse missing": lyceum.RefuseMissing, "create missing": lyceum.CreateMissing} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			var batch []lyceum.Transaction
			for id := range lyceum.TransactionID(150) {
				batch = append(batch, sold(id+1, lyceum.UserID(id%3+1), lyceum.PricingPlanID(id%3+1), ofSale(lyceum.SaleID(id/4+1)), func(x *lyceum.Transaction) {
					if id%2 == 0 {
						x.CouponID, x.AffiliateID, x.AuthorID = lyceum.Some(lyceum.CouponID(id%5+1)), lyceum.Some(lyceum.AffiliateID(id%6+1)), lyceum.Some(lyceum.AuthorID(id%7+1))
					}
				}))
			}
			if saved, problems := s.save(t, missing, batch...); saved != (lyceum.Saved{Created: 150}) || len(problems) > 0 {
				t.Fatalf("saved %+v, %v", saved, problems)
			}
			end := s.end(t)
			if saved, problems := s.save(t, missing, batch...); saved != (lyceum.Saved{Unchanged: 150}) || len(problems) > 0 {
				t.Errorf("again saved %+v, %v", saved, problems)
			}
			if texts, _ := s.journal(t, end); len(texts) > 0 {
				t.Errorf("again there are entries: %v", texts)
			}
			if diff := cmp.Diff(batch, s.kept(t)); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			batch[7].AmountRefunded, batch[7].RefundedAt = 1999, lyceum.Some(storetest.Begin)
			if saved, _ := s.save(t, missing, batch...); saved != (lyceum.Saved{Updated: 1, Unchanged: 149}) {
				t.Errorf("with one refunded saved %+v", saved)
			}
			if texts, _ := s.journal(t, end); !slices.Equal(texts, []string{"transaction.updated 8"}) {
				t.Errorf("with one refunded the entries are %v", texts)
			}
			if diff := cmp.Diff(batch, s.kept(t)); diff != "" {
				t.Errorf("then kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSalesAreDatedByTheirEarliestTransaction(t *testing.T) {
	s := newShop(t)
	date := func() (created time.Duration) {
		t.Helper()
		s.inTx(t, func(tx lyceum.Tx) error {
			found, err := tx.Sales.Find(tx, 9)
			created = found[9].CreatedAt.Sub(storetest.Begin)
			return err
		})
		return created
	}
	for _, step := range []struct {
		name  string
		batch []lyceum.Transaction
		want  time.Duration
		entry string
	}{
		{"in no order", []lyceum.Transaction{
			sold(1, 1, 1, ofSale(9), at(30*time.Hour)), sold(2, 1, 1, ofSale(9), at(20*time.Hour)), sold(3, 1, 1, ofSale(9), at(25*time.Hour)),
		}, 20 * time.Hour, "sale.created 9"},
		{"a later one", []lyceum.Transaction{sold(4, 1, 1, ofSale(9), at(40*time.Hour))}, 20 * time.Hour, ""},
		{"one of the same time", []lyceum.Transaction{sold(5, 1, 1, ofSale(9), at(20*time.Hour))}, 20 * time.Hour, ""},
		{"an earlier one", []lyceum.Transaction{sold(6, 1, 1, ofSale(9), at(10*time.Hour))}, 10 * time.Hour, "sale.updated 9"},
		// A sale keeps the earliest time that any of its transactions ever had.
		{"that one dated forward", []lyceum.Transaction{sold(6, 1, 1, ofSale(9), at(50*time.Hour))}, 10 * time.Hour, ""},
	} {
		end := s.end(t)
		if _, problems := s.save(t, lyceum.RefuseMissing, step.batch...); len(problems) > 0 {
			t.Fatalf("%s: %v", step.name, problems)
		}
		if got := date(); got != step.want {
			t.Errorf("%s: the sale is dated %v, want %v", step.name, got, step.want)
		}
		texts, _ := s.journal(t, end)
		texts = slices.DeleteFunc(texts, func(text string) bool { return strings.HasPrefix(text, "transaction.") })
		if strings.Join(texts, ", ") != step.entry {
			t.Errorf("%s: entries %v, want %s", step.name, texts, step.entry)
		}
	}
}

// TestImportsKnowTheirSales checks that one import of many batches has the same result as a
// separate import for each batch, even if sales are changed elsewhere in between.
func TestImportsKnowTheirSales(t *testing.T) {
	store := openStore(t)
	rapid.Check(t, func(r *rapid.T) {
		known, asked := fill(t, store), fill(t, store)
		by := func(s *shop) lyceum.By { return lyceum.By{School: s.school, Actor: "import"} }
		long := known.service.Import(by(known), lyceum.RefuseMissing)
		others := rapid.Bool().Draw(r, "others")
		for step := range rapid.IntRange(1, 40).Draw(r, "steps") {
			if others && rapid.Bool().Draw(r, "change") {
				id := lyceum.SaleID(rapid.Int32Range(1, 3).Draw(r, "sale"))
				move := time.Duration(rapid.IntRange(-3, 9).Draw(r, "moved")) * time.Hour
				release := rapid.Bool().Draw(r, "release")
				for _, s := range []*shop{known, asked} {
					storetest.Write(t, store, s.school, func(tx lyceum.Tx) error {
						found, err := tx.Sales.Find(tx, id)
						for _, sale := range found {
							sale.CreatedAt, sale.Released = sale.CreatedAt.Add(move), release
							err = errors.Join(err, tx.Sales.Update(tx, sale))
						}
						return err
					})
				}
			}
			var batch []lyceum.Transaction
			for _, id := range rapid.SliceOfNDistinct(rapid.Int32Range(1, 9), 1, 4, rapid.ID[int32]).Draw(r, "ids") {
				batch = append(batch, sold(lyceum.TransactionID(id), 1, 1, ofSale(lyceum.SaleID(rapid.Int32Range(1, 3).Draw(r, "of"))),
					at(time.Duration(2*step+rapid.IntRange(-2, 2).Draw(r, "at"))*time.Hour), func(x *lyceum.Transaction) {
						x.Paid = rapid.IntRange(0, 3).Draw(r, "paid") > 0
						if x.Paid && rapid.Bool().Draw(r, "refunded") {
							x.AmountRefunded, x.RefundedAt = x.FinalPrice, lyceum.Some(x.CreatedAt)
						}
					}))
			}
			_, _, err := long.Save(t.Context(), batch)
			_, _, again := asked.service.Import(by(asked), lyceum.RefuseMissing).Save(t.Context(), batch)
			if err := errors.Join(err, again); err != nil {
				r.Fatal(err)
			}
			if diff := cmp.Diff(asked.sales(t), known.sales(t)); diff != "" {
				r.Fatalf("sales (-asked +known):\n%s", diff)
			}
		}
	})
}

// TestImportsDateSalesBack checks that a batch of an import may be older than the one before.
func TestImportsDateSalesBack(t *testing.T) {
	for engine, store := range engines(t) {
		s := fill(t, store)
		file := s.service.Import(lyceum.By{School: s.school, Actor: "import"}, lyceum.RefuseMissing)
		for n, hours := range []int{40, 20, 30, 10, 50} {
			_, problems, err := file.Save(t.Context(), []lyceum.Transaction{
				sold(lyceum.TransactionID(n+1), 1, 1, ofSale(9), at(time.Duration(hours)*time.Hour)),
			})
			if err != nil || len(problems) > 0 {
				t.Fatal(engine, problems, err)
			}
		}
		if all := s.sales(t); len(all) != 1 || !all[0].CreatedAt.Equal(storetest.Begin.Add(10*time.Hour)) {
			t.Errorf("%s: %+v", engine, all)
		}
	}
}

func (s *shop) sales(t *testing.T) (all []lyceum.Sale) {
	t.Helper()
	s.inTx(t, func(tx lyceum.Tx) (err error) {
		all, err = lyceum.All(tx.Sales, tx, lyceum.SaleFilter{})
		return err
	})
	return all
}

func TestPartnersComeIntoBeingOnce(t *testing.T) {
	s := newShop(t)
	named := []func(lyceum.Tx) (lyceum.Saved, error){
		func(tx lyceum.Tx) (lyceum.Saved, error) {
			return tx.Coupons.Save(tx, lyceum.Coupon{ID: 5, Code: lyceum.Some("SPRING")})
		},
		func(tx lyceum.Tx) (lyceum.Saved, error) {
			return tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: 5, Name: lyceum.Some("Ada")})
		},
		func(tx lyceum.Tx) (lyceum.Saved, error) {
			return tx.Authors.Save(tx, lyceum.AuthorProfile{ID: 5, Name: lyceum.Some("Grace")})
		},
	}
	storetest.Write(t, s.store, s.school, func(tx lyceum.Tx) error {
		for _, save := range named {
			if _, err := save(tx); err != nil {
				return err
			}
		}
		return nil
	})
	end := s.end(t)
	with := func(id int32) func(*lyceum.Transaction) {
		return func(x *lyceum.Transaction) {
			x.CouponID, x.AffiliateID, x.AuthorID = lyceum.Some(lyceum.CouponID(id)), lyceum.Some(lyceum.AffiliateID(id)), lyceum.Some(lyceum.AuthorID(id))
		}
	}
	s.save(t, lyceum.RefuseMissing, sold(1, 1, 1, with(8)), sold(2, 1, 1, with(5)), sold(3, 1, 1, with(8)), sold(4, 1, 1, with(6)), sold(5, 1, 1))
	s.save(t, lyceum.RefuseMissing, sold(6, 1, 1, with(8)), sold(7, 1, 1, with(5)))
	texts, _ := s.journal(t, end)
	partners := slices.DeleteFunc(texts, func(text string) bool {
		return strings.HasPrefix(text, "transaction.") || strings.HasPrefix(text, "sale.")
	})
	want := []string{"coupon.created 6", "coupon.created 8", "affiliate.created 6", "affiliate.created 8", "author.created 6", "author.created 8"}
	if !slices.Equal(partners, want) {
		t.Errorf("entries %v, want %v", partners, want)
	}
	s.inTx(t, func(tx lyceum.Tx) error {
		for _, save := range named {
			if saved, err := save(tx); err != nil || saved != (lyceum.Saved{Unchanged: 1}) {
				t.Errorf("a partner with a name was overwritten: %+v, %v", saved, err)
			}
		}
		return nil
	})
}

func TestImportIntoAStoreThatIsClosed(t *testing.T) {
	s := newShop(t)
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	saved, problems, err := s.service.Import(lyceum.By{School: s.school, Actor: "import"}, lyceum.RefuseMissing).Save(t.Context(), []lyceum.Transaction{sold(1, 1, 1)})
	if lyceum.KindOf(err) != lyceum.Unavailable || saved != (lyceum.Saved{}) || problems != nil {
		t.Errorf("saved %+v, %v, %v", saved, problems, err)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "import transactions: ") {
		t.Errorf("error %q does not say what was being done", err)
	}
}

func TestListAndEach(t *testing.T) {
	s := newShop(t)
	batch := []lyceum.Transaction{sold(1, 1, 1), sold(2, 2, 1), sold(3, 1, 2)}
	s.save(t, lyceum.RefuseMissing, batch...)
	filter := lyceum.TransactionFilter{UserID: lyceum.Some(lyceum.UserID(1))}
	listing, err := s.service.List(t.Context(), lyceum.By{School: s.school, Actor: "test"}, filter, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: 1})
	want := lyceum.TransactionListing{Transactions: lyceum.TransactionSlice{batch[2]}, Total: 2, Page: lyceum.Page{Number: 1, Size: 1}}
	if diff := cmp.Diff(want, listing); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	var seen []lyceum.TransactionID
	err = s.service.Each(t.Context(), lyceum.By{School: s.school, Actor: "test"}, filter, lyceum.OldestFirst, func(x *lyceum.Transaction) error { seen = append(seen, x.ID); return nil })
	if err != nil || !slices.Equal(seen, []lyceum.TransactionID{1, 3}) {
		t.Errorf("visited %v, %v", seen, err)
	}
	err = s.service.Each(t.Context(), lyceum.By{School: 999, Actor: "test"}, filter, lyceum.OldestFirst, func(*lyceum.Transaction) error { return nil })
	if lyceum.KindOf(err) != lyceum.NotFound {
		t.Errorf("a school there is not: %v", err)
	}
}
