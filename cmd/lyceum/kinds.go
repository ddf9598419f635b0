package main

import (
	"io"
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// desk is where the rows of a school come in and go out.
type desk struct {
	p        *program
	store    lyceum.Store
	school   lyceum.SchoolID
	learning *learning.Service
	people   *people.Service
	events   *events.Service
	sales    *sales.Service
	missing  lyceum.Missing
	filter   lyceum.TransactionFilter
	order    lyceum.Order
}

func newDesk(p *program, store lyceum.Store, school lyceum.SchoolID) *desk {
	lessons, users := learning.New(store, p.clock), people.New(store, p.clock)
	return &desk{
		p: p, store: store, school: school, learning: lessons, people: users,
		events: events.New(store, p.clock, events.Options{}), sales: sales.New(store, p.clock, lessons, users),
	}
}

// rowKind is a kind of rows that import takes and export gives.
type rowKind struct {
	name string
	take func(*desk, *importCommand) error
	give func(*desk, *exportCommand, io.Writer) error
}

func rowsOf[T any](kind intake.Kind[T], sink func(*desk) intake.Sink[T], each func(*desk, func(*T) error) error) rowKind {
	return rowKind{
		name: kind.String(),
		take: func(d *desk, c *importCommand) error { return importRows(d.p, c, kind, sink(d)) },
		give: func(d *desk, c *exportCommand, out io.Writer) error {
			return exportRows(d.p, c, kind, out, func(visit func(*T) error) error { return each(d, visit) })
		},
	}
}

// rowKinds are in the order in which a whole school is imported: what is named
// comes before what names it.
var rowKinds = []rowKind{
	rowsOf(intake.Users(), func(d *desk) intake.Sink[lyceum.User] { return d.people.Import(d.school, importActor) },
		func(d *desk, visit func(*lyceum.User) error) error { return d.people.Each(d.p.ctx, d.school, visit) }),
	rowsOf(intake.Tags(), func(d *desk) intake.Sink[lyceum.UserTags] { return d.people.ImportTags(d.school, importActor) },
		func(d *desk, visit func(*lyceum.UserTags) error) error {
			return d.people.EachTags(d.p.ctx, d.school, visit)
		}),
	rowsOf(intake.Authors(), func(d *desk) intake.Sink[lyceum.AuthorProfile] {
		return d.learning.ImportAuthors(d.school, importActor)
	}, func(d *desk, visit func(*lyceum.AuthorProfile) error) error {
		return d.store.EachAuthor(d.p.ctx, d.school, visit)
	}),
	rowsOf(intake.Courses(), func(d *desk) intake.Sink[lyceum.CourseRow] {
		return d.learning.ImportCourses(d.school, importActor)
	}, func(d *desk, visit func(*lyceum.CourseRow) error) error {
		return d.learning.EachCourse(d.p.ctx, d.school, func(c *lyceum.Course) error {
			return visit(&lyceum.CourseRow{Course: *c, Listed: lyceum.Some(c.IsListed), Ordered: lyceum.Some(c.LectureOrder)})
		})
	}),
	rowsOf(intake.LectureSections(), func(d *desk) intake.Sink[lyceum.LectureSection] {
		return d.learning.ImportLectureSections(d.school, importActor)
	}, func(d *desk, visit func(*lyceum.LectureSection) error) error {
		return d.store.EachLectureSection(d.p.ctx, d.school, visit)
	}),
	rowsOf(intake.Lectures(), func(d *desk) intake.Sink[lyceum.Lecture] {
		return d.learning.ImportLectures(d.school, importActor)
	}, func(d *desk, visit func(*lyceum.Lecture) error) error {
		return d.store.EachLecture(d.p.ctx, d.school, visit)
	}),
	rowsOf(intake.Attachments(), func(d *desk) intake.Sink[lyceum.Attachment] {
		return d.learning.ImportAttachments(d.school, importActor)
	}, func(d *desk, visit func(*lyceum.Attachment) error) error {
		return d.store.EachAttachment(d.p.ctx, d.school, visit)
	}),
	rowsOf(intake.PricingPlans(), func(d *desk) intake.Sink[lyceum.PricingPlan] {
		return d.learning.ImportPricingPlans(d.school, d.missing, importActor)
	}, func(d *desk, visit func(*lyceum.PricingPlan) error) error {
		return d.learning.EachPricingPlan(d.p.ctx, d.school, visit)
	}),
	rowsOf(intake.CourseProgress(), func(d *desk) intake.Sink[lyceum.Progress] {
		return d.learning.ImportProgress(d.school, importActor)
	}, func(d *desk, visit func(*lyceum.Progress) error) error {
		return d.store.EachProgress(d.p.ctx, d.school, visit)
	}),
	rowsOf(intake.Enrollments(), func(d *desk) intake.Sink[lyceum.Enrollment] {
		return d.learning.ImportEnrollments(d.school, importActor)
	}, func(d *desk, visit func(*lyceum.Enrollment) error) error {
		return d.store.EachEnrollment(d.p.ctx, d.school, visit)
	}),
	rowsOf(intake.LectureProgress(), func(d *desk) intake.Sink[lyceum.LectureProgress] {
		return d.learning.ImportLectureProgress(d.school, importActor)
	}, func(d *desk, visit func(*lyceum.LectureProgress) error) error {
		return d.store.EachLectureProgress(d.p.ctx, d.school, visit)
	}),
	rowsOf(intake.QuizResponses(), func(d *desk) intake.Sink[lyceum.QuizResponse] {
		return d.learning.ImportQuizResponses(d.school, importActor)
	}, func(d *desk, visit func(*lyceum.QuizResponse) error) error {
		return d.store.EachQuizResponse(d.p.ctx, d.school, visit)
	}),
	rowsOf(intake.Transactions(), func(d *desk) intake.Sink[lyceum.Transaction] {
		return d.sales.Import(d.school, d.missing, importActor)
	}, func(d *desk, visit func(*lyceum.Transaction) error) error {
		return d.sales.Each(d.p.ctx, d.school, d.filter, d.order, visit)
	}),
	rowsOf(intake.Webhooks(), func(d *desk) intake.Sink[lyceum.Webhook] {
		return d.events.ImportWebhooks(d.school, importActor, d.p.clock)
	}, func(d *desk, visit func(*lyceum.Webhook) error) error {
		return d.store.EachWebhook(d.p.ctx, d.school, visit)
	}),
	rowsOf(intake.WebhookEvents(), func(d *desk) intake.Sink[lyceum.WebhookEvent] {
		return d.events.ImportEvents(d.school, importActor, d.p.clock)
	}, func(d *desk, visit func(*lyceum.WebhookEvent) error) error {
		return d.store.EachWebhookEvent(d.p.ctx, d.school, visit)
	}),
}

// kindNamed finds a kind that the command line has checked.
func kindNamed(name string) rowKind {
	return rowKinds[slices.IndexFunc(rowKinds, func(k rowKind) bool { return k.name == name })]
}
