package learning

import "github.com/lyceum-school/lyceum"

// recounting saves what decides which lectures learners see, and counts anew
// what they have done of the courses where that changed.
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
			if err := recount(tx, course, now); err != nil {
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

// recount brings everybody's progress in a course up to date. Who completed
// the course keeps the moment they did.
func recount(tx lyceum.Tx, course lyceum.CourseID, lectures []lyceum.Lecture) error {
	all, err := lyceum.All(tx.Progress, tx, lyceum.ProgressFilter{Course: lyceum.Some(course)})
	if err != nil {
		return err
	}
	counts, err := tx.CountLectureProgress(course)
	if err != nil {
		return err
	}
	full, err := tx.Courses.Get(tx, course)
	if err != nil {
		return err
	}
	for i := range all {
		count := counts[all[i].User]
		advance(&all[i], &full, percent(count.Completed, len(lectures)), count.Last)
	}
	_, err = tx.Progress.Save(tx, all...)
	return err
}
