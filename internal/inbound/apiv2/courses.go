package apiv2

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// Path prefixes.
const (
	coursePath    = "/v2/products/courses/{course_id}"
	lecturePath   = coursePath + "/lectures/{lecture_id}"
	myCoursePath  = "/v2/current_user/courses/{course_id}"
	myLecturePath = myCoursePath + "/lectures/{lecture_id}"
)

func (f *Face) courses() []wire.Operation {
	const all = "/v2/products/courses"
	c := f.learning.CourseProducts().AuthorAs("author_bio_id")
	return []wire.Operation{
		many("listProductCourses", all, 25, bindCourses, f.learning.Courses, productCourse),
		one("createProductCourse", wire.Create, all, bindNewCourse, c.Create, productCourse),
		one("showProductCourse", wire.Get, coursePath, bindCourse, c.Get, productCourse),
		one("updateProductCourse", wire.Patch, coursePath, bindCourseChange, c.Update, productCourse),
	}
}

func (f *Face) myCourses() []wire.Operation {
	return []wire.Operation{
		many("listCurrentUserCourses", "/v2/current_user/courses", 25, bindMyCourses, f.learning.Courses, myCourse),
		one("showCurrentUserCourse", wire.Get, myCoursePath, bindCourse, f.learning.Course, courseDetail),
		one("showCurrentUserCourseProgress", wire.Get, myCoursePath+"/progress", bindCourse, f.showMyProgress, progress),
	}
}

var courseKeys = map[string]lyceum.CourseKey{
	"name": lyceum.CourseByName, "created_at": lyceum.CourseByCreated, "updated_at": lyceum.CourseByUpdated,
}

func bindCourses(in *wire.Input) lyceum.CourseFilter {
	q := bindMyCourses(in)
	q.IsPublished, q.IsListed = in.Query("is_published").Bool(), in.Query("is_listed").Bool()
	q.AuthorID = wire.AnyInt[lyceum.AuthorID](in.Query("author_bio_id"))
	q.Search = in.Query("search").Text(1, wire.Unbounded)
	q.Order = bindOrder(in, "name", "created_at", "updated_at")
	return q
}

// bindOrder binds the order of a list of products; the default is the newest first. Keys
// are the accepted values of sort_by.
func bindOrder(in *wire.Input, keys ...string) lyceum.CourseOrder {
	key := wire.OneOf(in.Query("sort_by"), keys...).Else("created_at")
	return lyceum.CourseOrder{
		By:         courseKeys[key],
		Descending: wire.OneOf(in.Query("sort_direction"), "asc", "desc").Else("desc") == "desc",
	}
}

func bindMyCourses(in *wire.Input) lyceum.CourseFilter {
	return lyceum.CourseFilter{
		Order:   lyceum.CourseOrder{By: lyceum.CourseByCreated, Descending: true},
		Name:    in.Query("name").Text(1, wire.Unbounded),
		Created: wire.Period(in.Query("created_after"), in.Query("created_before")),
	}
}

// The maximum lengths of a course's strings, in characters (contract/v2/courses.yaml).
const (
	maxCourseName = 200
	maxSubtitle   = 255
	maxFriendly   = 100
)

var friendly = regexp.MustCompile(`^[a-zA-Z0-9\-_]+$`)

func bindFriendlyURL(in *wire.Input) lyceum.Opt[string] {
	return wire.Parsed(in.Body("friendly_url"), func(text string) (string, error) {
		if len(text) > maxFriendly || !friendly.MatchString(text) {
			return "", lyceum.Invalidf("must be 1 to %d letters, digits, - or _", maxFriendly)
		}
		return text, nil
	})
}

// bindImageURL binds the URL of an image; a blank one means no image.
func bindImageURL(in *wire.Input) lyceum.Opt[lyceum.Opt[string]] {
	image := in.Body("image_url")
	if blank := image.Text(0, wire.Unbounded); image.Given() && strings.TrimSpace(blank.Value) == "" {
		return lyceum.Some(lyceum.None[string]())
	}
	return wire.Nullable(image, image.URL(maxURL))
}

func bindNewCourse(in *wire.Input) lyceum.Course {
	return lyceum.Course{
		Name:        in.Body("name").Required().Text(1, maxCourseName).Value,
		Heading:     in.Body("description").Text(0, maxSubtitle),
		AuthorID:    wire.ID[lyceum.AuthorID](in.Body("author_bio_id").Required()),
		IsPublished: in.Body("is_published").Bool().Value,
		IsListed:    in.Body("is_listed").Bool().Value,
		FriendlyURL: bindFriendlyURL(in),
		ImageURL:    bindImageURL(in).Value,
	}
}

func bindCourseChange(in *wire.Input) learning.Edit[lyceum.CourseID, lyceum.Course] {
	id, name := bindCourse(in), in.Body("name").Text(1, maxCourseName)
	heading := wire.Nullable(in.Body("description"), in.Body("description").Text(0, maxSubtitle))
	published, listed := in.Body("is_published").Bool(), in.Body("is_listed").Bool()
	address, image := bindFriendlyURL(in), bindImageURL(in)
	return learning.Edit[lyceum.CourseID, lyceum.Course]{ID: id, Apply: func(c *lyceum.Course) {
		c.Name = name.Else(c.Name)
		c.Heading = heading.Else(c.Heading)
		c.IsPublished, c.IsListed = published.Else(c.IsPublished), listed.Else(c.IsListed)
		change(&c.FriendlyURL, address)
		c.ImageURL = image.Else(c.ImageURL)
	}}
}

// productCourse renders a course for the school's programs.
func productCourse(c lyceum.Course) gen.Course {
	shown := course(c)
	href := fmt.Sprintf("/v2/products/courses/%d", c.ID)
	shown.Href = &href
	return shown
}

func course(c lyceum.Course) gen.Course {
	return gen.Course{
		ID: int32(c.ID), Name: c.Name, IsPublished: c.IsPublished, IsListed: c.IsListed,
		Description: wire.Optional(c.Heading), AuthorBioID: wire.Number(c.AuthorID),
		ImageURL: wire.Optional(c.ImageURL), CreatedAt: wire.Moment(c.CreatedAt), UpdatedAt: wire.Moment(c.UpdatedAt),
	}
}

func myCourse(c lyceum.Course) gen.Course {
	shown := course(c)
	href := fmt.Sprintf("/v2/current_user/courses/%d", c.ID)
	shown.Href = &href
	return shown
}

func bindCourse(in *wire.Input) lyceum.CourseID { return wire.PathID[lyceum.CourseID](in, "course_id") }

func courseDetail(c learning.CourseDetail) gen.CourseDetail {
	shown := myCourse(c.Course)
	detail := gen.CourseDetail{
		ID: shown.ID, Name: shown.Name, IsPublished: shown.IsPublished, IsListed: shown.IsListed,
		Description: shown.Description, AuthorBioID: shown.AuthorBioID, Href: shown.Href, ImageURL: shown.ImageURL,
		CreatedAt: shown.CreatedAt, UpdatedAt: shown.UpdatedAt,
		Sections: []gen.CourseSection{}, AuthorBio: gen.AuthorBio{Name: c.School},
	}
	if a := c.Author.Value; c.Author.Present {
		detail.AuthorBio = gen.AuthorBio{
			Name: a.Name.Value, Bio: wire.Optional(a.Bio), ProfileImageURL: wire.Optional(a.ProfileImageURL),
			UserID: wire.Number(a.UserID),
		}
	}
	for _, section := range c.Contents.Sections {
		s := gen.CourseSection{
			ID: int32(section.ID), Name: section.Name, Position: section.Position, Lectures: []gen.LectureSummary{},
		}
		for _, l := range c.Contents.Lectures {
			if l.Section == section.ID {
				s.Lectures = append(s.Lectures, gen.LectureSummary{
					ID: int32(l.ID), Name: l.Name.Value, Position: l.Position,
				})
			}
		}
		detail.Sections = append(detail.Sections, s)
	}
	return detail
}

func (f *Face) showMyProgress(ctx context.Context, by lyceum.By, id lyceum.CourseID) (learning.ProgressDetail, error) {
	return f.learning.Progress(ctx, by, by.Learner.Value, id)
}

func progress(p learning.ProgressDetail) gen.CourseProgress {
	shown := gen.CourseProgress{
		ID: int32(p.ID), CompletedAt: wire.OptMoment(p.CompletedAt), EnrolledAt: wire.OptMoment(p.EnrolledAt),
		PercentComplete: p.PercentComplete, Sections: []gen.ProgressSection{},
	}
	shown.Certificate = certificate(p)
	for _, section := range p.Sections {
		if section.IsPublished {
			shown.Sections = append(shown.Sections, progressSection(&p, &section))
		}
	}
	return shown
}

// certificate renders a certificate, whose members are null until it is issued.
func certificate(p learning.ProgressDetail) (shown gen.Certificate) {
	if c := p.Certificate.Value; p.Certificate.Present {
		shown = gen.Certificate{
			IssuedAt: wire.OptMoment(lyceum.Some(c.IssuedAt)), PageID: &c.PageID, SerialNumber: &c.SerialNumber,
		}
	}
	return shown
}

func progressSection(p *learning.ProgressDetail, section *lyceum.LectureSection) gen.ProgressSection {
	s := gen.ProgressSection{ID: int32(section.ID), Name: section.Name, Lectures: []gen.ProgressLecture{}}
	complete := 0
	for _, l := range p.Lectures {
		if l.Section != section.ID {
			continue
		}
		lecture := gen.ProgressLecture{ID: int32(l.ID), Name: l.Name.Value}
		if done, ok := p.Done[l.ID]; ok {
			complete++
			lecture.IsCompleted, lecture.CompletedAt = true, wire.OptMoment(lyceum.Some(done.CompletedAt))
		}
		s.Lectures = append(s.Lectures, lecture)
	}
	if n := len(s.Lectures); n > 0 {
		s.PercentComplete = int32(100 * complete / n)
	}
	return s
}
