package apilyceum

import (
	"context"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func (f *Face) school() []wire.Operation {
	const path = "/lyceum/v1/school"
	return []wire.Operation{
		one("showSchool", wire.Get, path, wire.Anything, f.showSchool, "school", school),
		previewed(
			one("updateSchool", wire.Patch, path, bindSchoolChange, f.updateSchool, "school", school),
			bindSchoolChange, f.previewSchool, accessPreview,
		),
	}
}

func (f *Face) showSchool(ctx context.Context, by lyceum.By, _ struct{}) (lyceum.School, error) {
	return f.School(ctx, by.School)
}

func school(s lyceum.School) gen.School {
	return gen.School{
		ID: int32(s.ID), Name: s.Name, CreatedAt: wire.Moment(s.CreatedAt),
		OnRefund:            gen.SchoolOnRefund(s.Policy.OnRefund),
		OnChargeback:        gen.SchoolOnChargeback(s.Policy.OnChargeback),
		OnCancellation:      gen.SchoolOnCancellation(s.Policy.OnCancellation),
		OnLapse:             gen.SchoolOnLapse(s.Policy.OnLapse),
		GraceDays:           s.Policy.GraceDays,
		AbandonAfterMinutes: int32(s.Policy.AbandonAfter / time.Minute),
		TimeZone:            string(s.TimeZone),
		ReviewComments:      s.ReviewsComments,
		KeepEvents:          s.Retention.Events,
		KeepAttempts:        s.Retention.Attempts,
		KeepAnswers:         s.Retention.Answers,
		KeepSessions:        s.Retention.Sessions,
		KeepLinks:           s.Retention.Links,
		KeepEmails:          s.Retention.Emails,
	}
}

// maxAbandonAfter is the maximum time after which an order counts as abandoned, in
// minutes: 90 days.
const maxAbandonAfter = 129_600

// schoolChange holds the parameters of updateSchool.
type schoolChange struct {
	name                                   lyceum.Opt[string]
	onRefund, onChargeback, onCancellation lyceum.Opt[lyceum.Consequence]
	onLapse                                lyceum.Opt[lyceum.Consequence]
	grace                                  lyceum.Opt[int32] // days
	minutes                                lyceum.Opt[int32]
	zone                                   lyceum.Opt[lyceum.TimeZone]
	review                                 lyceum.Opt[bool]
	keep                                   keptDays
}

// keptDays are retention periods, in days.
type keptDays struct{ events, attempts, responses, sessions, links, emails lyceum.Opt[int32] }

func bindKeptDays(in *wire.Input) keptDays {
	return keptDays{
		wire.Int[int32](in.Body("keep_events"), 0, lyceum.MaxRetention),
		wire.Int[int32](in.Body("keep_attempts"), 0, lyceum.MaxRetention),
		wire.Int[int32](in.Body("keep_answers"), lyceum.MinAnswerDays, lyceum.MaxAnswerDays),
		wire.Int[int32](in.Body("keep_sessions"), 1, lyceum.MaxRetention),
		wire.Int[int32](in.Body("keep_links"), 1, lyceum.MaxRetention),
		wire.Int[int32](in.Body("keep_emails"), 1, lyceum.MaxRetention),
	}
}

func (d *keptDays) of(r lyceum.Retention) lyceum.Retention {
	return lyceum.Retention{
		Events: d.events.Else(r.Events), Attempts: d.attempts.Else(r.Attempts), Answers: d.responses.Else(r.Answers),
		Sessions: d.sessions.Else(r.Sessions), Links: d.links.Else(r.Links), Emails: d.emails.Else(r.Emails),
	}
}

func bindSchoolChange(in *wire.Input) schoolChange {
	return schoolChange{
		in.Body("name").Text(1, lyceum.MaxSchoolName),
		wire.OneOf(in.Body("on_refund"), lyceum.Unenroll, lyceum.Keep),
		wire.OneOf(in.Body("on_chargeback"), lyceum.Unenroll, lyceum.Keep),
		wire.OneOf(in.Body("on_cancellation"), lyceum.Unenroll, lyceum.AtPeriodEnd, lyceum.Keep),
		wire.OneOf(in.Body("on_lapse"), lyceum.EndSale, lyceum.Keep),
		wire.Int[int32](in.Body("grace_days"), 0, lyceum.MaxGraceDays),
		wire.Int[int32](in.Body("abandon_after_minutes"), 1, maxAbandonAfter),
		in.Body("time_zone").TimeZone(),
		in.Body("review_comments").Bool(),
		bindKeptDays(in),
	}
}

func (f *Face) updateSchool(ctx context.Context, by lyceum.By, q schoolChange) (lyceum.School, error) {
	return f.Sales.Configure(ctx, by, q.apply)
}

// previewSchool lists the users whose access would end immediately.
func (f *Face) previewSchool(
	ctx context.Context, by lyceum.By, q schoolChange, p lyceum.Page,
) (lyceum.AccessPreview, error) {
	s, err := f.School(ctx, by.School)
	if err != nil {
		return lyceum.AccessPreview{}, err
	}
	q.apply(&s)
	if err := s.Check(); err != nil {
		return lyceum.AccessPreview{}, err
	}
	return f.Sales.PreviewLapse(ctx, by, s.Policy, p)
}

// apply changes the fields that the request has.
func (q *schoolChange) apply(s *lyceum.School) {
	s.Name = strings.TrimSpace(q.name.Else(s.Name))
	s.Policy.OnRefund = q.onRefund.Else(s.Policy.OnRefund)
	s.Policy.OnChargeback = q.onChargeback.Else(s.Policy.OnChargeback)
	s.Policy.OnCancellation = q.onCancellation.Else(s.Policy.OnCancellation)
	s.Policy.OnLapse = q.onLapse.Else(s.Policy.OnLapse)
	s.Policy.GraceDays = q.grace.Else(s.Policy.GraceDays)
	if q.minutes.Present {
		s.Policy.AbandonAfter = time.Duration(q.minutes.Value) * time.Minute
	}
	s.TimeZone = q.zone.Else(s.TimeZone)
	s.ReviewsComments = q.review.Else(s.ReviewsComments)
	s.Retention = q.keep.of(s.Retention)
}
