package learning

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// recounting saves what decides which lectures learners see, and counts again what
// they have done of the courses where that changed: what the first of them have at
// once, that of the others in the writes of Settle.
func recounting[T any](
	tx lyceum.Tx, rows []T, of func(*T) lyceum.CourseID, save func(lyceum.Tx, ...T) (lyceum.Saved, error),
) (lyceum.Saved, error) {
	seen := map[lyceum.CourseID][]lyceum.Lecture{}
	var order []lyceum.CourseID
	for i := range rows {
		course := of(&rows[i])
		if _, there := seen[course]; there {
			continue
		}
		contents, err := contents(tx.Tables, tx, course)
		if err != nil {
			return lyceum.Saved{}, err
		}
		seen[course] = published(contents)
		order = append(order, course)
	}
	saved, err := save(tx, rows...)
	if err != nil || saved.Created+saved.Updated == 0 {
		return saved, err
	}
	for _, course := range order {
		contents, err := contents(tx.Tables, tx, course)
		if err != nil {
			return saved, err
		}
		if now := published(contents); !sameLectures(seen[course], now) {
			if err := recountFrom(tx, lyceum.Recounting{Course: course}); err != nil {
				return saved, err
			}
		}
	}
	return saved, nil
}

func sameLectures(a, b []lyceum.Lecture) bool {
	ids := map[lyceum.LectureID]bool{}
	for _, l := range a {
		ids[l.ID] = true
	}
	for _, l := range b {
		if !ids[l.ID] {
			return false
		}
	}
	return len(a) == len(b)
}

// recountSize is how many learners one write counts again at most, so that it does
// not hold up others.
const recountSize = 50

// recountFrom brings the progress of the next learners of a course up to date, and
// lets the writes of Settle continue where there are more. Who completed the course
// keeps the moment they did.
func recountFrom(tx lyceum.Tx, next lyceum.Recounting) error {
	users, err := tx.FindRecounted(next, recountSize)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		if err := recount(tx, next, users); err != nil {
			return err
		}
	}
	if len(users) == recountSize {
		next.After = users[len(users)-1]
		_, err := tx.Recountings.Save(tx, next)
		return err
	}
	begun, err := tx.Recountings.Find(tx, next.Course)
	if err != nil || len(begun) == 0 {
		return err
	}
	return tx.Recountings.Delete(tx, next.Course)
}

// recountNext counts the next learners of a course again, and reports whether there
// was such a course.
func recountNext(tx lyceum.Tx, _ time.Time) (bool, error) {
	next, found, err := tx.Recountings.First(tx, struct{}{})
	if err != nil || !found {
		return false, err
	}
	return true, recountFrom(tx, next)
}

func recount(tx lyceum.Tx, next lyceum.Recounting, users []lyceum.UserID) error {
	of := lyceum.ProgressFilter{Course: lyceum.Some(next.Course), Users: users}
	all, err := lyceum.All(tx.Progress, tx, of)
	if err != nil {
		return err
	}
	counts, err := tx.CountLectureProgress(next, users[len(users)-1])
	if err != nil {
		return err
	}
	lectures, err := tx.FindPublished(next.Course)
	if err != nil {
		return err
	}
	course, err := tx.Courses.Get(tx, next.Course)
	if err != nil {
		return err
	}
	for i := range all {
		count := counts[all[i].User]
		advance(&all[i], &course, percent(count.Completed, len(lectures)), count.Last)
	}
	_, err = tx.Progress.Save(tx, all...)
	return err
}
