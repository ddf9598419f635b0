package wire

import (
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// AppendNumber appends a member, given its name with what stands before and
// after it, such as `,"id":`.
func AppendNumber[T ~int32 | ~int64](b []byte, key string, v T) []byte {
	return strconv.AppendInt(append(b, key...), int64(v), 10)
}

// AppendOptNumber is AppendNumber with null for what is absent.
func AppendOptNumber[T ~int32 | ~int64](b []byte, key string, v lyceum.Opt[T]) []byte {
	if !v.Present {
		return append(append(b, key...), "null"...)
	}
	return AppendNumber(b, key, v.Value)
}

// AppendMoment appends a time to the second, in UTC.
func AppendMoment(b []byte, key string, at time.Time) []byte {
	return append(lyceum.AppendTime(append(append(b, key...), '"'), at), '"')
}

// AppendOptMoment is AppendMoment with null for what is absent.
func AppendOptMoment(b []byte, key string, at lyceum.Opt[time.Time]) []byte {
	if !at.Present {
		return append(append(b, key...), "null"...)
	}
	return AppendMoment(b, key, at.Value)
}

// AppendOptWord appends a text, or null for what is absent.
func AppendOptWord[T ~string](b []byte, key string, v lyceum.Opt[T]) []byte {
	if !v.Present {
		return append(append(b, key...), "null"...)
	}
	return AppendString(append(b, key...), string(v.Value))
}

// AppendTransaction appends a transaction as version 1 writes it (contract.md,
// "Transaction summary"). The amounts must fit the contract's int32.
func AppendTransaction(b []byte, t *lyceum.Transaction) []byte {
	b = AppendNumber(b, `{"id":`, t.ID)
	b = AppendNumber(b, `,"user_id":`, t.UserID)
	b = AppendNumber(b, `,"pricing_plan_id":`, t.PricingPlanID)
	b = AppendNumber(b, `,"sale_id":`, t.SaleID)
	b = AppendMoment(b, `,"created_at":`, t.CreatedAt)
	b = AppendMoment(b, `,"purchased_at":`, t.PurchasedAt)
	b = AppendNumber(b, `,"charge":`, t.Charge)
	b = AppendNumber(b, `,"final_price":`, t.FinalPrice)
	b = append(append(b, `,"currency":"`...), t.Currency...)
	b = AppendNumber(b, `","tax_charge":`, t.TaxCharge)
	b = AppendNumber(b, `,"revenue":`, t.Revenue)
	if t.Paid {
		b = append(b, `,"status":"paid","has_chargeback":`...)
	} else {
		b = append(b, `,"status":null,"has_chargeback":`...)
	}
	if t.HasChargeback.Present {
		b = strconv.AppendBool(b, t.HasChargeback.Value)
	} else {
		b = append(b, "null"...)
	}
	b = AppendOptNumber(b, `,"chargeback_fee":`, t.ChargebackFee)
	b = AppendOptNumber(b, `,"affiliate_id":`, t.AffiliateID)
	b = AppendNumber(b, `,"affiliate_fees":`, t.AffiliateFees)
	b = AppendOptNumber(b, `,"author_id":`, t.AuthorID)
	b = AppendNumber(b, `,"author_fees":`, t.AuthorFees)
	b = AppendOptNumber(b, `,"coupon_id":`, t.CouponID)
	b = AppendOptMoment(b, `,"refunded_at":`, t.RefundedAt)
	return append(AppendNumber(b, `,"amount_refunded":`, t.AmountRefunded), '}')
}
