package demo

import (
	"slices"

	"github.com/lyceum-school/lyceum"
)

// seller returns the seller of the school from its beginning.
func (s *School) seller() lyceum.Seller {
	return lyceum.Seller{
		ID: 1, Name: s.School.Name + " Ltd", Address: "4 Fern Lane\nBridport DT6 3QJ\nUnited Kingdom",
		TaxNumber: "GB 000 0000 00", Prefix: "FS-", Since: s.School.CreatedAt,
	}
}

// receipts issues receipts for the payments of the learner who has a password. Those of
// others were issued elsewhere.
func (s *School) receipts(tx lyceum.Tx, paid []lyceum.Transaction) error {
	for i := range paid {
		t := &paid[i]
		if t.UserID != learnerID || !t.Paid || t.FinalPrice+t.TaxCharge == 0 || t.RefundedAt.Present {
			continue
		}
		id, err := tx.Receipts.NextID(tx)
		if err != nil {
			return err
		}
		err = tx.Receipts.Insert(tx, lyceum.Receipt{
			ID: id, Transaction: t.ID, User: t.UserID, Seller: 1, IssuedAt: t.PurchasedAt, PaidAt: t.PurchasedAt,
			Item: s.called(t.PricingPlanID), Currency: t.Currency, Price: t.FinalPrice, Tax: t.TaxCharge,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// called returns the names of a plan and its course.
func (s *School) called(id lyceum.PricingPlanID) string {
	i := slices.IndexFunc(s.PricingPlans, func(p lyceum.PricingPlan) bool { return p.ID == id })
	plan := &s.PricingPlans[i]
	for j := range s.Courses {
		if plan.CourseID == lyceum.Some(s.Courses[j].ID) {
			return s.Courses[j].Name + ": " + plan.Name
		}
	}
	return plan.Name
}
