package apiv2

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

const usersPath = "/v2/users"

func (f *Face) courseEnrollments() []wire.Operation {
	const all, each = coursePath + "/enrollments", coursePath + "/enrollments/{user_id}"
	user := byUser(lyceum.CourseKind, "course_id")
	return []wire.Operation{
		many("listCourseEnrollments", all, perPage, bindCourseEnrollments, f.learning.Holdings, courseEnrollment),
		many("listUserCourseEnrollments", each, perPage, user, f.learning.OpenHoldings, courseEnrollment),
		one("putCourseEnrollment", wire.Put, each, user, f.learning.Hold, courseEnrollment),
		one("updateCourseEnrollment", wire.Patch, each, user, f.learning.Hold, courseEnrollment),
		wire.None("deleteCourseEnrollment", wire.Delete, each, user, f.learning.Unenroll),
	}
}

// byUser binds a user and a product of a kind, whose id has a name in the path.
func byUser(kind lyceum.ProductKind, id string) func(*wire.Input) learning.UserProduct {
	return func(in *wire.Input) learning.UserProduct {
		return learning.UserProduct{
			Product: lyceum.Product{Kind: kind, ID: wire.PathID[int32](in, id)},
			User:    wire.PathID[lyceum.UserID](in, "user_id"),
		}
	}
}

func bindCourseEnrollments(in *wire.Input) lyceum.HoldingFilter {
	f := bindEnrollments(in, lyceum.CourseKind, "course_id",
		lyceum.HoldingActive, lyceum.HoldingCompleted, lyceum.HoldingExpired, lyceum.HoldingDisabled)
	f.User = wire.AnyInt[lyceum.UserID](in.Query("user_id"))
	f.ByCompletion = wire.OneOf(in.Query("sort_by"), "enrolled_at", "completed_at").Value == "completed_at"
	return f
}

// bindEnrollments binds what the lists of enrollments have in common.
func bindEnrollments(
	in *wire.Input, kind lyceum.ProductKind, id string, statuses ...lyceum.HoldingStatus,
) lyceum.HoldingFilter {
	f := lyceum.HoldingFilter{
		Product:  lyceum.Product{Kind: kind, ID: wire.PathID[int32](in, id)},
		Enrolled: wire.Period(in.Query("enrolled_after"), in.Query("enrolled_before")),
	}
	if status := wire.OneOf(in.Query("status"), statuses...); status.Present {
		f.Statuses = []lyceum.HoldingStatus{status.Value}
	}
	if wire.OneOf(in.Query("sort_direction"), "asc", "desc").Value == "asc" {
		f.Order = lyceum.OldestFirst
	}
	return f
}

func courseEnrollment(h learning.CurrentHolding) gen.CourseEnrollment {
	return gen.CourseEnrollment{
		User: reference(usersPath, h.User), Sale: optionalReference(purchasesPath, h.Sale),
		Status:     gen.CourseEnrollmentStatus(h.Status),
		EnrolledAt: wire.Moment(h.StartsAt), ExpiresAt: wire.OptMoment(h.EndsAt),
		CreatedAt: wire.Moment(h.StartsAt), UpdatedAt: wire.Moment(h.ChangedAt),
		Progress: gen.EnrollmentProgress{
			PercentComplete: h.PercentComplete, CompletedAt: wire.OptMoment(h.CompletedAt),
		},
	}
}
