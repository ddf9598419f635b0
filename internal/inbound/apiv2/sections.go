package apiv2

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) sections() []wire.Operation {
	const all, each = coursePath + "/sections", coursePath + "/sections/{section_id}"
	l := f.learning
	return []wire.Operation{
		many("listSections", all, 25, bindSections, l.Sections, section),
		one("createSection", wire.Create, all, bindNewSection, l.CreateSection, section),
		whole("reorderSections", wire.Put, all, bindSectionOrder, l.ReorderSections, section),
		one("showSection", wire.Get, each, bySection, l.Section, section),
		one("updateSection", wire.Patch, each, bindSectionChange, l.UpdateSection, section),
		one("replaceSection", wire.Put, each, bindSectionChange, l.UpdateSection, section),
	}
}

// maxName is the maximum length of the name of a section or a lecture, in characters.
const maxName = 300

func bySection(in *wire.Input) learning.InCourse[lyceum.LectureSectionID] {
	return learning.InCourse[lyceum.LectureSectionID]{
		Course: bindCourse(in), ID: wire.PathID[lyceum.LectureSectionID](in, "section_id"),
	}
}

func bindSections(in *wire.Input) lyceum.LectureSectionFilter {
	return lyceum.LectureSectionFilter{
		Course: lyceum.Some(bindCourse(in)), Order: bindContentsOrder(in, "position", "name", "created_at", "updated_at"),
	}
}

var contentsKeys = map[string]lyceum.ContentsKey{
	"position": lyceum.ContentsByPosition, "name": lyceum.ContentsByName,
	"created_at": lyceum.ContentsByCreated, "updated_at": lyceum.ContentsByUpdated,
}

// bindContentsOrder binds the order of a list of contents; the default is by position.
// Keys are the accepted values of sort_by.
func bindContentsOrder(in *wire.Input, keys ...string) lyceum.ContentsOrder {
	key := wire.OneOf(in.Query("sort_by"), keys...).Else("position")
	return lyceum.ContentsOrder{
		By:         contentsKeys[key],
		Descending: wire.OneOf(in.Query("sort_direction"), "asc", "desc").Else("asc") == "desc",
	}
}

func bindNewSection(in *wire.Input) lyceum.LectureSection {
	return lyceum.LectureSection{Course: bindCourse(in), Name: in.Body("name").Required().Text(1, maxName).Value}
}

func bindSectionChange(
	in *wire.Input,
) learning.Edit[learning.InCourse[lyceum.LectureSectionID], lyceum.LectureSection] {
	id, name := bySection(in), in.Body("name").Required().Text(1, maxName)
	return learning.Edit[learning.InCourse[lyceum.LectureSectionID], lyceum.LectureSection]{
		ID: id, Apply: func(s *lyceum.LectureSection) { s.Name = name.Else(s.Name) },
	}
}

func bindSectionOrder(in *wire.Input) learning.Reorder[lyceum.CourseID, lyceum.LectureSectionID] {
	return learning.Reorder[lyceum.CourseID, lyceum.LectureSectionID]{
		Of: bindCourse(in), Places: bindPlaces[lyceum.LectureSectionID](in),
	}
}

// maxPlaces is the maximum length of a list that can be reordered.
const maxPlaces = 2000

// bindPlaces binds the order of a whole list.
func bindPlaces[ID ~int32](in *wire.Input) []learning.Place[ID] {
	var places []learning.Place[ID]
	for _, member := range in.Body("data").Required().Objects(maxPlaces) {
		places = append(places, learning.Place[ID]{
			ID:       wire.ID[ID](member("id").Required()).Value,
			Position: wire.AnyInt[int32](member("position").Required()).Value,
		})
	}
	return places
}

func section(s lyceum.LectureSection) gen.Section {
	return gen.Section{
		ID: int32(s.ID), Name: s.Name, Position: s.Position,
		CreatedAt: wire.Moment(s.CreatedAt), UpdatedAt: wire.Moment(s.UpdatedAt),
	}
}
