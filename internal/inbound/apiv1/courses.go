package apiv1

import (
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// Path prefixes.
const (
	coursePath    = "/v1/courses/{course_id}"
	myCoursePath  = "/v1/current_user/courses/{course_id}"
	lecturePath   = coursePath + "/lectures/{lecture_id}"
	myLecturePath = myCoursePath + "/lectures/{lecture_id}"
)

func (f *Face) courses() []wire.Operation {
	return []wire.Operation{
		many("ListCourses", "/v1/courses", defaultPer, bindCourses, f.Learning.Courses, "courses", course),
		one("ShowCourse", wire.Get, coursePath, bindCourse, f.Learning.Course, "course", courseDetail),
	}
}

func (f *Face) myCourses() []wire.Operation {
	const all = "/v1/current_user/courses"
	return []wire.Operation{
		many("listCurrentUserCourses", all, defaultPer, bindMyCourses, f.Learning.Courses, "courses", course),
		one("showCurrentUserCourse", wire.Get, myCoursePath, bindCourse, f.Learning.Course, "course", courseDetail),
	}
}

func bindCourses(in *wire.Input) lyceum.CourseFilter {
	f := bindMyCourses(in)
	f.AuthorID = wire.AnyInt[lyceum.AuthorID](in.Query("author_bio_id"))
	return f
}

func bindMyCourses(in *wire.Input) lyceum.CourseFilter {
	f := lyceum.CourseFilter{
		Name:        in.Query("name").Text(1, wire.Unbounded),
		IsPublished: in.Query("is_published").Bool(),
	}
	if at := in.Query("created_at").Time(); at.Present { // created_at itself is included
		f.Created.After = at.Value.Add(-time.Microsecond)
	}
	return f
}

func course(c lyceum.Course) gen.CourseSummary {
	return gen.CourseSummary{
		ID: int32(c.ID), Description: wire.Optional(c.Description), Name: c.Name, Heading: wire.Optional(c.Heading),
		IsPublished: c.IsPublished, ImageURL: wire.Optional(c.ImageURL),
	}
}

func bindCourse(in *wire.Input) lyceum.CourseID { return wire.PathID[lyceum.CourseID](in, "course_id") }

func courseDetail(c learning.CourseDetail) gen.CourseDetail {
	detail := gen.CourseDetail{
		ID: int32(c.ID), Description: wire.Optional(c.Description), Name: c.Name, Heading: wire.Optional(c.Heading),
		IsPublished: c.IsPublished, ImageURL: wire.Optional(c.ImageURL),
		LectureSections: []gen.LectureSection{}, AuthorBio: authorBio(&c),
	}
	for _, section := range c.Contents.Sections {
		s := gen.LectureSection{
			ID: int32(section.ID), Name: section.Name, IsPublished: section.IsPublished, Position: section.Position,
			Lectures: []gen.LectureSummary{},
		}
		for _, l := range c.Contents.Lectures {
			if l.Section == section.ID {
				s.Lectures = append(s.Lectures, gen.LectureSummary{
					ID: int32(l.ID), Position: l.Position, IsPublished: l.IsPublished,
				})
			}
		}
		detail.LectureSections = append(detail.LectureSections, s)
	}
	return detail
}

func authorBio(c *learning.CourseDetail) gen.AuthorBio {
	if a := c.Author.Value; c.Author.Present {
		return gen.AuthorBio{
			Name: a.Name.Value, Bio: wire.Optional(a.Bio), ProfileImageURL: wire.Optional(a.ProfileImageURL),
			UserID: wire.Number(a.UserID),
		}
	}
	return gen.AuthorBio{Name: c.School}
}
