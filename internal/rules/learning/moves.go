package learning

import (
	"maps"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// coursesAround returns the courses that rows are in, and those that they were moved from.
func coursesAround[ID comparable, T any](
	rows []T, moved map[ID]lyceum.CourseID, of func(*T) lyceum.CourseID,
) (all []lyceum.CourseID) {
	for i := range rows {
		all = append(all, of(&rows[i]))
	}
	for _, from := range moved {
		all = append(all, from)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// moveSections moves the lectures of sections to the courses that the sections are in now. Moved
// has the courses that they were in.
func moveSections(
	tx lyceum.Tx, sections []lyceum.LectureSection, moved map[lyceum.LectureSectionID]lyceum.CourseID,
) error {
	var lectures []lyceum.Lecture
	from := map[lyceum.LectureID]lyceum.CourseID{}
	for i := range sections {
		course, left := moved[sections[i].ID]
		if !left {
			continue
		}
		of := lyceum.LectureFilter{Course: lyceum.Some(course), Section: lyceum.Some(sections[i].ID)}
		found, err := lyceum.All(tx.Lectures, tx, of)
		if err != nil {
			return err
		}
		for n := range found {
			found[n].Course, from[found[n].ID] = sections[i].Course, course
		}
		lectures = append(lectures, found...)
	}
	if _, err := tx.Lectures.Save(tx, lectures...); err != nil {
		return err
	}
	return moveWork(tx, lectures, from)
}

// moveWork moves what learners completed and wrote in lectures to the courses that the lectures
// are in now. Moved has the courses that they were in.
func moveWork(tx lyceum.Tx, lectures []lyceum.Lecture, moved map[lyceum.LectureID]lyceum.CourseID) error {
	to, left := map[lyceum.LectureID]lyceum.CourseID{}, map[lyceum.CourseID]bool{}
	for i := range lectures {
		l := &lectures[i]
		from, there := moved[l.ID]
		if !there {
			continue
		}
		to[l.ID], left[from] = l.Course, true
		comments, err := lyceum.All(tx.Comments, tx, lyceum.CommentFilter{Lecture: lyceum.Some(l.ID)})
		if err != nil {
			return err
		}
		for n := range comments {
			comments[n].Course = l.Course
		}
		if _, err := tx.Comments.Save(tx, comments...); err != nil {
			return err
		}
	}
	for _, from := range slices.Sorted(maps.Keys(left)) {
		var steps []lyceum.LectureProgress
		of := lyceum.LectureProgressFilter{Course: lyceum.Some(from)}
		err := tx.LectureProgress.Each(tx, of, func(p *lyceum.LectureProgress) error {
			if course, there := to[p.Lecture]; there {
				step := *p
				step.Course = course
				steps = append(steps, step)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if _, err := tx.LectureProgress.Save(tx, steps...); err != nil {
			return err
		}
	}
	return nil
}
