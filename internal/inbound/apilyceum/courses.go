package apilyceum

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

func (f *Face) courses() []wire.Operation {
	const all, each, name = "/lyceum/v1/courses", "/lyceum/v1/courses/{course_id}", "course"
	c := f.Learning.CourseProducts()
	bindNew := created(lyceum.Course{IsListed: true}, bindCourse)
	bindChange := changed(byCourse, bindCourse)
	return []wire.Operation{
		wire.Many("listCourses", all, perPage, bindCourses, c.List, "courses", course),
		one("createCourse", wire.Create, all, bindNew, c.Create, name, course).Long(),
		one("showCourse", wire.Get, each, byCourse, c.Get, name, course),
		one("updateCourse", wire.Patch, each, bindChange, c.Update, name, course).Long(),
		one("archiveCourse", wire.Run, each+"/archive", wire.NoBody(byCourse), c.Archive, name, course),
	}
}

var byCourse = wire.ByID[lyceum.CourseID]("course_id")

func bindCourses(in *wire.Input) lyceum.CourseFilter {
	f := bindProducts(in)
	return lyceum.CourseFilter{Name: f.Name, IsPublished: f.IsPublished, IsArchived: f.IsArchived}
}

func bindCourse(in *wire.Input, name wire.Field) func(*lyceum.Course) {
	named, heading := name.Text(1, maxName), bindText(in, "heading", maxName)
	description, published := bindText(in, "description", maxDescription), in.Body("is_published").Bool()
	listed, ordered := in.Body("is_listed").Bool(), in.Body("lecture_order").Bool()
	image, author, page := bindImage(in), bindAuthor(in), in.Body("certificate_page_id")
	certificate := wire.Nullable(page, wire.ID[int32](page))
	return func(c *lyceum.Course) {
		set(&c.Name, named)
		set(&c.Heading, heading)
		set(&c.Description, description)
		set(&c.IsPublished, published)
		set(&c.IsListed, listed)
		set(&c.LectureOrder, ordered)
		set(&c.ImageURL, image)
		set(&c.AuthorID, author)
		set(&c.Certificate, certificate)
	}
}

func course(c lyceum.Course) gen.Course {
	return gen.Course{
		ID: int32(c.ID), Name: c.Name, Heading: wire.Optional(c.Heading), Description: wire.Optional(c.Description),
		IsPublished: c.IsPublished, IsListed: c.IsListed, LectureOrder: c.LectureOrder, ImageURL: wire.Optional(c.ImageURL),
		AuthorID: wire.Number(c.AuthorID), CertificatePageID: wire.Optional(c.Certificate),
		CertificateAutoIssue: c.Compliance.Issues.Else(true), VideoCompletionEnforced: c.Compliance.Videos.Value,
		QuizPassRequired: c.Compliance.Quizzes.Value, QuizMinimumScore: wire.Optional(c.Compliance.Score),
		QuizMaximumRetakes: wire.Optional(c.Compliance.Retakes), ArchivedAt: wire.OptMoment(c.ArchivedAt),
		CreatedAt: wire.Moment(c.CreatedAt), UpdatedAt: wire.Moment(c.UpdatedAt),
	}
}
