package apilyceum

import (
	"strconv"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func appendSale(b []byte, s *lyceum.Sale) []byte {
	b = wire.AppendNumber(b, `{"id":`, s.ID)
	b = wire.AppendMoment(b, `,"created_at":`, s.CreatedAt)
	b = wire.AppendOptNumber(b, `,"user_id":`, s.UserID)
	b = wire.AppendOptNumber(b, `,"pricing_plan_id":`, s.PricingPlanID)
	b = wire.AppendOptNumber(b, `,"coupon_id":`, s.CouponID)
	b = wire.AppendOptNumber(b, `,"affiliate_id":`, s.AffiliateID)
	b = wire.AppendOptNumber(b, `,"author_id":`, s.AuthorID)
	b = wire.AppendOptNumber(b, `,"final_price":`, s.FinalPrice)
	b = wire.AppendOptWord(b, `,"currency":`, s.Currency)
	b = append(append(b, `,"payment_method":"`...), s.PaidBy()...)
	b = wire.AppendString(append(b, `","payment_gateway":`...), s.PaymentGateway())
	b = strconv.AppendBool(append(b, `,"is_active":`...), !s.EndedAt.Present)
	b = wire.AppendOptMoment(b, `,"billing_anchor":`, s.BillingAnchor)
	b = wire.AppendOptMoment(b, `,"paid_until":`, s.PaidUntil)
	b = strconv.AppendBool(append(b, `,"is_paid_in_full":`...), s.PaidInFull)
	b = wire.AppendOptMoment(b, `,"ended_at":`, s.EndedAt)
	b = wire.AppendOptWord(b, `,"end_reason":`, s.EndReason)
	b = wire.AppendOptMoment(b, `,"charging_to_stop_since":`, s.ToStop)
	b = wire.AppendOptNumber(b, `,"replaces_sale_id":`, s.Replaces)
	b = wire.AppendOptNumber(b, `,"replaced_by_sale_id":`, s.ReplacedBy)
	return append(wire.AppendOptNumber(b, `,"next_pricing_plan_id":`, s.NextPlan), '}')
}

func appendEnrollment(b []byte, e *lyceum.Enrollment) []byte {
	b = wire.AppendNumber(b, `{"id":`, e.ID)
	b = wire.AppendNumber(b, `,"user_id":`, e.User)
	b = wire.AppendNumber(b, `,"course_id":`, e.Course)
	b = wire.AppendOptNumber(b, `,"sale_id":`, e.Sale)
	b = wire.AppendMoment(b, `,"enrolled_at":`, e.EnrolledAt)
	b = wire.AppendOptMoment(b, `,"expires_at":`, e.ExpiresAt)
	return append(wire.AppendOptMoment(b, `,"ended_at":`, e.EndedAt), '}')
}

func appendProgress(b []byte, p *lyceum.Progress) []byte {
	b = wire.AppendNumber(b, `{"id":`, p.ID)
	b = wire.AppendNumber(b, `,"user_id":`, p.User)
	b = wire.AppendNumber(b, `,"course_id":`, p.Course)
	b = wire.AppendNumber(b, `,"percent_complete":`, p.PercentComplete)
	b = wire.AppendOptMoment(b, `,"completed_at":`, p.CompletedAt)
	if c := &p.Certificate.Value; p.Certificate.Present {
		b = wire.AppendMoment(b, `,"certificate":{"issued_at":`, c.IssuedAt)
		b = wire.AppendNumber(b, `,"page_id":`, c.PageID)
		return append(wire.AppendString(append(b, `,"serial_number":`...), c.SerialNumber), "}}"...)
	}
	return append(b, `,"certificate":null}`...)
}

func appendLectureProgress(b []byte, p *lyceum.LectureProgress) []byte {
	b = wire.AppendNumber(b, `{"id":`, p.ID)
	b = wire.AppendNumber(b, `,"user_id":`, p.User)
	b = wire.AppendNumber(b, `,"course_id":`, p.Course)
	b = wire.AppendNumber(b, `,"lecture_id":`, p.Lecture)
	return append(wire.AppendMoment(b, `,"completed_at":`, p.CompletedAt), '}')
}

func truthOrNull(o lyceum.Opt[bool]) string {
	if !o.Present {
		return "null"
	}
	return strconv.FormatBool(o.Value)
}

func appendUser(b []byte, u *lyceum.TaggedUser) []byte {
	b = wire.AppendNumber(b, `{"id":`, u.ID)
	b = wire.AppendString(append(b, `,"email":`...), u.Email)
	b = wire.AppendOptWord(b, `,"name":`, u.Name)
	b = wire.AppendString(append(b, `,"role":`...), string(u.Role))
	b = wire.AppendOptWord(b, `,"src":`, u.Src)
	b = wire.AppendMoment(b, `,"created_at":`, u.CreatedAt)
	b = wire.AppendOptMoment(b, `,"disabled_at":`, u.DisabledAt)
	b = wire.AppendOptWord(b, `,"phone_number":`, u.PhoneNumber)
	b = append(append(b, `,"allow_marketing_emails":`...), truthOrNull(u.Marketing)...)
	b = append(b, `,"tags":[`...)
	for i, tag := range u.Tags {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(b, tag)
	}
	return append(b, "]}"...)
}
