package sales

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lyceum-school/lyceum"
)

// Import imports transactions into a school, batch by batch. A transaction that exists already
// is updated, so importing the same batch twice changes nothing.
//
// A transaction must refer to a user and a pricing plan of the school. Sales, coupons,
// affiliates and authors are created by the first transaction that refers to them. What refunds
// and disputes recorded here say about a transaction is not changed.
type Import struct {
	service *Service
	by      lyceum.By
	missing lyceum.Missing
	checked checkedIDs
	sales   *savedSales
}

// Import starts an import into a school.
func (s *Service) Import(by lyceum.By, missing lyceum.Missing) *Import {
	return &Import{service: s, by: by, missing: missing, checked: checkedIDs{}}
}

// knower is the function of a view or a transaction that returns which ids exist.
type knower func(seq lyceum.Sequence, ids []int32) ([]int32, error)

// Check returns which rows of a batch cannot be imported, without saving any.
func (i *Import) Check(ctx context.Context, batch []lyceum.Transaction) ([]lyceum.RowProblem, error) {
	v := i.service.store.In(ctx, i.by.School)
	return i.problems(v.Tables, v, batch, i.checked.besides(i.checked.keep(v.Known)))
}

// Save saves the rows of a batch that have no problem, all in one write, and returns the
// problems of the others.
func (i *Import) Save(ctx context.Context, batch []lyceum.Transaction) (lyceum.Saved, []lyceum.RowProblem, error) {
	var saved lyceum.Saved
	var problems []lyceum.RowProblem
	var known *savedSales
	var named []batchSale
	var updated []lyceum.SaleID
	var last int64
	stamp := i.by.StampMany(i.service.clock())
	err := i.service.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		var err error
		if problems, err = i.problems(tx.Tables, tx, batch, i.checked.besides(tx.Known)); err != nil {
			return err
		}
		good := byID(lyceum.WithoutProblems(batch, problems))
		if i.missing == lyceum.CreateMissing {
			if err := createMissing(tx, good); err != nil {
				return err
			}
		}
		if err := savePartners(tx, good); err != nil {
			return err
		}
		if last, err = tx.LastEntry(); err != nil {
			return err
		}
		known, named = i.sales.asOf(last), salesOf(good)
		doubtful, billed, err := saveSales(tx, named, known)
		if err != nil {
			return err
		}
		before := len(tx.Entries())
		if saved, err = tx.Transactions.Save(tx, good...); err != nil {
			return err
		}
		entries := tx.Entries()[before:]
		updated = distinct(append(salesWith(entries, good), updatedSales(entries)...))
		former, err := correctSales(tx, updated)
		if err != nil {
			return err
		}
		if err := Release(tx, distinct(append(doubtful, updated...))...); err != nil {
			return err
		}
		if err := prolong(tx, among(billed, entries, good)); err != nil {
			return err
		}
		err = i.service.enroller.Link(tx, stamp.At, append(former, buyers(good)...))
		last += int64(len(tx.Entries()))
		return err
	})
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import transactions: %w", err)
	}
	i.sales = known.take(named, updated, last)
	return saved, problems, nil
}

// updatedSales returns the sales that were updated, given the entries of saving transactions: those
// whose payments now belong to other sales.
func updatedSales(entries []lyceum.Entry) []lyceum.SaleID {
	var ids []lyceum.SaleID
	for i := range entries {
		if entries[i].Type == lyceum.SaleUpdated {
			ids = append(ids, lyceum.SaleID(entries[i].ObjectID))
		}
	}
	return ids
}

// distinct sorts ids and removes duplicates.
func distinct(ids []lyceum.SaleID) []lyceum.SaleID {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// among returns the sales of which payments of a batch were created or updated, given the entries of
// saving it.
func among(sales []lyceum.SaleID, entries []lyceum.Entry, batch []lyceum.Transaction) []lyceum.SaleID {
	if len(sales) == 0 {
		return nil
	}
	saved := map[lyceum.TransactionID]bool{}
	for i := range entries {
		if t := entries[i].Type; t == lyceum.TransactionCreated || t == lyceum.TransactionUpdated {
			saved[lyceum.TransactionID(entries[i].ObjectID)] = true
		}
	}
	paid := map[lyceum.SaleID]bool{}
	for n := range batch {
		paid[batch[n].SaleID] = paid[batch[n].SaleID] || saved[batch[n].ID]
	}
	return slices.DeleteFunc(sales, func(id lyceum.SaleID) bool { return !paid[id] })
}

// salesWith returns the sales of the payments of a batch that were updated, given the entries of
// saving it.
func salesWith(entries []lyceum.Entry, batch []lyceum.Transaction) []lyceum.SaleID {
	updated := map[lyceum.TransactionID]bool{}
	for i := range entries {
		if entries[i].Type == lyceum.TransactionUpdated {
			updated[lyceum.TransactionID(entries[i].ObjectID)] = true
		}
	}
	var ids []lyceum.SaleID
	for n := range batch {
		if updated[batch[n].ID] {
			ids = append(ids, batch[n].SaleID)
		}
	}
	return ids
}

func (i *Import) problems(
	tables *lyceum.Tables, from lyceum.Source, batch []lyceum.Transaction, known knower,
) ([]lyceum.RowProblem, error) {
	problems, err := recordedProblems(tables, from, batch)
	if err != nil || i.missing == lyceum.CreateMissing {
		return problems, err
	}
	users, err := unknown(known, lyceum.UserSequence, batch, userOf)
	if err != nil {
		return nil, err
	}
	plans, err := unknown(known, lyceum.PricingPlanSequence, batch, planOf)
	if err != nil {
		return nil, err
	}
	for index := range batch {
		t := &batch[index]
		if users[int32(t.UserID)] {
			problems = append(problems, lyceum.RowProblem{Index: index, FieldError: lyceum.FieldError{
				Field: "user_id", Message: fmt.Sprintf("%d matches no user of this school; import the users first, or use "+
					"--create-missing", t.UserID),
			}})
		}
		if plans[int32(t.PricingPlanID)] {
			problems = append(problems, lyceum.RowProblem{Index: index, FieldError: lyceum.FieldError{
				Field: "pricing_plan_id", Message: fmt.Sprintf("%d matches no pricing plan of this school; import the "+
					"pricing plans first, or use --create-missing", t.PricingPlanID),
			}})
		}
	}
	return problems, nil
}

// byID returns transactions sorted by id, the order of the tables, which makes inserting them
// cheaper.
func byID(batch []lyceum.Transaction) []lyceum.Transaction {
	compare := func(a, b lyceum.Transaction) int { return cmp.Compare(a.ID, b.ID) }
	if slices.IsSortedFunc(batch, compare) {
		return batch
	}
	return slices.SortedFunc(slices.Values(batch), compare)
}

// buyers returns the users of transactions, without duplicates.
func buyers(batch []lyceum.Transaction) []lyceum.UserID {
	users := make([]lyceum.UserID, len(batch))
	for n := range batch {
		users[n] = batch[n].UserID
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// The ids that a transaction refers to; 0 for none.
func userOf(t *lyceum.Transaction) int32      { return int32(t.UserID) }
func planOf(t *lyceum.Transaction) int32      { return int32(t.PricingPlanID) }
func couponOf(t *lyceum.Transaction) int32    { return int32(t.CouponID.Value) }
func affiliateOf(t *lyceum.Transaction) int32 { return int32(t.AffiliateID.Value) }
func authorOf(t *lyceum.Transaction) int32    { return int32(t.AuthorID.Value) }

// unknown returns the ids in a batch that the school does not have.
func unknown(
	known knower, seq lyceum.Sequence, batch []lyceum.Transaction, of func(*lyceum.Transaction) int32,
) (map[int32]bool, error) {
	named := roaring.New()
	var ids []int32
	for index := range batch {
		if id := of(&batch[index]); id != 0 && named.CheckedAdd(uint32(id)) {
			ids = append(ids, id)
		}
	}
	found, err := known(seq, ids)
	if err != nil || len(found) == len(ids) {
		return nil, err
	}
	for _, id := range found {
		named.Remove(uint32(id))
	}
	missing := map[int32]bool{}
	for _, id := range ids {
		if named.Contains(uint32(id)) {
			missing[id] = true
		}
	}
	return missing, nil
}

// createMissing creates the users and pricing plans that a batch refers to and the school
// lacks, from what the transactions say about them. The addresses end in .invalid, where no
// email arrives (RFC 2606).
func createMissing(tx lyceum.Tx, batch []lyceum.Transaction) error {
	missingUsers, err := unknown(tx.Known, lyceum.UserSequence, batch, userOf)
	if err != nil {
		return err
	}
	missingPlans, err := unknown(tx.Known, lyceum.PricingPlanSequence, batch, planOf)
	if err != nil {
		return err
	}
	var users []lyceum.User
	var plans []lyceum.PricingPlan
	for index := range batch {
		t := &batch[index]
		if missingUsers[int32(t.UserID)] {
			delete(missingUsers, int32(t.UserID))
			users = append(users, lyceum.User{
				ID: t.UserID, Email: fmt.Sprintf("user-%d@missing.invalid", t.UserID), Role: lyceum.Student, CreatedAt: t.CreatedAt,
			})
		}
		if missingPlans[int32(t.PricingPlanID)] {
			delete(missingPlans, int32(t.PricingPlanID))
			plans = append(plans, lyceum.PricingPlan{
				ID: t.PricingPlanID, Name: fmt.Sprintf("Pricing plan %d", t.PricingPlanID), Price: t.FinalPrice,
				Currency: t.Currency, Frequency: lyceum.OneTimePayment, CreatedAt: t.CreatedAt, UpdatedAt: t.CreatedAt,
			})
		}
	}
	if _, err := tx.Users.Save(tx, users...); err != nil {
		return err
	}
	_, err = tx.PricingPlans.Save(tx, plans...)
	return err
}

// savePartners creates the coupons, affiliates and authors that a batch refers to for the first
// time.
func savePartners(tx lyceum.Tx, batch []lyceum.Transaction) error {
	missing, err := unknown(tx.Known, lyceum.CouponSequence, batch, couponOf)
	if err != nil {
		return err
	}
	coupon := func(id int32) lyceum.Coupon { return lyceum.Coupon{ID: lyceum.CouponID(id)} }
	if _, err := tx.Coupons.Save(tx, made(missing, coupon)...); err != nil {
		return err
	}
	if missing, err = unknown(tx.Known, lyceum.AffiliateSequence, batch, affiliateOf); err != nil {
		return err
	}
	affiliate := func(id int32) lyceum.AffiliatePartner { return lyceum.AffiliatePartner{ID: lyceum.AffiliateID(id)} }
	if _, err := tx.Affiliates.Save(tx, made(missing, affiliate)...); err != nil {
		return err
	}
	if missing, err = unknown(tx.Known, lyceum.AuthorSequence, batch, authorOf); err != nil {
		return err
	}
	author := func(id int32) lyceum.AuthorProfile { return lyceum.AuthorProfile{ID: lyceum.AuthorID(id)} }
	_, err = tx.Authors.Save(tx, made(missing, author)...)
	return err
}

// made returns a row for each id, in ascending order.
func made[T any](ids map[int32]bool, from func(int32) T) []T {
	rows := make([]T, 0, len(ids))
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		rows = append(rows, from(id))
	}
	return rows
}

// batchSale is what a batch says about a sale.
type batchSale struct {
	first    *lyceum.Transaction // the earliest payment in the batch
	back     bool                // one of its payments is fully refunded
	paid     bool                // one is not, and is above 0
	released bool                // it is or may be released, or is billed here
}

// salesOf returns the sales in a batch, by id.
func salesOf(batch []lyceum.Transaction) []batchSale {
	order := make([]*lyceum.Transaction, len(batch))
	for n := range batch {
		order[n] = &batch[n]
	}
	slices.SortStableFunc(order, func(a, b *lyceum.Transaction) int {
		return cmp.Or(cmp.Compare(a.SaleID, b.SaleID), a.CreatedAt.Compare(b.CreatedAt))
	})
	named := make([]batchSale, 0, len(batch))
	for n, t := range order {
		if n == 0 || t.SaleID != order[n-1].SaleID {
			named = append(named, batchSale{first: t})
		}
		of := &named[len(named)-1]
		of.back = of.back || t.Paid && t.FullyRefunded()
		of.paid = of.paid || t.Retained()
	}
	return named
}

// saveSales creates the sales that a batch refers to for the first time, and moves back the
// start of those that turn out to be older. It returns the sales that existed before and may be
// fully refunded now, or no longer, and those that are billed here.
func saveSales(
	tx lyceum.Tx, named []batchSale, known *savedSales,
) (doubtful, billed []lyceum.SaleID, err error) {
	var ids []lyceum.SaleID
	for n := range named {
		if of := &named[n]; !known.has(of) {
			ids = append(ids, of.first.SaleID)
		}
	}
	kept, err := tx.Sales.Find(tx, ids...)
	if err != nil {
		return nil, nil, err
	}
	var changed []lyceum.Sale
	fresh := make([]lyceum.Sale, 0, len(ids)-len(kept))
	for n := range named {
		of := &named[n]
		id := of.first.SaleID
		old, found := kept[id]
		if !found && !known.has(of) {
			sale := lyceum.SaleOf(of.first)
			sale.Released = of.back && !of.paid
			of.released = sale.Released
			fresh = append(fresh, sale)
			continue
		}
		if of.back || old.Released {
			of.released = true
			doubtful = append(doubtful, id)
		}
		if old.BilledSince.Present && old.BillingAnchor.Present && !old.EndedAt.Present {
			of.released = true
			billed = append(billed, id)
		}
		if found && of.first.CreatedAt.Before(old.CreatedAt) {
			changed = append(changed, begunWith(old, of.first))
		}
	}
	if _, err := tx.Sales.Save(tx, changed...); err != nil {
		return nil, nil, err
	}
	return doubtful, billed, tx.Sales.Insert(tx, fresh...)
}

// prolong moves the due day of sales that are billed here if imported payments bought more time,
// so that they do not lapse although they are paid for. What an import takes back ends nothing by
// itself.
func prolong(tx lyceum.Tx, ids []lyceum.SaleID) error {
	for _, id := range ids {
		sale, plan, err := saleWithPlan(tx, id)
		if err != nil {
			return err
		}
		accounts, err := accountsOf(tx.Tables, tx, id)
		if err != nil {
			return err
		}
		b, err := boughtBy(tx, &sale, &plan, accounts)
		if err != nil {
			return err
		}
		if !b.inFull && (!b.until.Present || !b.until.Value.After(sale.PaidUntil.Value)) {
			continue
		}
		b.apply(&sale)
		if _, err := tx.Sales.Save(tx, sale); err != nil {
			return err
		}
	}
	return nil
}

// correctSales updates imported sales of which a payment was updated or moved to another sale, so
// that they agree with their first payment. It returns the users who were their buyers before. A
// sale for which something was recorded here stays as it is.
func correctSales(tx lyceum.Tx, ids []lyceum.SaleID) (former []lyceum.UserID, err error) {
	for part := range slices.Chunk(ids, releasedAtOnce) {
		kept, err := tx.Sales.Find(tx, part...)
		if err != nil {
			return nil, err
		}
		first := map[lyceum.SaleID]lyceum.Transaction{}
		of := lyceum.TransactionQuery{Sales: part, Order: lyceum.OldestFirst}
		err = tx.Transactions.Each(tx, of, func(t *lyceum.Transaction) error {
			if _, later := first[t.SaleID]; !later {
				first[t.SaleID] = *t
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		var changed []lyceum.Sale
		for _, id := range part {
			old, payment := kept[id], first[id]
			if payment.ID == 0 || old.ID == 0 || old.BilledSince.Present {
				continue
			}
			sale := begunWith(old, &payment)
			if changed = append(changed, sale); sale.UserID != old.UserID {
				former = append(former, old.UserID.Value)
			}
		}
		if _, err := tx.Sales.Save(tx, changed...); err != nil {
			return nil, err
		}
	}
	return former, nil
}

// begunWith returns a sale that began with another payment than previously known, or with one
// that was corrected.
func begunWith(old lyceum.Sale, first *lyceum.Transaction) lyceum.Sale {
	sale := lyceum.SaleOf(first)
	if old.CreatedAt.Before(sale.CreatedAt) {
		sale.CreatedAt, sale.PurchasedAt = old.CreatedAt, old.PurchasedAt
	}
	sale.BillingAnchor, sale.PaidUntil, sale.PaidInFull = old.BillingAnchor, old.PaidUntil, old.PaidInFull
	sale.BilledSince, sale.FailedAt, sale.Means = old.BilledSince, old.FailedAt, old.Means
	sale.EndedAt, sale.EndReason = old.EndedAt, old.EndReason
	sale.Replaces, sale.ReplacedBy, sale.NextPlan = old.Replaces, old.ReplacedBy, old.NextPlan
	sale.StopsAt, sale.Stopped, sale.ToStop = old.StopsAt, old.Stopped, old.ToStop
	sale.Released = old.Released
	return sale
}
