package lyceum

import "time"

// TransactionField is one field of a transaction. Responses, files and webhooks use the same
// names and formats.
type TransactionField struct {
	Name string
	// At returns a pointer to the field of a transaction.
	At func(*Transaction) any
	// Value returns what encoding/json writes for the field; nil is null.
	Value func(*Transaction) any
}

// TransactionFields returns every field of a transaction, in the order in which they are
// written. The caller must not modify the slice.
func TransactionFields() []TransactionField { return transactionFields }

var transactionFields = []TransactionField{
	plainField("id", func(t *Transaction) *TransactionID { return &t.ID }),
	plainField("user_id", func(t *Transaction) *UserID { return &t.UserID }),
	plainField("pricing_plan_id", func(t *Transaction) *PricingPlanID { return &t.PricingPlanID }),
	plainField("sale_id", func(t *Transaction) *SaleID { return &t.SaleID }),
	timeField("created_at", func(t *Transaction) *time.Time { return &t.CreatedAt }),
	timeField("purchased_at", func(t *Transaction) *time.Time { return &t.PurchasedAt }),
	plainField("charge", func(t *Transaction) *USDCents { return &t.Charge }),
	plainField("final_price", func(t *Transaction) *Minor { return &t.FinalPrice }),
	plainField("currency", func(t *Transaction) *Currency { return &t.Currency }),
	plainField("tax_charge", func(t *Transaction) *Minor { return &t.TaxCharge }),
	plainField("revenue", func(t *Transaction) *USDCents { return &t.Revenue }),
	{"status", func(t *Transaction) any { return &t.Paid }, paidOrNull},
	optField("has_chargeback", func(t *Transaction) *Opt[bool] { return &t.HasChargeback }),
	optField("chargeback_fee", func(t *Transaction) *Opt[Minor] { return &t.ChargebackFee }),
	optField("affiliate_id", func(t *Transaction) *Opt[AffiliateID] { return &t.AffiliateID }),
	plainField("affiliate_fees", func(t *Transaction) *Minor { return &t.AffiliateFees }),
	optField("author_id", func(t *Transaction) *Opt[AuthorID] { return &t.AuthorID }),
	plainField("author_fees", func(t *Transaction) *Minor { return &t.AuthorFees }),
	optField("coupon_id", func(t *Transaction) *Opt[CouponID] { return &t.CouponID }),
	optTimeField("refunded_at", func(t *Transaction) *Opt[time.Time] { return &t.RefundedAt }),
	plainField("amount_refunded", func(t *Transaction) *Minor { return &t.AmountRefunded }),
}

func plainField[V any](name string, at func(*Transaction) *V) TransactionField {
	return TransactionField{
		Name:  name,
		At:    func(t *Transaction) any { return at(t) },
		Value: func(t *Transaction) any { return *at(t) },
	}
}

func optField[V comparable](name string, at func(*Transaction) *Opt[V]) TransactionField {
	return TransactionField{
		Name: name,
		At:   func(t *Transaction) any { return at(t) },
		Value: func(t *Transaction) any {
			if o := at(t); o.Present {
				return o.Value
			}
			return nil
		},
	}
}

// timeField returns a field with a time, to the second and in UTC.
func timeField(name string, at func(*Transaction) *time.Time) TransactionField {
	f := plainField(name, at)
	f.Value = func(t *Transaction) any { return Second(*at(t)) }
	return f
}

func optTimeField(name string, at func(*Transaction) *Opt[time.Time]) TransactionField {
	f := optField(name, at)
	f.Value = func(t *Transaction) any {
		if o := at(t); o.Present {
			return Second(o.Value)
		}
		return nil
	}
	return f
}

func paidOrNull(t *Transaction) any {
	if t.Paid {
		return "paid"
	}
	return nil
}
