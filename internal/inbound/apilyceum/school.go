package apilyceum

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func bindNothing(*wire.Input) struct{} { return struct{}{} }

// ShowSchool serves GET /lyceum/v1/school.
func (f *Face) ShowSchool(ctx context.Context, who wire.Principal, _ struct{}) (wire.JSON, error) {
	s, err := f.School(ctx, who.Caller.School)
	return wire.JSON{Value: gen.OneSchool{School: schoolOf(&s)}}, err
}

func schoolOf(s *lyceum.School) gen.School {
	return gen.School{
		ID: int32(s.ID), Name: s.Name, CreatedAt: wire.Moment(s.CreatedAt), OnRefund: gen.SchoolOnRefund(s.Policy.OnRefund), OnChargeback: gen.SchoolOnChargeback(s.Policy.OnChargeback),
		OnCancellation: gen.SchoolOnCancellation(s.Policy.OnCancellation), AbandonAfterMinutes: int32(s.Policy.AbandonAfter / time.Minute),
		TimeZone: string(s.TimeZone),
	}
}

// schoolChange is what updateSchool is asked.
type schoolChange struct {
	onRefund, onChargeback, onCancellation lyceum.Opt[string]
	minutes                                lyceum.Opt[int32]
	zone                                   lyceum.Opt[lyceum.TimeZone]
}

func bindSchoolChange(in *wire.Input) schoolChange {
	in.ReadJSON("on_refund", "on_chargeback", "on_cancellation", "abandon_after_minutes", "time_zone")
	const unenroll, periodEnd, keep = string(lyceum.Unenroll), string(lyceum.AtPeriodEnd), string(lyceum.Keep)
	return schoolChange{
		in.Choice("on_refund", unenroll, keep), in.Choice("on_chargeback", unenroll, keep), in.Choice("on_cancellation", unenroll, periodEnd, keep),
		in.Int("abandon_after_minutes", 1, 129_600), in.TimeZone("time_zone"),
	}
}

// UpdateSchool serves PATCH /lyceum/v1/school.
func (f *Face) UpdateSchool(ctx context.Context, who wire.Principal, q schoolChange) (wire.JSON, error) {
	s, err := f.School(ctx, who.Caller.School)
	if err != nil {
		return wire.JSON{}, err
	}
	for _, part := range []struct {
		said lyceum.Opt[string]
		to   *lyceum.Consequence
	}{{q.onRefund, &s.Policy.OnRefund}, {q.onChargeback, &s.Policy.OnChargeback}, {q.onCancellation, &s.Policy.OnCancellation}} {
		if part.said.Present {
			*part.to = lyceum.Consequence(part.said.Value)
		}
	}
	if q.minutes.Present {
		s.Policy.AbandonAfter = time.Duration(q.minutes.Value) * time.Minute
	}
	if q.zone.Present {
		s.TimeZone = q.zone.Value
	}
	if err := f.Sales.Configure(ctx, lyceum.By{School: s.ID, Actor: who.Caller.Actor()}, s.Policy, s.TimeZone); err != nil {
		return wire.JSON{}, err
	}
	return wire.JSON{Value: gen.OneSchool{School: schoolOf(&s)}}, nil
}

// userTags is what setUserTags is asked.
type userTags struct {
	user lyceum.UserID
	tags []string
}

func bindUserTags(in *wire.Input) userTags {
	in.ReadJSON("tags")
	return userTags{lyceum.UserID(in.PathID("user_id")), in.Texts("tags")}
}

// SetUserTags serves PUT /lyceum/v1/users/{user_id}/tags.
func (f *Face) SetUserTags(ctx context.Context, who wire.Principal, q userTags) (wire.JSON, error) {
	d, err := f.People.SetTags(ctx, lyceum.By{School: who.Caller.School, Actor: who.Caller.Actor()}, q.user, q.tags)
	return wire.JSON{Value: gen.UserTags{Tags: append([]string{}, d.Tags...)}}, err
}

func bindUser(in *wire.Input) lyceum.UserID {
	in.ReadNothing()
	return lyceum.UserID(in.PathID("user_id"))
}

func oneUserState(u lyceum.User) any {
	return gen.OneUserState{User: gen.UserState{ID: int32(u.ID), DisabledAt: wire.OptMoment(u.DisabledAt)}}
}
