package wire

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// AppendNumber appends a JSON member. The key is its name together with the text around it,
// such as `,"id":`.
func AppendNumber[T ~int32 | ~int64](b []byte, key string, v T) []byte {
	return appendInt(append(b, key...), int64(v))
}

// digits holds all two-digit numbers from 00 to 99 in order.
const digits = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849" +
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// appendInt is a strconv.AppendInt that is faster for the usual ids and amounts: it writes the
// digits directly into their place.
func appendInt(b []byte, v int64) []byte {
	if v < 0 || v > math.MaxUint32 {
		return strconv.AppendInt(b, v, 10)
	}
	u := uint32(v)
	n := 1
	for power := uint64(10); uint64(u) >= power; power *= 10 {
		n++
	}
	b = slices.Grow(b, n)[:len(b)+n]
	i := len(b)
	for ; u >= 100; u /= 100 {
		i -= 2
		two := digits[u%100*2:]
		b[i], b[i+1] = two[0], two[1]
	}
	if u >= 10 {
		b[i-2], b[i-1] = digits[u*2], digits[u*2+1]
	} else {
		b[i-1] = '0' + byte(u)
	}
	return b
}

// AppendOptNumber is AppendNumber, with null for an absent value.
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

// AppendOptMoment is AppendMoment, with null for an absent value.
func AppendOptMoment(b []byte, key string, at lyceum.Opt[time.Time]) []byte {
	if !at.Present {
		return append(append(b, key...), "null"...)
	}
	return AppendMoment(b, key, at.Value)
}

// AppendOptWord appends a string, or null for an absent value.
func AppendOptWord[T ~string](b []byte, key string, v lyceum.Opt[T]) []byte {
	if !v.Present {
		return append(append(b, key...), "null"...)
	}
	return AppendString(append(b, key...), string(v.Value))
}

// AppendTransaction appends a transaction as version 1 writes it (contract/v1.yaml,
// TransactionSummary). The amounts must fit the contract's int32. Fields that most transactions
// lack are appended in one piece.
func AppendTransaction(b []byte, t *lyceum.Transaction) []byte {
	b = AppendNumber(b, `{"id":`, t.ID)
	b = AppendNumber(b, `,"user_id":`, t.UserID)
	b = AppendNumber(b, `,"pricing_plan_id":`, t.PricingPlanID)
	b = AppendNumber(b, `,"sale_id":`, t.SaleID)
	b = AppendMoment(b, `,"created_at":`, t.CreatedAt)
	if t.PurchasedAt.Equal(t.CreatedAt) {
		const quoted = len(`"2006-01-02T15:04:05Z"`)
		b = append(append(b, `,"purchased_at":`...), b[len(b)-quoted:]...)
	} else {
		b = AppendMoment(b, `,"purchased_at":`, t.PurchasedAt)
	}
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
	if t.AffiliateID.Present || t.AffiliateFees != 0 {
		b = AppendOptNumber(b, `,"affiliate_id":`, t.AffiliateID)
		b = AppendNumber(b, `,"affiliate_fees":`, t.AffiliateFees)
	} else {
		b = append(b, `,"affiliate_id":null,"affiliate_fees":0`...)
	}
	if t.AuthorID.Present || t.AuthorFees != 0 {
		b = AppendOptNumber(b, `,"author_id":`, t.AuthorID)
		b = AppendNumber(b, `,"author_fees":`, t.AuthorFees)
	} else {
		b = append(b, `,"author_id":null,"author_fees":0`...)
	}
	if !t.CouponID.Present && !t.RefundedAt.Present && t.AmountRefunded == 0 {
		return append(b, `,"coupon_id":null,"refunded_at":null,"amount_refunded":0}`...)
	}
	b = AppendOptNumber(b, `,"coupon_id":`, t.CouponID)
	b = AppendOptMoment(b, `,"refunded_at":`, t.RefundedAt)
	return append(AppendNumber(b, `,"amount_refunded":`, t.AmountRefunded), '}')
}
