package apilyceum

import (
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func number[T ~int32 | ~int64](b []byte, key string, v T) []byte {
	return strconv.AppendInt(append(b, key...), int64(v), 10)
}

func optNumber[T ~int32 | ~int64](b []byte, key string, v lyceum.Opt[T]) []byte {
	if !v.Present {
		return append(append(b, key...), "null"...)
	}
	return number(b, key, v.Value)
}

func moment(b []byte, key string, at time.Time) []byte {
	return append(lyceum.AppendTime(append(append(b, key...), '"'), at), '"')
}

func optMoment(b []byte, key string, at lyceum.Opt[time.Time]) []byte {
	if !at.Present {
		return append(append(b, key...), "null"...)
	}
	return moment(b, key, at.Value)
}

func optWord[T ~string](b []byte, key string, v lyceum.Opt[T]) []byte {
	if !v.Present {
		return append(append(b, key...), "null"...)
	}
	return wire.AppendString(append(b, key...), string(v.Value))
}

func appendTransaction(b []byte, t *lyceum.Transaction) []byte {
	b = number(b, `{"id":`, t.ID)
	b = number(b, `,"user_id":`, t.UserID)
	b = number(b, `,"pricing_plan_id":`, t.PricingPlanID)
	b = number(b, `,"sale_id":`, t.SaleID)
	b = moment(b, `,"created_at":`, t.CreatedAt)
	b = moment(b, `,"purchased_at":`, t.PurchasedAt)
	b = number(b, `,"charge":`, t.Charge)
	b = number(b, `,"final_price":`, t.FinalPrice)
	b = append(append(b, `,"currency":"`...), t.Currency...)
	b = number(b, `","tax_charge":`, t.TaxCharge)
	b = number(b, `,"revenue":`, t.Revenue)
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
	b = optNumber(b, `,"chargeback_fee":`, t.ChargebackFee)
	b = optNumber(b, `,"affiliate_id":`, t.AffiliateID)
	b = number(b, `,"affiliate_fees":`, t.AffiliateFees)
	b = optNumber(b, `,"author_id":`, t.AuthorID)
	b = number(b, `,"author_fees":`, t.AuthorFees)
	b = optNumber(b, `,"coupon_id":`, t.CouponID)
	b = optMoment(b, `,"refunded_at":`, t.RefundedAt)
	return append(number(b, `,"amount_refunded":`, t.AmountRefunded), '}')
}

func appendSale(b []byte, s *lyceum.Sale) []byte {
	b = number(b, `{"id":`, s.ID)
	b = moment(b, `,"created_at":`, s.CreatedAt)
	b = optNumber(b, `,"user_id":`, s.UserID)
	b = optNumber(b, `,"pricing_plan_id":`, s.PricingPlanID)
	b = optNumber(b, `,"coupon_id":`, s.CouponID)
	b = optNumber(b, `,"affiliate_id":`, s.AffiliateID)
	b = optNumber(b, `,"author_id":`, s.AuthorID)
	b = optNumber(b, `,"final_price":`, s.FinalPrice)
	b = optWord(b, `,"currency":`, s.Currency)
	b = strconv.AppendBool(append(b, `,"is_active":`...), !s.EndedAt.Present)
	b = optMoment(b, `,"paid_until":`, s.PaidUntil)
	b = optMoment(b, `,"ended_at":`, s.EndedAt)
	return append(optWord(b, `,"end_reason":`, s.EndReason), '}')
}

func appendEnrollment(b []byte, e *lyceum.Enrollment) []byte {
	b = number(b, `{"id":`, e.ID)
	b = number(b, `,"user_id":`, e.User)
	b = number(b, `,"course_id":`, e.Course)
	b = optNumber(b, `,"sale_id":`, e.Sale)
	b = moment(b, `,"enrolled_at":`, e.EnrolledAt)
	b = optMoment(b, `,"expires_at":`, e.ExpiresAt)
	return append(optMoment(b, `,"ended_at":`, e.EndedAt), '}')
}

func appendProgress(b []byte, p *lyceum.Progress) []byte {
	b = number(b, `{"id":`, p.ID)
	b = number(b, `,"user_id":`, p.User)
	b = number(b, `,"course_id":`, p.Course)
	b = number(b, `,"percent_complete":`, p.PercentComplete)
	b = optMoment(b, `,"completed_at":`, p.CompletedAt)
	if c := &p.Certificate.Value; p.Certificate.Present {
		b = moment(b, `,"certificate":{"issued_at":`, c.IssuedAt)
		b = number(b, `,"page_id":`, c.PageID)
		return append(wire.AppendString(append(b, `,"serial_number":`...), c.SerialNumber), "}}"...)
	}
	return append(b, `,"certificate":null}`...)
}

func appendLectureProgress(b []byte, p *lyceum.LectureProgress) []byte {
	b = number(b, `{"id":`, p.ID)
	b = number(b, `,"user_id":`, p.User)
	b = number(b, `,"course_id":`, p.Course)
	b = number(b, `,"lecture_id":`, p.Lecture)
	return append(moment(b, `,"completed_at":`, p.CompletedAt), '}')
}

func appendUser(b []byte, u *lyceum.TaggedUser) []byte {
	b = number(b, `{"id":`, u.ID)
	b = wire.AppendString(append(b, `,"email":`...), u.Email)
	b = optWord(b, `,"name":`, u.Name)
	b = wire.AppendString(append(b, `,"role":`...), string(u.Role))
	b = optWord(b, `,"src":`, u.Src)
	b = moment(b, `,"created_at":`, u.CreatedAt)
	b = optMoment(b, `,"disabled_at":`, u.DisabledAt)
	b = append(b, `,"tags":[`...)
	for i, tag := range u.Tags {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(b, tag)
	}
	return append(b, "]}"...)
}
