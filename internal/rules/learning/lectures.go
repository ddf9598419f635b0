package learning

import (
	"context"
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// Lectures lists the lectures of a course. It fails with NotFound.
func (s *Service) Lectures(
	ctx context.Context, by lyceum.By, f lyceum.LectureFilter, p lyceum.Page,
) (l lyceum.Listing[lyceum.Lecture], err error) {
	f.IsArchived = lyceum.Some(false)
	err = s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		if _, err := v.Courses.Get(v, f.Course.Value); err != nil {
			return err
		}
		l, err = v.Lectures.List(v, f, p)
		return err
	})
	return l, err
}

// OneLecture returns a lecture of a course without its attachments. It fails with
// NotFound.
func (s *Service) OneLecture(
	ctx context.Context, by lyceum.By, q InCourse[lyceum.LectureID],
) (lyceum.Lecture, error) {
	v := s.store.In(ctx, by.School)
	return lectureIn(v.Tables, v, q)
}

func lectureIn(t *lyceum.Tables, from lyceum.Source, q InCourse[lyceum.LectureID]) (lyceum.Lecture, error) {
	found, err := t.Lectures.Get(from, q.ID)
	if lyceum.KindOf(err) == lyceum.NotFound || err == nil && !isIn(&found, q.Course) {
		err = noLecture(q.Course, q.ID)
	}
	return found, err
}

// CreateLecture creates a lecture at the end of a section. It fails with NotFound.
func (s *Service) CreateLecture(ctx context.Context, by lyceum.By, fresh lyceum.Lecture) (lyceum.Lecture, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.Lecture, error) {
		made := fresh
		made.CreatedAt, made.UpdatedAt = now, now
		q := InCourse[lyceum.LectureSectionID]{made.Course, made.Section}
		err := tx.Ahead(append(toRecount(tx, made.Course), lyceum.ByID(tx.LectureSections, made.Section),
			lyceum.NextOf(lyceum.LectureSequence), lyceum.AllOf(tx.Lectures, inSection(q)))...)
		if err != nil {
			return made, err
		}
		if _, err := section(tx.Tables, tx, q); err != nil {
			return made, err
		}
		id, err := tx.Lectures.NextID(tx)
		if err != nil {
			return made, err
		}
		others, err := lecturesOf(tx, q)
		if err != nil {
			return made, err
		}
		made.ID, made.Position = id, next(others, func(l *lyceum.Lecture) int32 { return l.Position })
		return made, saveLecture(tx, made)
	})
}

// UpdateLecture changes a lecture of a course. It fails with NotFound.
func (s *Service) UpdateLecture(
	ctx context.Context, by lyceum.By, e Edit[InCourse[lyceum.LectureID], lyceum.Lecture],
) (lyceum.Lecture, error) {
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.Lecture, error) {
		if err := tx.Ahead(append(toRecount(tx, e.ID.Course), lyceum.ByID(tx.Lectures, e.ID.ID))...); err != nil {
			return lyceum.Lecture{}, err
		}
		row, err := lectureIn(tx.Tables, tx, e.ID)
		if err != nil {
			return row, err
		}
		before := row
		if e.Apply(&row); row == before {
			return row, nil
		}
		row.UpdatedAt = now
		if before.Section == row.Section && before.IsPublished == row.IsPublished && before.ArchivedAt == row.ArchivedAt {
			_, err = tx.Lectures.Save(tx, row)
			return row, err // learners see the same lectures as before
		}
		return row, saveLecture(tx, row)
	})
}

// DeleteLecture deletes a lecture of a course. What learners completed, answered and wrote in it
// is kept, but no longer counts. It fails with NotFound.
func (s *Service) DeleteLecture(ctx context.Context, by lyceum.By, q InCourse[lyceum.LectureID]) error {
	now := lyceum.Second(s.clock())
	_, err := s.UpdateLecture(ctx, by, Edit[InCourse[lyceum.LectureID], lyceum.Lecture]{q, func(l *lyceum.Lecture) {
		l.ArchivedAt = lyceum.Some(now)
	}})
	return err
}

// ReorderLectures puts the lectures of a section in order. It fails with NotFound, and with
// Invalid unless each is named exactly once.
func (s *Service) ReorderLectures(
	ctx context.Context, by lyceum.By, q Reorder[InCourse[lyceum.LectureSectionID], lyceum.LectureID],
) ([]lyceum.Lecture, error) {
	type row = lyceum.Lecture
	now := lyceum.Second(s.clock())
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) ([]row, error) {
		if _, err := section(tx.Tables, tx, q.Of); err != nil {
			return nil, err
		}
		rows, err := lecturesOf(tx, q.Of)
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("lecture of section %d", q.Of.ID)
		err = reorder(tx, lyceum.LectureSequence, rows, q.Places, what, func(l *row) placed[lyceum.LectureID] {
			return placed[lyceum.LectureID]{l.ID, &l.Position, &l.UpdatedAt}
		}, now)
		return rows, err
	})
}

func lecturesOf(tx lyceum.Tx, q InCourse[lyceum.LectureSectionID]) ([]lyceum.Lecture, error) {
	return lyceum.All(tx.Lectures, tx, inSection(q))
}

func inSection(q InCourse[lyceum.LectureSectionID]) lyceum.LectureFilter {
	return lyceum.LectureFilter{
		Course: lyceum.Some(q.Course), Section: lyceum.Some(q.ID), IsArchived: lyceum.Some(false),
	}
}

// saveLecture saves a lecture, and recounts the progress in its course if learners now see other
// lectures there.
func saveLecture(tx lyceum.Tx, row lyceum.Lecture) error {
	_, err := recounting(tx, []lyceum.CourseID{row.Course}, true, func() (lyceum.Saved, error) {
		return tx.Lectures.Save(tx, row)
	})
	return err
}
