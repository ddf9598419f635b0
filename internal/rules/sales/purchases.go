package sales

import (
	"context"
	"errors"

	"github.com/lyceum-school/lyceum"
)

// Purchase is a sale as version 2 shows it.
type Purchase struct {
	lyceum.Sale

	Plan   lyceum.PricingPlan // with the terms of the sale; zero if the sale has none
	Active bool               // not ended, not fully refunded and not lost to a dispute
}

// PurchaseQuery identifies a purchase, and optionally the user that it must belong to.
type PurchaseQuery struct {
	Sale lyceum.SaleID
	User lyceum.Opt[lyceum.UserID]
}

// Purchases returns a page of purchases, newest first.
func (s *Service) Purchases(
	ctx context.Context, by lyceum.By, f lyceum.PurchaseFilter, p lyceum.Page,
) (lyceum.Listing[Purchase], error) {
	v := s.store.In(ctx, by.School)
	found, err := v.Sales.List(v, lyceum.SaleFilter{Purchases: lyceum.Some(f)}, p)
	list := lyceum.Listing[Purchase]{Page: found.Page, Total: found.Total, More: found.More}
	if err == nil {
		list.Rows, err = purchases(v, found.Rows)
	}
	return list, err
}

// PurchasesOf returns a page of a user's purchases, newest first.
func (s *Service) PurchasesOf(
	ctx context.Context, by lyceum.By, f lyceum.PurchaseFilter, p lyceum.Page,
) (lyceum.Listing[Purchase], error) {
	v := s.store.In(ctx, by.School)
	if _, err := v.Users.Get(v, f.User.Value); err != nil {
		return lyceum.Listing[Purchase]{}, err
	}
	return s.Purchases(ctx, by, f, p)
}

// Purchase returns a purchase. It fails with NotFound if it belongs to another user.
func (s *Service) Purchase(ctx context.Context, by lyceum.By, q PurchaseQuery) (Purchase, error) {
	v := s.store.In(ctx, by.School)
	sale, err := v.Sales.Get(v, q.Sale)
	if err != nil {
		return Purchase{}, err
	}
	if q.User.Present && q.User != sale.UserID {
		return Purchase{}, lyceum.Errorf(lyceum.NotFound, "user %d has no purchase %d", q.User.Value, q.Sale)
	}
	found, err := purchases(v, []lyceum.Sale{sale})
	if err != nil {
		return Purchase{}, err
	}
	return found[0], nil
}

func purchases(v lyceum.View, sales []lyceum.Sale) ([]Purchase, error) {
	ids, plans := make([]lyceum.SaleID, len(sales)), make([]lyceum.PricingPlanID, len(sales))
	for i := range sales {
		ids[i], plans[i] = sales[i].ID, sales[i].PricingPlanID.Value
	}
	named, err := v.PricingPlans.Find(v, plans...)
	if err != nil {
		return nil, err
	}
	lost, err := lostToDisputes(v, ids)
	rows := make([]Purchase, len(sales))
	for i := range sales {
		rows[i] = Purchase{
			Sale: sales[i], Plan: named[plans[i]].For(&sales[i]),
			Active: !sales[i].EndedAt.Present && !sales[i].Released && !lost[ids[i]],
		}
	}
	return rows, err
}

// lostToDisputes returns the sales with a payment that was returned entirely, the last of it by
// a dispute.
func lostToDisputes(v lyceum.View, sales []lyceum.SaleID) (map[lyceum.SaleID]bool, error) {
	q := lyceum.TransactionQuery{Sales: sales}
	q.Chargeback = lyceum.Some(true)
	transactions, err := lyceum.All(v.Transactions, v, q)
	if err != nil || len(transactions) == 0 {
		return nil, err
	}
	disputes, err := disputesFor(v, transactions)
	lost := map[lyceum.SaleID]bool{}
	for i := range transactions {
		t := &transactions[i]
		if lostWhole(account{Transaction: *t, disputes: disputesOf(disputes, t.ID)}) {
			lost[t.SaleID] = true
		}
	}
	return lost, err
}

// LinkedTransaction is a transaction with the objects that version 2 links it to.
type LinkedTransaction struct {
	lyceum.Transaction

	Sale      lyceum.Sale
	Plan      lyceum.PricingPlan
	Affiliate lyceum.Opt[lyceum.UserID] // if the affiliate is a user
	Author    lyceum.Opt[lyceum.UserID] // if the author is a user
}

// Transactions returns a page of a school's transactions, newest first. The affiliate of the
// query is known by the id that version 2 shows: that of the user, if the affiliate is one.
func (s *Service) Transactions(
	ctx context.Context, by lyceum.By, q lyceum.TransactionQuery, p lyceum.Page,
) (lyceum.Listing[LinkedTransaction], error) {
	v := s.store.In(ctx, by.School)
	var list lyceum.Listing[LinkedTransaction]
	found := lyceum.Listing[lyceum.Transaction]{Page: p}
	var err error
	if q.AffiliateID.Present {
		if q.AffiliateID.Value, err = affiliateShownAs(v, q.AffiliateID.Value); err != nil {
			return list, err
		}
	}
	if q.Sale.Present { // the index does not support this filter
		found, err = v.Transactions.List(v, q, p)
	} else {
		var indexed lyceum.TransactionListing
		if indexed, err = s.List(ctx, by, q.TransactionFilter, q.Order, p); err == nil {
			found.Total, found.Rows = indexed.Total, make([]lyceum.Transaction, indexed.Transactions.Len())
			for i := range found.Rows {
				indexed.Transactions.Read(i, &found.Rows[i])
			}
		}
	}
	if err != nil {
		return list, err
	}
	list.Page, list.Total = p, found.Total
	list.Rows, err = linked(v, found.Rows)
	return list, err
}

// affiliateShownAs returns the affiliate that version 2 shows with an id, or 0, which no affiliate
// has. A user who is an affiliate takes precedence over an affiliate who is not a user.
func affiliateShownAs(v lyceum.View, id lyceum.AffiliateID) (lyceum.AffiliateID, error) {
	users, err := lyceum.All(v.Affiliates, v, lyceum.PartnerFilter{UserID: lyceum.Some(lyceum.UserID(id))})
	if err != nil || len(users) > 0 {
		return append(users, lyceum.AffiliatePartner{})[0].ID, err
	}
	others, err := v.Affiliates.Find(v, id)
	if other := others[id]; !other.UserID.Present {
		return other.ID, err
	}
	return 0, err
}

// Transaction returns a transaction with the objects that it is linked to.
func (s *Service) Transaction(
	ctx context.Context, by lyceum.By, id lyceum.TransactionID,
) (LinkedTransaction, error) {
	v := s.store.In(ctx, by.School)
	t, err := v.Transactions.Get(v, id)
	if err != nil {
		return LinkedTransaction{}, err
	}
	found, err := linked(v, []lyceum.Transaction{t})
	if err != nil {
		return LinkedTransaction{}, err
	}
	return found[0], nil
}

func linked(v lyceum.View, transactions []lyceum.Transaction) ([]LinkedTransaction, error) {
	var sales []lyceum.SaleID
	var plans []lyceum.PricingPlanID
	var affiliates []lyceum.AffiliateID
	var authors []lyceum.AuthorID
	for i := range transactions {
		t := &transactions[i]
		sales, plans = append(sales, t.SaleID), append(plans, t.PricingPlanID)
		if t.AffiliateID.Present {
			affiliates = append(affiliates, t.AffiliateID.Value)
		}
		if t.AuthorID.Present {
			authors = append(authors, t.AuthorID.Value)
		}
	}
	ofSales, e1 := v.Sales.Find(v, sales...)
	ofPlans, e2 := v.PricingPlans.Find(v, plans...)
	ofAffiliates, e3 := v.Affiliates.Find(v, affiliates...)
	ofAuthors, e4 := v.Authors.Find(v, authors...)
	rows := make([]LinkedTransaction, len(transactions))
	for i := range transactions {
		t := &transactions[i]
		rows[i] = LinkedTransaction{
			Transaction: *t, Sale: ofSales[t.SaleID], Plan: ofPlans[t.PricingPlanID],
			Affiliate: ofAffiliates[t.AffiliateID.Value].UserID, Author: ofAuthors[t.AuthorID.Value].UserID,
		}
	}
	return rows, errors.Join(e1, e2, e3, e4)
}
