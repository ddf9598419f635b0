package sales

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// Left gives what can still be refunded of a transaction of the sale, or why
// nothing can.
func (d *SaleDetail) Left(t *lyceum.Transaction) (lyceum.Minor, error) {
	return refundable(t, lastStep(d.Movements, t.ID))
}

// lastStep gives the last step of a transaction's chargebacks among movements
// in order; empty without any.
func lastStep(movements []lyceum.Movement, id lyceum.TransactionID) lyceum.MovementKind {
	var last lyceum.MovementKind
	for i := range movements {
		if movements[i].TransactionID == id && movements[i].Kind != lyceum.Refunded {
			last = movements[i].Kind
		}
	}
	return last
}

// Outlook is what a change of a sale would do as things stand now.
type Outlook struct {
	Sale lyceum.Sale
	Plan lyceum.PricingPlan
	// EndsSale: the sale would end; Access is what that does to the access that
	// its learner has.
	EndsSale bool
	Access   lyceum.Consequence
}

// RefundOutlook is what a refund would do as things stand now.
type RefundOutlook struct {
	Outlook

	Transaction lyceum.Transaction
	Left        lyceum.Minor // before it
	Amount      lyceum.Minor
}

// ForeseeCancel tells what Cancel would do, and refuses what it would refuse.
func (s *Service) ForeseeCancel(ctx context.Context, by lyceum.By, id lyceum.SaleID) (Outlook, error) {
	v := s.store.In(ctx, by.School)
	sale, err := v.Sales.Get(v, id)
	if err != nil {
		return Outlook{}, err
	}
	o, policy, err := s.outlook(ctx, by, sale)
	if err != nil {
		return o, err
	}
	if err := recurring(&o.Sale, &o.Plan); err != nil {
		return o, err
	}
	o.EndsSale, o.Access = true, effect(s.clock(), &o.Sale, &o.Plan, policy.OnCancellation)
	return o, nil
}

// ForeseeRefund tells what Refund would do, and refuses what it would refuse.
// Transaction and Left are given with a refusal of the refund's fields, too.
func (s *Service) ForeseeRefund(ctx context.Context, by lyceum.By, r Refund) (RefundOutlook, error) {
	detail, err := s.ShowTransaction(ctx, by, r.Transaction)
	if err != nil {
		return RefundOutlook{}, err
	}
	o := RefundOutlook{Transaction: detail.Transaction}
	last := lastStep(detail.Movements, r.Transaction)
	if o.Left, err = refundable(&detail.Transaction, last); err != nil {
		return o, err
	}
	if o.Amount, err = r.amount(&detail.Transaction, last); err != nil {
		return o, err
	}
	if err := checkNotes(r.Reason, r.Reference); err != nil {
		return o, err
	}
	after := detail.Transaction
	after.AmountRefunded += o.Amount
	if detail.FullyRefunded() || !after.FullyRefunded() {
		return o, nil
	}
	return o, s.foreseeEnd(ctx, by, &o)
}

// foreseeEnd tells whether a full refund ends the sale, as endAfter does it.
func (s *Service) foreseeEnd(ctx context.Context, by lyceum.By, o *RefundOutlook) error {
	v := s.store.In(ctx, by.School)
	all, err := lyceum.All(v.Transactions, v, paymentsOf(o.Transaction.SaleID))
	if err != nil || all[len(all)-1].ID != o.Transaction.ID { // oldest first
		return err
	}
	sale, err := v.Sales.Get(v, o.Transaction.SaleID)
	if err != nil {
		return err
	}
	of, policy, err := s.outlook(ctx, by, sale)
	if err != nil {
		return err
	}
	if policy.OnRefund != lyceum.Keep && !sale.EndedAt.Present {
		of.EndsSale, of.Access = true, effect(s.clock(), &of.Sale, &of.Plan, policy.OnRefund)
	}
	o.Outlook = of
	return nil
}

// outlook gives a sale with its plan and the school's policy; nothing ends yet.
func (s *Service) outlook(
	ctx context.Context, by lyceum.By, sale lyceum.Sale,
) (Outlook, lyceum.SalePolicy, error) {
	o := Outlook{Sale: sale, Access: lyceum.Keep}
	v := s.store.In(ctx, by.School)
	plans, err := v.PricingPlans.Find(v, sale.PricingPlanID.Value)
	if err != nil {
		return o, lyceum.SalePolicy{}, err
	}
	if o.Plan, err = planAmong(plans, &sale); err != nil {
		return o, lyceum.SalePolicy{}, err
	}
	kept, err := s.store.In(ctx, by.School).GetSchool()
	return o, kept.Policy, err
}
