package apiv2

import (
	"slices"
	"time"

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

func (f *Face) downloadEnrollments() []wire.Operation {
	const all = "/v2/products/digital-downloads/{digital_download_id}/enrollments"
	const each = all + "/{user_id}"
	user := byUser(lyceum.DownloadKind, "digital_download_id")
	return []wire.Operation{
		many(
			"listDigitalDownloadEnrollments", all, perPage, bindDownloadEnrollments, f.learning.Holdings,
			downloadEnrollment,
		),
		one("showDigitalDownloadEnrollment", wire.Get, each, user, f.learning.Holding, downloadEnrollment),
		one("putDigitalDownloadEnrollment", wire.Put, each, user, f.learning.Hold, downloadEnrollment),
		wire.None("deleteDigitalDownloadEnrollment", wire.Delete, each, user, f.learning.Unenroll),
	}
}

func (f *Face) collectionEnrollments() []wire.Operation {
	const all = "/v2/products/product-collections/{product_collection_id}/enrollments"
	const each = all + "/{user_id}"
	user := byUser(lyceum.CollectionKind, "product_collection_id")
	return []wire.Operation{
		many(
			"listProductCollectionEnrollments", all, perPage, bindCollectionEnrollments, f.learning.Holdings,
			collectionEnrollment,
		),
		one("showProductCollectionEnrollment", wire.Get, each, user, f.learning.Holding, collectionEnrollment),
		one("putProductCollectionEnrollment", wire.Put, each, user, f.learning.Hold, collectionEnrollment),
		one("updateProductCollectionEnrollment", wire.Patch, each, user, f.learning.Hold, collectionEnrollment),
		wire.None("deleteProductCollectionEnrollment", wire.Delete, each, user, f.learning.Unenroll),
	}
}

// byUser binds a user and a product of the given kind; id names its path parameter.
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

// bindDownloadEnrollments includes both ends of the period.
func bindDownloadEnrollments(in *wire.Input) lyceum.HoldingFilter {
	f := bindEnrollments(in, lyceum.DownloadKind, "digital_download_id",
		lyceum.HoldingActive, lyceum.HoldingExpired, lyceum.HoldingDisabled)
	wire.OneOf(in.Query("sort_by"), "enrolled_at")
	if !f.Enrolled.After.IsZero() {
		f.Enrolled.After = f.Enrolled.After.Add(-time.Second) // times are whole seconds
	}
	return f
}

// bindCollectionEnrollments accepts two statuses: an expired enrollment counts as
// disabled.
func bindCollectionEnrollments(in *wire.Input) lyceum.HoldingFilter {
	f := bindEnrollments(in, lyceum.CollectionKind, "product_collection_id",
		lyceum.HoldingActive, lyceum.HoldingDisabled)
	wire.OneOf(in.Query("sort_by"), "enrolled_at")
	f.User = wire.AnyInt[lyceum.UserID](in.Query("user_id"))
	if slices.Contains(f.Statuses, lyceum.HoldingDisabled) {
		f.Statuses = append(f.Statuses, lyceum.HoldingExpired)
	}
	return f
}

// bindEnrollments binds the parameters that the lists of enrollments share.
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

func downloadEnrollment(h learning.CurrentHolding) gen.DigitalDownloadEnrollment {
	return gen.DigitalDownloadEnrollment{
		User: reference(usersPath, h.User), Status: gen.DigitalDownloadEnrollmentStatus(h.Status),
		EnrolledAt: wire.Moment(h.StartsAt), ExpiresAt: wire.OptMoment(h.EndsAt),
		CreatedAt: wire.Moment(h.StartsAt), UpdatedAt: wire.Moment(h.ChangedAt),
	}
}

func collectionEnrollment(h learning.CurrentHolding) gen.ProductCollectionEnrollment {
	status := lyceum.HoldingActive
	if h.Status != lyceum.HoldingActive {
		status = lyceum.HoldingDisabled
	}
	return gen.ProductCollectionEnrollment{
		User: reference(usersPath, h.User), Status: gen.ProductCollectionEnrollmentStatus(status),
		EnrolledAt: wire.Moment(h.StartsAt), ExpiresAt: wire.OptMoment(h.EndsAt),
		CreatedAt: wire.Moment(h.StartsAt), UpdatedAt: wire.Moment(h.ChangedAt),
	}
}
