package main

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// importer imports and exports the rows of a school.
type importer struct {
	p        *program
	store    lyceum.Store
	by       lyceum.By
	learning *learning.Service
	people   *people.Service
	events   *events.Service
	sales    *sales.Service
	missing  lyceum.Missing
	filter   lyceum.TransactionFilter
	order    lyceum.Order

	kept   lyceum.FileStore // of uploaded files; nil if there is none
	beside string           // folder of files alongside the rows; "" for none
}

func newImporter(p *program, store lyceum.Store, school lyceum.SchoolID) *importer {
	lessons, users := learning.New(store, p.clock), people.New(store, p.clock)
	return &importer{
		p: p, store: store, by: lyceum.By{School: school, Actor: importActor}, learning: lessons, people: users,
		events: events.New(store, p.clock, events.Options{}), sales: sales.New(store, p.clock, lessons, users),
	}
}

func (i *importer) view() lyceum.View { return i.store.In(i.p.ctx, i.by.School) }

// rowKind is a kind of rows that can be imported and exported.
type rowKind struct {
	name string
	take func(*importer, *importCommand) error
	give func(*importer, *exportCommand, io.Writer) error
}

func rowsOf[T any](
	kind intake.Kind[T],
	sink func(*importer) intake.Sink[T],
	each func(*importer, func(*T) error) error,
) rowKind {
	return rowKind{
		name: kind.String(),
		take: func(i *importer, c *importCommand) error { return importRows(i.p, c, kind, sink(i)) },
		give: func(i *importer, c *exportCommand, out io.Writer) error {
			return exportRows(i.p, c, kind, out, func(visit func(*T) error) error { return each(i, visit) })
		},
	}
}

// rowKinds are in the order in which a whole school is imported: rows come before those that
// refer to them.
var rowKinds = []rowKind{
	rowsOf(intake.Users(), func(i *importer) intake.Sink[lyceum.User] { return i.people.Import(i.by) },
		func(i *importer, visit func(*lyceum.User) error) error {
			return i.people.Each(i.p.ctx, i.by, visit)
		}),
	rowsOf(intake.Tags(), func(i *importer) intake.Sink[lyceum.UserTags] {
		return i.people.ImportTags(i.by)
	}, func(i *importer, visit func(*lyceum.UserTags) error) error {
		return i.people.EachTags(i.p.ctx, i.by, visit)
	}),
	rowsOf(intake.Uploads(), func(i *importer) intake.Sink[lyceum.UploadRow] {
		return i.learning.KeepFiles(i.kept).ImportUploads(i.by, filesBeside(i.beside))
	}, func(i *importer, visit func(*lyceum.UploadRow) error) error {
		return i.learning.EachUpload(i.p.ctx, i.by, i.copyBeside(visit))
	}),
	rowsOf(intake.Authors(), func(i *importer) intake.Sink[lyceum.AuthorProfile] {
		return i.learning.ImportAuthors(i.by)
	}, func(i *importer, visit func(*lyceum.AuthorProfile) error) error {
		v := i.view()
		return v.Authors.Each(v, lyceum.PartnerFilter{}, visit)
	}),
	rowsOf(intake.Affiliates(), func(i *importer) intake.Sink[lyceum.AffiliatePartner] {
		return i.learning.ImportAffiliates(i.by)
	}, func(i *importer, visit func(*lyceum.AffiliatePartner) error) error {
		v := i.view()
		return v.Affiliates.Each(v, lyceum.PartnerFilter{}, visit)
	}),
	rowsOf(intake.Courses(), func(i *importer) intake.Sink[lyceum.CourseRow] {
		return i.learning.ImportCourses(i.by)
	}, func(i *importer, visit func(*lyceum.CourseRow) error) error {
		return i.learning.EachCourse(i.p.ctx, i.by, func(c *lyceum.Course) error {
			return visit(&lyceum.CourseRow{Course: *c, Listed: lyceum.Some(c.IsListed), Ordered: lyceum.Some(c.LectureOrder)})
		})
	}),
	rowsOf(intake.DigitalDownloads(), func(i *importer) intake.Sink[lyceum.DigitalDownload] {
		return i.learning.DigitalDownloads().Import(i.by)
	}, func(i *importer, visit func(*lyceum.DigitalDownload) error) error {
		v := i.view()
		return v.DigitalDownloads.Each(v, lyceum.DigitalDownloadFilter{}, visit)
	}),
	rowsOf(intake.DownloadAttachments(), func(i *importer) intake.Sink[lyceum.DownloadAttachment] {
		return i.learning.ImportDownloadAttachments(i.by)
	}, func(i *importer, visit func(*lyceum.DownloadAttachment) error) error {
		v := i.view()
		return v.DownloadAttachments.Each(v, lyceum.DownloadAttachmentFilter{}, visit)
	}),
	rowsOf(intake.Coaching(), func(i *importer) intake.Sink[lyceum.Coaching] {
		return i.learning.Coaching().Import(i.by)
	}, func(i *importer, visit func(*lyceum.Coaching) error) error {
		v := i.view()
		return v.Coaching.Each(v, lyceum.ProductFilter{}, visit)
	}),
	rowsOf(intake.ProductCollections(), func(i *importer) intake.Sink[lyceum.ProductCollection] {
		return i.learning.ProductCollections().Import(i.by)
	}, func(i *importer, visit func(*lyceum.ProductCollection) error) error {
		v := i.view()
		return v.ProductCollections.Each(v, lyceum.ProductFilter{}, visit)
	}),
	rowsOf(intake.CollectionProducts(), func(i *importer) intake.Sink[lyceum.CollectionProduct] {
		return i.learning.CollectionProducts().Import(i.by)
	}, func(i *importer, visit func(*lyceum.CollectionProduct) error) error {
		v := i.view()
		return v.CollectionProducts.Each(v, lyceum.InclusionFilter[lyceum.ProductCollectionID]{}, visit)
	}),
	rowsOf(intake.Memberships(), func(i *importer) intake.Sink[lyceum.Membership] {
		return i.learning.Memberships().Import(i.by)
	}, func(i *importer, visit func(*lyceum.Membership) error) error {
		v := i.view()
		return v.Memberships.Each(v, lyceum.ProductFilter{}, visit)
	}),
	rowsOf(intake.MembershipTiers(), func(i *importer) intake.Sink[lyceum.MembershipTier] {
		return i.learning.MembershipTiers().Import(i.by)
	}, func(i *importer, visit func(*lyceum.MembershipTier) error) error {
		v := i.view()
		return v.MembershipTiers.Each(v, lyceum.MembershipTierFilter{}, visit)
	}),
	rowsOf(intake.TierProducts(), func(i *importer) intake.Sink[lyceum.TierProduct] {
		return i.learning.TierProducts().Import(i.by)
	}, func(i *importer, visit func(*lyceum.TierProduct) error) error {
		v := i.view()
		return v.TierProducts.Each(v, lyceum.InclusionFilter[lyceum.MembershipTierID]{}, visit)
	}),
	rowsOf(intake.LectureSections(), func(i *importer) intake.Sink[lyceum.LectureSection] {
		return i.learning.ImportLectureSections(i.by)
	}, func(i *importer, visit func(*lyceum.LectureSection) error) error {
		v := i.view()
		return v.LectureSections.Each(v, lyceum.LectureSectionFilter{}, visit)
	}),
	rowsOf(intake.Lectures(), func(i *importer) intake.Sink[lyceum.Lecture] {
		return i.learning.ImportLectures(i.by)
	}, func(i *importer, visit func(*lyceum.Lecture) error) error {
		v := i.view()
		return v.Lectures.Each(v, lyceum.LectureFilter{}, visit)
	}),
	rowsOf(intake.Attachments(), func(i *importer) intake.Sink[lyceum.Attachment] {
		return i.learning.ImportAttachments(i.by)
	}, func(i *importer, visit func(*lyceum.Attachment) error) error {
		v := i.view()
		return v.Attachments.Each(v, lyceum.AttachmentFilter{}, visit)
	}),
	rowsOf(intake.PricingPlans(), func(i *importer) intake.Sink[lyceum.PricingPlan] {
		return i.learning.ImportPricingPlans(i.by, i.missing)
	}, func(i *importer, visit func(*lyceum.PricingPlan) error) error {
		return i.learning.EachPricingPlan(i.p.ctx, i.by, visit)
	}),
	rowsOf(intake.Coupons(), func(i *importer) intake.Sink[lyceum.Coupon] {
		return i.learning.ImportCoupons(i.by)
	}, func(i *importer, visit func(*lyceum.Coupon) error) error {
		v := i.view()
		return v.Coupons.Each(v, lyceum.CouponFilter{}, visit)
	}),
	rowsOf(intake.CourseProgress(), func(i *importer) intake.Sink[lyceum.Progress] {
		return i.learning.ImportProgress(i.by)
	}, func(i *importer, visit func(*lyceum.Progress) error) error {
		v := i.view()
		return v.Progress.Each(v, lyceum.ProgressFilter{}, visit)
	}),
	rowsOf(intake.Enrollments(), func(i *importer) intake.Sink[lyceum.Enrollment] {
		return i.learning.ImportEnrollments(i.by)
	}, func(i *importer, visit func(*lyceum.Enrollment) error) error {
		v := i.view()
		return v.Enrollments.Each(v, lyceum.EnrollmentFilter{}, visit)
	}),
	rowsOf(intake.LectureProgress(), func(i *importer) intake.Sink[lyceum.LectureProgress] {
		return i.learning.ImportLectureProgress(i.by)
	}, func(i *importer, visit func(*lyceum.LectureProgress) error) error {
		v := i.view()
		return v.LectureProgress.Each(v, lyceum.LectureProgressFilter{}, visit)
	}),
	rowsOf(intake.QuizResponses(), func(i *importer) intake.Sink[lyceum.QuizResponse] {
		return i.learning.ImportQuizResponses(i.by)
	}, func(i *importer, visit func(*lyceum.QuizResponse) error) error {
		v := i.view()
		return v.QuizResponses.Each(v, lyceum.QuizResponseFilter{}, visit)
	}),
	rowsOf(intake.Comments(), func(i *importer) intake.Sink[lyceum.Comment] {
		return i.learning.ImportComments(i.by)
	}, func(i *importer, visit func(*lyceum.Comment) error) error {
		v := i.view()
		return v.Comments.Each(v, lyceum.CommentFilter{}, visit)
	}),
	rowsOf(intake.Transactions(), func(i *importer) intake.Sink[lyceum.Transaction] {
		return i.sales.Import(i.by, i.missing)
	}, func(i *importer, visit func(*lyceum.Transaction) error) error {
		return i.sales.Each(i.p.ctx, i.by, i.filter, i.order, visit)
	}),
	rowsOf(intake.Webhooks(), func(i *importer) intake.Sink[lyceum.Webhook] {
		return i.events.ImportWebhooks(i.by, i.p.clock)
	}, func(i *importer, visit func(*lyceum.Webhook) error) error {
		v := i.view()
		return v.Webhooks.Each(v, lyceum.WebhookFilter{}, visit)
	}),
	rowsOf(intake.WebhookEvents(), func(i *importer) intake.Sink[lyceum.WebhookEvent] {
		return i.events.ImportEvents(i.by, i.p.clock)
	}, func(i *importer, visit func(*lyceum.WebhookEvent) error) error {
		v := i.view()
		return v.Deliveries.Each(v, lyceum.WebhookEventFilter{}, visit)
	}),
}

// kindNamed returns a kind that the command line has checked.
func kindNamed(name string) rowKind {
	return rowKinds[slices.IndexFunc(rowKinds, func(k rowKind) bool { return k.name == name })]
}

// rowKindVars returns the names of the kinds, for the help and arguments of commands that
// accept one.
func rowKindVars() kong.Vars {
	names := make([]string, len(rowKinds))
	for i, kind := range rowKinds {
		names[i] = kind.name
	}
	last := len(names) - 1
	return kong.Vars{
		"row_kinds":        strings.Join(names, ","),
		"row_kinds_listed": strings.Join(names[:last], ", ") + " or " + names[last],
	}
}
