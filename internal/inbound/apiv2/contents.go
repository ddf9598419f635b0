package apiv2

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) lectures() []wire.Operation {
	const all, of, each = coursePath + "/lectures", coursePath + "/sections/{section_id}/lectures", lecturePath
	l := f.learning
	return []wire.Operation{
		many("listLectures", all, 25, bindLectures, l.Lectures, listedLecture),
		one("createLecture", wire.Create, of, bindNewLecture, l.CreateLecture, courseLecture),
		whole("reorderLectures", wire.Put, of, bindLectureOrder, l.ReorderLectures, lecturePosition),
		one("showLecture", wire.Get, each, byLecture, l.OneLecture, courseLecture),
		one("updateLecture", wire.Patch, each, bindLectureChange, l.UpdateLecture, courseLecture),
		wire.None("deleteLecture", wire.Delete, each, byLecture, l.DeleteLecture),
	}
}

func byLecture(in *wire.Input) learning.InCourse[lyceum.LectureID] {
	return learning.InCourse[lyceum.LectureID]{
		Course: bindCourse(in), ID: wire.PathID[lyceum.LectureID](in, "lecture_id"),
	}
}

func bindLectures(in *wire.Input) lyceum.LectureFilter {
	return lyceum.LectureFilter{
		Course:      lyceum.Some(bindCourse(in)),
		Section:     wire.AnyInt[lyceum.LectureSectionID](in.Query("section_id")),
		Name:        in.Query("name").Text(1, wire.Unbounded),
		IsPublished: in.Query("is_published").Bool(),
		Created:     wire.Period(in.Query("created_after"), in.Query("created_before")),
		Order:       bindContentsOrder(in, "position", "created_at", "updated_at"),
	}
}

func bindNewLecture(in *wire.Input) lyceum.Lecture {
	of, name := bySection(in), in.Body("name").Required().Text(1, maxName)
	return lyceum.Lecture{
		Course: of.Course, Section: of.ID, Name: name,
		IsPublished: in.Body("is_published").Bool().Value,
		FreePreview: in.Body("free_preview").Bool(),
		Comments:    in.Body("student_comments_enabled").Bool(),
	}
}

func bindLectureChange(in *wire.Input) learning.Edit[learning.InCourse[lyceum.LectureID], lyceum.Lecture] {
	id, name, published := byLecture(in), in.Body("name").Text(1, maxName), in.Body("is_published").Bool()
	preview, comments := in.Body("free_preview").Bool(), in.Body("student_comments_enabled").Bool()
	return learning.Edit[learning.InCourse[lyceum.LectureID], lyceum.Lecture]{ID: id, Apply: func(l *lyceum.Lecture) {
		if name.Present {
			l.Name = name
		}
		l.IsPublished = published.Else(l.IsPublished)
		set(&l.FreePreview, preview, false)
		set(&l.Comments, comments, true)
	}}
}

// set changes an optional field, whose absence means usual, if the requested value differs.
func set(to *lyceum.Opt[bool], requested lyceum.Opt[bool], usual bool) {
	if requested.Present && requested.Value != to.Else(usual) {
		*to = requested
	}
}

func bindLectureOrder(
	in *wire.Input,
) learning.Reorder[learning.InCourse[lyceum.LectureSectionID], lyceum.LectureID] {
	return learning.Reorder[learning.InCourse[lyceum.LectureSectionID], lyceum.LectureID]{
		Of: bySection(in), Places: bindPlaces[lyceum.LectureID](in),
	}
}

func lecturePosition(l lyceum.Lecture) gen.LecturePosition {
	return gen.LecturePosition{ID: int32(l.ID), Position: l.Position}
}

func lectureHref(course lyceum.CourseID, id lyceum.LectureID) string {
	return fmt.Sprintf("/v2/products/courses/%d/lectures/%d", course, id)
}

func listedLecture(l lyceum.Lecture) gen.ListedLecture {
	href := lectureHref(l.Course, l.ID)
	return gen.ListedLecture{
		ID: int32(l.ID), Section: reference(fmt.Sprintf("/v2/products/courses/%d/sections", l.Course), l.Section),
		Name: l.Name.Value, Position: l.Position, IsPublished: l.IsPublished, FreePreview: l.FreePreview.Value,
		Href: href, CreatedAt: wire.Moment(l.CreatedAt), UpdatedAt: wire.Moment(l.UpdatedAt),
	}
}

func courseLecture(l lyceum.Lecture) gen.CourseLecture {
	shown := listedLecture(l)
	return gen.CourseLecture{
		ID: shown.ID, Section: shown.Section, Name: shown.Name, Position: shown.Position,
		IsPublished: shown.IsPublished, FreePreview: shown.FreePreview, Href: shown.Href,
		CreatedAt: shown.CreatedAt, UpdatedAt: shown.UpdatedAt, StudentCommentsEnabled: l.Comments.Else(true),
	}
}
