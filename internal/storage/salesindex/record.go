package salesindex

import (
	"errors"
	"fmt"
)

// Sizes in bytes of a row and of an extra in a snapshot.
const (
	recordBytes = 64
	extraBytes  = 20
)

// Flags of an extra in a snapshot.
const (
	extraTime = 1 << iota
	extraFee
)

func (r *row) append(b []byte) []byte {
	for _, v := range [...]uint32{
		uint32(r.id), uint32(r.user), uint32(r.plan), uint32(r.sale),
		uint32(r.affiliate), uint32(r.author), uint32(r.coupon),
		uint32(r.charge), uint32(r.price), uint32(r.tax), uint32(r.revenue),
		uint32(r.affiliateFees), uint32(r.authorFees), r.createdLow, r.purchasedLow,
	} {
		b = le.AppendUint32(b, v)
	}
	return append(b, r.createdHigh, r.purchasedHigh, r.currency, uint8(r.flags))
}

func (r *row) parse(b []byte) {
	_ = b[recordBytes-1]
	at := func(i int) int32 { return int32(le.Uint32(b[4*i:])) }
	*r = row{
		id: at(0), user: at(1), plan: at(2), sale: at(3),
		affiliate: at(4), author: at(5), coupon: at(6),
		charge: at(7), price: at(8), tax: at(9), revenue: at(10),
		affiliateFees: at(11), authorFees: at(12), createdLow: uint32(at(13)), purchasedLow: uint32(at(14)),
		createdHigh: b[60], purchasedHigh: b[61], currency: b[62], flags: flags(b[63]),
	}
}

func (x *extra) append(b []byte) []byte {
	var bits uint8
	if x.hasTime {
		bits |= extraTime
	}
	if x.hasFee {
		bits |= extraFee
	}
	b = le.AppendUint64(b, uint64(x.refundedAt))
	b = le.AppendUint32(b, uint32(x.refunded))
	b = le.AppendUint32(b, uint32(x.fee))
	b = le.AppendUint16(b, x.currency)
	return append(b, bits, 0)
}

// parse keeps the offset. It returns false if b has unknown flags.
func (x *extra) parse(b []byte) bool {
	_ = b[extraBytes-1]
	bits := b[18]
	*x = extra{
		refundedAt: int64(le.Uint64(b)), refunded: int32(le.Uint32(b[8:])), fee: int32(le.Uint32(b[12:])),
		currency: le.Uint16(b[16:]), offset: x.offset, hasTime: bits&extraTime != 0, hasFee: bits&extraFee != 0,
	}
	return bits <= extraTime|extraFee && b[19] == 0
}

// check rejects rows that encode does not produce and that readers could not handle.
func (r *row) check(x *extra, names int) error {
	code := uint16(r.currency)
	refunded := int64(0)
	if x != nil {
		code, refunded = x.currency, x.refundedAt
	}
	for _, at := range [...]int64{r.key().at, int64(r.purchasedHigh)<<32 | int64(r.purchasedLow), refunded} {
		if at < 0 || at > lastSecond {
			return errors.New("a time is outside the years 1 to 9999")
		}
	}
	if int(code) >= names {
		return fmt.Errorf("currency %d is not one of %d", code, names)
	}
	if uint8(min(code, otherCurrency)) != r.currency || x == nil && r.currency == otherCurrency {
		return fmt.Errorf("currency %d and extra do not fit", r.currency)
	}
	return nil
}
