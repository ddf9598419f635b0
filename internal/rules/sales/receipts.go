package sales

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// SellerChange is a change of a school's seller; absent fields stay as they are.
type SellerChange struct {
	Name, Address, TaxNumber, Prefix lyceum.Opt[string]
}

// Seller returns a school's seller; its name is empty if the school issues no receipts.
func (s *Service) Seller(ctx context.Context, by lyceum.By, _ struct{}) (lyceum.Seller, error) {
	v := s.store.In(ctx, by.School)
	return seller(v.Tables, v)
}

func seller(tables *lyceum.Tables, from lyceum.Source) (lyceum.Seller, error) {
	newest, _, err := tables.Sellers.First(from, lyceum.SellerFilter{})
	return newest, err
}

// ChangeSeller changes a school's seller. From then on each payment that is recorded gets a
// receipt, and each refund of such a payment a credit note; those issued before do not change.
// A school whose seller has no name issues none.
func (s *Service) ChangeSeller(ctx context.Context, by lyceum.By, c SellerChange) (lyceum.Seller, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.Seller, error) {
		before, err := seller(tx.Tables, tx)
		if err != nil {
			return before, err
		}
		changed := before
		for _, field := range []struct {
			to   *string
			sent lyceum.Opt[string]
		}{
			{&changed.Name, c.Name},
			{&changed.Address, c.Address},
			{&changed.TaxNumber, c.TaxNumber},
			{&changed.Prefix, c.Prefix},
		} {
			*field.to = strings.TrimSpace(field.sent.Else(*field.to))
		}
		if changed == before {
			return before, nil
		}
		if err := checkSeller(&changed); err != nil {
			return before, err
		}
		if err := by.CheckShown(before.Shown(), changed.Shown()); err != nil {
			return before, err
		}
		if changed.ID, err = tx.Sellers.NextID(tx); err != nil {
			return before, err
		}
		changed.Since = lyceum.Second(now)
		tx.Note(lyceum.SchoolUpdated, int32(by.School))
		return changed, tx.Sellers.Insert(tx, changed)
	})
}

func checkSeller(of *lyceum.Seller) error {
	var wrong []lyceum.FieldError
	for _, field := range []struct {
		name, text string
		most       int
		lines      bool
	}{
		{"name", of.Name, lyceum.MaxSellerName, false},
		{"address", of.Address, lyceum.MaxSellerAddress, true},
		{"tax_number", of.TaxNumber, lyceum.MaxTaxNumber, false},
		{"receipt_prefix", of.Prefix, lyceum.MaxReceiptPrefix, false},
	} {
		message := lyceum.CheckText(field.text, 0, field.most)
		if message == "" && !field.lines && strings.ContainsAny(field.text, "\r\n") {
			message = "must be one line"
		}
		if message != "" {
			wrong = append(wrong, lyceum.FieldError{Field: field.name, Message: message})
		}
	}
	if of.Name == "" && of.Address+of.TaxNumber+of.Prefix != "" {
		wrong = append(wrong, lyceum.FieldError{
			Field: "name", Message: "is required with an address, a tax number or a prefix; leave all of them empty to issue " +
				"no receipts",
		})
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	return nil
}

// issue issues the receipt of a payment, unless the payment is free or the school issues no
// receipts.
func issue(tx lyceum.Tx, now time.Time, t *lyceum.Transaction) error {
	if t.FinalPrice+t.TaxCharge == 0 {
		return nil
	}
	from, err := seller(tx.Tables, tx)
	if err != nil || from.Name == "" {
		return err
	}
	item, err := called(tx, t)
	if err != nil {
		return err
	}
	return number(tx, now, lyceum.Receipt{
		Transaction: t.ID, User: t.UserID, Seller: from.ID, PaidAt: t.PurchasedAt, Item: item, Currency: t.Currency,
		Price: t.FinalPrice, Tax: t.TaxCharge,
	})
}

// issueCreditNote issues the credit note of a refund, if the payment has a receipt.
func issueCreditNote(tx lyceum.Tx, now time.Time, m *lyceum.Movement) error {
	receipt, found, err := tx.Receipts.First(tx, lyceum.ReceiptFilter{
		Transaction: lyceum.Some(m.TransactionID), CreditNotes: lyceum.Some(false),
	})
	if err != nil || !found {
		return err
	}
	from, err := seller(tx.Tables, tx)
	if err != nil {
		return err
	}
	if from.Name == "" { // the school issues no new receipts: the seller of the old one refunds
		from.ID = receipt.Seller
	}
	receipt.Refund, receipt.Seller, receipt.PaidAt = lyceum.Some(m.ID), from.ID, m.At
	receipt.Price, receipt.Tax = m.Amount, m.Tax
	return number(tx, now, receipt)
}

// number saves a receipt with the next number. Numbers are taken one by one and never reserved,
// because a reserved number that is not used would leave a gap.
func number(tx lyceum.Tx, now time.Time, r lyceum.Receipt) (err error) {
	if r.ID, err = tx.Receipts.NextID(tx); err != nil {
		return err
	}
	r.IssuedAt = lyceum.Second(now)
	return tx.Receipts.Insert(tx, r)
}

// called returns what a payment is for: the current names of the product and its plan.
func called(tx lyceum.Tx, t *lyceum.Transaction) (string, error) {
	plan, err := tx.PricingPlans.Get(tx, t.PricingPlanID)
	if err != nil {
		return "", err
	}
	of := plan.Product()
	if !of.Present {
		return plan.Name, nil
	}
	product, err := tx.FindProductName(of.Value)
	switch {
	case err != nil:
		return "", err
	case product == "" || plan.Name == "":
		return cmp.Or(product, plan.Name), nil
	case strings.Contains(plan.Name, product):
		return plan.Name, nil
	}
	return product + ": " + plan.Name, nil
}

// ReceiptDetail is a receipt or a credit note with what it refers to.
type ReceiptDetail struct {
	lyceum.Receipt

	SoldBy lyceum.Seller
	Number string            // with the prefix
	Of     NumberedReceipt   // the receipt of the payment, which may be this one
	Notes  []NumberedReceipt // all credit notes of the payment, oldest first
}

// NumberedReceipt identifies a receipt or a credit note.
type NumberedReceipt struct {
	ID     lyceum.ReceiptID
	Number string
}

// Receipts lists receipts and credit notes. Learners only get their own.
func (s *Service) Receipts(
	ctx context.Context, by lyceum.By, f lyceum.ReceiptFilter, p lyceum.Page,
) (l lyceum.Listing[ReceiptDetail], err error) {
	if by.Learner.Present {
		f.User = by.Learner
	}
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		found, err := v.Receipts.List(v, f, p)
		l = lyceum.Listing[ReceiptDetail]{Page: found.Page, Total: found.Total, More: found.More}
		if err == nil {
			l.Rows, err = receiptDetails(v, found.Rows)
		}
		return err
	})
	return l, err
}

// Receipt returns a receipt or a credit note. It fails with NotFound if it does not exist or a
// learner requests somebody else's.
func (s *Service) Receipt(ctx context.Context, by lyceum.By, id lyceum.ReceiptID) (d ReceiptDetail, err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		found, err := v.Receipts.Get(v, id)
		if err == nil && by.Learner.Present && by.Learner.Value != found.User {
			err = lyceum.Errorf(lyceum.NotFound, "there is no receipt %d", id)
		}
		if err != nil {
			return err
		}
		rows, err := receiptDetails(v, []lyceum.Receipt{found})
		if err == nil {
			d = rows[0]
		}
		return err
	})
	return d, err
}

func receiptDetails(v lyceum.View, rows []lyceum.Receipt) ([]ReceiptDetail, error) {
	details, of := make([]ReceiptDetail, len(rows)), []lyceum.TransactionID{}
	for i := range rows {
		details[i].Receipt = rows[i]
		of = append(of, rows[i].Transaction)
	}
	all, err := lyceum.All(v.Receipts, v, lyceum.ReceiptFilter{Transactions: of})
	if err != nil {
		return nil, err
	}
	sellers, err := sellersOf(v, all)
	if err != nil {
		return nil, err
	}
	for i := range details {
		d := &details[i]
		d.SoldBy = sellers[d.Seller]
		d.Number = numbered(&d.Receipt, sellers).Number
		for _, other := range slices.Backward(all) {
			switch {
			case other.Transaction != d.Transaction:
			case other.Refund.Present:
				d.Notes = append(d.Notes, numbered(&other, sellers))
			default:
				d.Of = numbered(&other, sellers)
			}
		}
	}
	return details, nil
}

func sellersOf(v lyceum.View, receipts []lyceum.Receipt) (map[lyceum.SellerID]lyceum.Seller, error) {
	var ids []lyceum.SellerID
	for i := range receipts {
		if !slices.Contains(ids, receipts[i].Seller) {
			ids = append(ids, receipts[i].Seller)
		}
	}
	return v.Sellers.Find(v, ids...)
}

func numbered(r *lyceum.Receipt, sellers map[lyceum.SellerID]lyceum.Seller) NumberedReceipt {
	return NumberedReceipt{r.ID, fmt.Sprintf("%s%d", sellers[r.Seller].Prefix, r.ID)}
}
