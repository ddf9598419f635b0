package salesindex

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// row is a sale without what few sales have, which is in an extra. Times are seconds since the
// year 1, in 40 bits.
type row struct {
	id, user, plan, sale        int32
	affiliate, author, coupon   int32
	charge, price, tax, revenue int32
	affiliateFees, authorFees   int32
	createdLow, purchasedLow    uint32
	createdHigh, purchasedHigh  uint8
	currency                    uint8 // code, or otherCurrency: see the extra
	flags                       flags
}

// extra holds what few sales have: a refund, a fee, or a rare currency.
type extra struct {
	refundedAt int64 // seconds since the year 1
	refunded   int32
	fee        int32
	currency   uint16
	offset     uint8 // of the row in its page
	hasTime    bool
	hasFee     bool
}

type flags uint8

const (
	paid flags = 1 << iota
	chargebackKnown
	chargeback
	hasAffiliate
	hasAuthor
	hasCoupon
	feeZero // the chargeback fee is present and 0
	hasExtra
)

const otherCurrency = math.MaxUint8

// yearOne is the first second of the year 1 in Unix time.
const yearOne = -62135596800

// lastSecond is the last second of the year 9999, counted from the year 1.
const lastSecond = 253402300799 - yearOne

// key is the sort key of a sale in the list.
type key struct {
	at int64 // seconds since the year 1
	id int32
}

func (k key) compare(o key) int { return cmp.Or(cmp.Compare(k.at, o.at), cmp.Compare(k.id, o.id)) }

func keyOf(t *lyceum.Transaction) key { return key{t.CreatedAt.Unix() - yearOne, int32(t.ID)} }

func (r *row) key() key { return key{int64(r.createdHigh)<<32 | int64(r.createdLow), r.id} }

// currencies numbers the currencies of a school. It only grows.
type currencies []lyceum.Currency

func (c *currencies) code(name lyceum.Currency) (uint16, error) {
	if i := slices.Index(*c, name); i >= 0 {
		return uint16(i), nil
	}
	if len(*c) > math.MaxUint16 {
		return 0, fmt.Errorf("more than %d currencies", math.MaxUint16)
	}
	*c = append(*c, name)
	return uint16(len(*c) - 1), nil
}

// encode fails if a row cannot represent the sale.
func encode(t *lyceum.Transaction, names *currencies) (row, extra, error) {
	var r row
	var x extra
	for _, a := range [...]struct {
		name  string
		value int64
		to    *int32
	}{
		{"charge", int64(t.Charge), &r.charge},
		{"final price", int64(t.FinalPrice), &r.price},
		{"tax", int64(t.TaxCharge), &r.tax},
		{"revenue", int64(t.Revenue), &r.revenue},
		{"affiliate fees", int64(t.AffiliateFees), &r.affiliateFees},
		{"author fees", int64(t.AuthorFees), &r.authorFees},
		{"chargeback fee", int64(t.ChargebackFee.Value), &x.fee},
		{"refund", int64(t.AmountRefunded), &x.refunded},
	} {
		if a.value != int64(int32(a.value)) {
			return row{}, extra{}, fmt.Errorf("transaction %d: %s %d is beyond 32 bits", t.ID, a.name, a.value)
		}
		*a.to = int32(a.value)
	}
	if t.CreatedAt.Nanosecond()|t.PurchasedAt.Nanosecond()|t.RefundedAt.Value.Nanosecond() != 0 {
		return row{}, extra{}, fmt.Errorf("transaction %d: a time is not a whole second", t.ID)
	}
	created, purchased := t.CreatedAt.Unix()-yearOne, t.PurchasedAt.Unix()-yearOne
	if t.RefundedAt.Present {
		x.refundedAt, x.hasTime = t.RefundedAt.Value.Unix()-yearOne, true
	}
	for _, at := range [...]int64{created, purchased, x.refundedAt} {
		if at < 0 || at > lastSecond {
			return row{}, extra{}, fmt.Errorf("transaction %d: a time is outside the years 1 to 9999", t.ID)
		}
	}
	code, err := names.code(t.Currency)
	if err != nil {
		return row{}, extra{}, fmt.Errorf("transaction %d: %w", t.ID, err)
	}
	r.id, r.user, r.plan, r.sale = int32(t.ID), int32(t.UserID), int32(t.PricingPlanID), int32(t.SaleID)
	r.affiliate, r.author, r.coupon = int32(t.AffiliateID.Value), int32(t.AuthorID.Value), int32(t.CouponID.Value)
	r.createdLow, r.createdHigh = uint32(created), uint8(created>>32)
	r.purchasedLow, r.purchasedHigh = uint32(purchased), uint8(purchased>>32)
	r.currency = uint8(min(code, otherCurrency))
	x.currency, x.hasFee = code, t.ChargebackFee.Present
	r.flags = flagsOf(t)
	if x.hasTime || x.refunded != 0 || x.fee != 0 || r.currency == otherCurrency {
		r.flags |= hasExtra
	}
	return r, x, nil
}

func flagsOf(t *lyceum.Transaction) (f flags) {
	for _, c := range [...]struct {
		set bool
		f   flags
	}{
		{t.Paid, paid},
		{t.HasChargeback.Present, chargebackKnown},
		{t.HasChargeback == lyceum.Some(true), chargeback},
		{t.AffiliateID.Present, hasAffiliate},
		{t.AuthorID.Present, hasAuthor},
		{t.CouponID.Present, hasCoupon},
		{t.ChargebackFee == lyceum.Some(lyceum.Minor(0)), feeZero},
	} {
		if c.set {
			f |= c.f
		}
	}
	return f
}

func second(s int64) time.Time { return time.Unix(s+yearOne, 0).UTC() }

func opt[T ~int32](f, bit flags, v int32) lyceum.Opt[T] {
	return lyceum.Opt[T]{Value: T(v), Present: f&bit != 0}
}

// decode writes the sale to t; x is nil for a row without an extra.
func (r *row) decode(x *extra, names currencies, t *lyceum.Transaction) {
	*t = lyceum.Transaction{
		ID: lyceum.TransactionID(r.id), UserID: lyceum.UserID(r.user), PricingPlanID: lyceum.PricingPlanID(r.plan),
		SaleID: lyceum.SaleID(r.sale), CreatedAt: second(r.key().at),
		PurchasedAt: second(int64(r.purchasedHigh)<<32 | int64(r.purchasedLow)), Charge: lyceum.USDCents(r.charge),
		FinalPrice: lyceum.Minor(r.price), TaxCharge: lyceum.Minor(r.tax), Revenue: lyceum.USDCents(r.revenue),
		Paid: r.flags&paid != 0, HasChargeback: lyceum.Opt[bool]{
			Value:   r.flags&chargeback != 0,
			Present: r.flags&chargebackKnown != 0,
		},
		ChargebackFee: lyceum.Opt[lyceum.Minor]{Present: r.flags&feeZero != 0},
		AffiliateID:   opt[lyceum.AffiliateID](r.flags, hasAffiliate, r.affiliate),
		AffiliateFees: lyceum.Minor(r.affiliateFees), AuthorID: opt[lyceum.AuthorID](r.flags, hasAuthor, r.author),
		AuthorFees: lyceum.Minor(r.authorFees), CouponID: opt[lyceum.CouponID](r.flags, hasCoupon, r.coupon),
	}
	if x == nil {
		t.Currency = names[r.currency]
		return
	}
	t.Currency = names[x.currency]
	t.AmountRefunded = lyceum.Minor(x.refunded)
	t.ChargebackFee = lyceum.Opt[lyceum.Minor]{Value: lyceum.Minor(x.fee), Present: x.hasFee}
	if x.hasTime {
		t.RefundedAt = lyceum.Some(second(x.refundedAt))
	}
}

// refundedPrice is lyceum.Transaction.RefundedPrice; x is the row's extra.
func (r *row) refundedPrice(x *extra) int64 { return int64(min(x.refunded, max(r.price, 0))) }
