package learning

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// InCourse identifies a part of a course.
type InCourse[ID ~int32] struct {
	Course lyceum.CourseID
	ID     ID
}

// Sections lists the sections of a course. It fails with NotFound.
func (s *Service) Sections(
	ctx context.Context, by lyceum.By, f lyceum.LectureSectionFilter, p lyceum.Page,
) (l lyceum.Listing[lyceum.LectureSection], err error) {
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if _, err := v.Courses.Get(v, f.Course.Value); err != nil {
			return err
		}
		l, err = v.LectureSections.List(v, f, p)
		return err
	})
	return l, err
}

// Section returns a section of a course. It fails with NotFound.
func (s *Service) Section(
	ctx context.Context, by lyceum.By, q InCourse[lyceum.LectureSectionID],
) (lyceum.LectureSection, error) {
	v := s.store.In(ctx, by.School)
	return section(v.Tables, v, q)
}

func section(
	t *lyceum.Tables, from lyceum.Source, q InCourse[lyceum.LectureSectionID],
) (lyceum.LectureSection, error) {
	found, err := t.LectureSections.Get(from, q.ID)
	if lyceum.KindOf(err) == lyceum.NotFound || err == nil && found.Course != q.Course {
		err = lyceum.Errorf(lyceum.NotFound, "there is no section %d in course %d", q.ID, q.Course)
	}
	return found, err
}

// CreateSection creates a section at the end of a course. Learners see it immediately. It fails
// with NotFound.
func (s *Service) CreateSection(
	ctx context.Context, by lyceum.By, fresh lyceum.LectureSection,
) (lyceum.LectureSection, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.LectureSection, error) {
		made := fresh
		made.IsPublished, made.CreatedAt, made.UpdatedAt = true, now, now
		if _, err := tx.Courses.Get(tx, made.Course); err != nil {
			return made, err
		}
		id, err := tx.LectureSections.NextID(tx)
		if err != nil {
			return made, err
		}
		others, err := sectionsOf(tx, made.Course)
		if err != nil {
			return made, err
		}
		made.ID, made.Position = id, next(others, func(l *lyceum.LectureSection) int32 { return l.Position })
		return made, tx.LectureSections.Insert(tx, made)
	})
}

// UpdateSection changes a section of a course. It fails with NotFound.
func (s *Service) UpdateSection(
	ctx context.Context, by lyceum.By, e Edit[InCourse[lyceum.LectureSectionID], lyceum.LectureSection],
) (lyceum.LectureSection, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.LectureSection, error) {
		row, err := section(tx.Tables, tx, e.ID)
		if err != nil {
			return row, err
		}
		before := row
		if e.Apply(&row); row == before {
			return row, nil
		}
		row.UpdatedAt = now
		return row, tx.LectureSections.Update(tx, row)
	})
}

// ReorderSections puts the sections of a course in order. It fails with NotFound, and with
// Invalid unless each is named exactly once.
func (s *Service) ReorderSections(
	ctx context.Context, by lyceum.By, q Reorder[lyceum.CourseID, lyceum.LectureSectionID],
) ([]lyceum.LectureSection, error) {
	type row = lyceum.LectureSection
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) ([]row, error) {
		if _, err := tx.Courses.Get(tx, q.Of); err != nil {
			return nil, err
		}
		rows, err := sectionsOf(tx, q.Of)
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("section of course %d", q.Of)
		err = reorder(tx, lyceum.LectureSectionSequence, rows, q.Places, what, func(l *row) placed[lyceum.LectureSectionID] {
			return placed[lyceum.LectureSectionID]{l.ID, &l.Position, &l.UpdatedAt}
		}, now)
		return rows, err
	})
}

func sectionsOf(tx lyceum.Tx, course lyceum.CourseID) ([]lyceum.LectureSection, error) {
	return lyceum.All(tx.LectureSections, tx, lyceum.LectureSectionFilter{Course: lyceum.Some(course)})
}
