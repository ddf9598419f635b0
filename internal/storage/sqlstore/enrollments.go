package sqlstore

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

var enrollments = define(&tables.Enrollments, noun[lyceum.EnrollmentID, lyceum.Enrollment, lyceum.EnrollmentFilter]{
	table:   table[lyceum.Enrollment]{name: "enrollments", changed: countOpen},
	entries: "enrollment",
	key:     idKey("enrollment_id", func(e *lyceum.Enrollment) *lyceum.EnrollmentID { return &e.ID }),
	rest: []column[lyceum.Enrollment]{
		intColumn("user_id", func(e *lyceum.Enrollment) *lyceum.UserID { return &e.User }),
		intColumn("course_id", func(e *lyceum.Enrollment) *lyceum.CourseID { return &e.Course }),
		timeColumn("enrolled_at", func(e *lyceum.Enrollment) *time.Time { return &e.EnrolledAt }),
		optTimeColumn("expires_at", func(e *lyceum.Enrollment) *lyceum.Opt[time.Time] { return &e.ExpiresAt }),
		optTimeColumn("ended_at", func(e *lyceum.Enrollment) *lyceum.Opt[time.Time] { return &e.EndedAt }),
		optIntColumn("sale_id", func(e *lyceum.Enrollment) *lyceum.Opt[lyceum.SaleID] { return &e.Sale }),
	},
	largest: 1 << 10,
	narrow: func(w *where, f lyceum.EnrollmentFilter) {
		is(w, "user_id", f.User)
		among(w, "user_id", f.Users)
		is(w, "course_id", f.Course)
		if f.Open || f.ActiveAt.Present {
			w.absent("ended_at")
		}
		if f.ActiveAt.Present {
			w.lasts("expires_at", f.ActiveAt.Value)
		}
	},
	order: func(f lyceum.EnrollmentFilter) string {
		if f.Users != nil {
			return "user_id, enrollment_id"
		}
		return "enrollment_id"
	},
})

// openCounter is the counter of a course's enrollments that nobody ended and that never
// expire.
func openCounter(course lyceum.CourseID) string { return "enrollments:" + strconv.Itoa(int(course)) }

// countOpen updates the counters of the open enrollments of each course.
func countOpen(t *tx, old, row *lyceum.Enrollment) {
	if old != nil {
		t.countOpen(old, -1)
	}
	if row != nil {
		t.countOpen(row, 1)
	}
}

func (t *tx) countOpen(e *lyceum.Enrollment, by int64) {
	if e.EndedAt.Present || e.ExpiresAt.Present {
		return
	}
	t.count(openCounter(e.Course), by)
}

// MayBegin is a single query, because enrolling and every sale need it. Of each kind there is at
// most one row.
func (t *tx) MayBegin(user lyceum.UserID, course lyceum.CourseID) (may, studied bool, err error) {
	args := []any{int64(t.stamp.School), int64(course), int64(user)}
	both := []equal{{"course_id", args[1:2]}, {"user_id", args[2:]}}
	in := scope{
		tables: []string{enrollments.name, progress.name, courses.name, users.name}, equals: both,
		tallies: []tally{
			{enrollments.name, both, []test{absent("ended_at")}},
			{progress.name, both, nil},
			{courses.name, both[:1], nil},
			{users.name, both[1:], []test{absent(erased)}},
		},
		likely: likely{rows: [][]any{{int64(0), int64(0), int64(1), int64(1)}}},
	}
	var stays, records, coursesThere, usersThere int64
	_, err = t.q.oneIn(in, `SELECT
		CASE WHEN EXISTS (SELECT 1 FROM enrollments e WHERE e.school_id = $1 AND e.course_id = $2 AND e.user_id = $3
			AND e.ended_at IS NULL) THEN 1 ELSE 0 END,
		CASE WHEN EXISTS (SELECT 1 FROM progress p WHERE p.school_id = $1 AND p.course_id = $2 AND p.user_id = $3)
			THEN 1 ELSE 0 END,
		CASE WHEN EXISTS (SELECT 1 FROM courses WHERE school_id = $1 AND course_id = $2) THEN 1 ELSE 0 END,
		CASE WHEN EXISTS (SELECT 1 FROM users`+byPrimaryKey+` WHERE school_id = $1 AND user_id = $3 AND `+notErased+`)
			THEN 1 ELSE 0 END`,
		args, scanInt(&stays), scanInt(&records), scanInt(&coursesThere), scanInt(&usersThere))
	if err != nil {
		err = fmt.Errorf("begin enrollment: %w", err)
	}
	return coursesThere+usersThere == 2 && stays == 0, records > 0, err
}

func (t *tx) BeginEnrollment(e lyceum.Enrollment) (bool, error) {
	may, studied, err := t.MayBegin(e.User, e.Course)
	if err != nil || !may {
		return false, err
	}
	delete(t.unused, ticket{lyceum.EnrollmentSequence, int32(e.ID)})
	if err := insert(t, &enrollments.table, []lyceum.Enrollment{e}); err != nil {
		return false, err
	}
	if studied {
		return true, nil
	}
	return true, t.beginProgress(e.User, e.Course)
}

// FindEnrolled skips the rows before the page using only the index, and looks up progress only
// for those of the page. A counter has the total of a whole course; only the enrollments that
// expire at some time are counted.
func (v *view) FindEnrolled(f lyceum.EnrolledFilter, p lyceum.Page) (lyceum.Listing[lyceum.Enrolled], error) {
	r := rankEnrolled(f)
	w := r.where(v.school, r.at)
	count := counted(" FROM enrollments e", w)
	if f.Enrolled == (lyceum.Period{}) {
		count.kept = true
		count.text = "(" + kept(openCounter(f.Course)).text + ` + (SELECT count(*) FROM enrollments x
			WHERE x.school_id = $1 AND x.course_id = $2
			AND x.ended_at IS NULL AND x.expires_at IS NOT NULL AND x.expires_at > $3))`
	}
	direction := ""
	if r.down {
		direction = " DESC"
	}
	order := " ORDER BY e.enrolled_at" + direction + ", e.user_id" + direction
	phrase := func(first, from, limit string, w *where) string {
		return "SELECT " + first + `,
			e.user_id, e.enrolled_at, e.expires_at, COALESCE(p.percent_complete, 0), p.completed_at
			FROM (SELECT e.school_id, e.user_id, e.course_id, e.enrolled_at, e.expires_at
				FROM ` + from + w.String() + order + limit + `) e
			LEFT JOIN progress p ON p.school_id = e.school_id AND p.user_id = e.user_id AND p.course_id = e.course_id` + order
	}
	scan := func(e *lyceum.Enrolled) []any {
		e.Course = f.Course
		return []any{
			scanInt(&e.User), scanTime(&e.EnrolledAt), scanOptTime(&e.ExpiresAt),
			scanInt(&e.PercentComplete), scanOptTime(&e.CompletedAt),
		}
	}
	return pageIndexed(v, r, count, p, func(s seat) (string, []any) {
		w := r.where(v.school, r.at)
		limit := r.walk(w, s.ids)
		return phrase(markText, r.from(), limit, w), w.args
	}, scan, func() ([]lyceum.Enrolled, int64, error) {
		return pageBy(v, func(limit string) string { return phrase(count.text, r.from(), limit, w) }, w, count, p, scan)
	})
}

// rankEnrolled is the ranking of the active enrollments of a course.
func rankEnrolled(f lyceum.EnrolledFilter) *ranking {
	inCourse := func(w *where) {
		is(w, "e.course_id", lyceum.Some(f.Course))
		w.and("e.ended_at IS NULL")
	}
	return &ranking{
		table: enrollments.name, alias: "e", id: enrollments.key.name, keys: []string{"enrolled_at", "user_id"},
		down: f.Order == lyceum.NewestFirst, follow: follow{rows: enrollments.entries},
		narrow: func(w *where, at int64) {
			inCourse(w)
			w.and("(e.expires_at IS NULL OR e.expires_at > ?)", at)
			w.within("e.enrolled_at", f.Enrolled)
		},
		at: micros(f.ActiveAt), expires: "expires_at", lasting: inCourse,
	}
}

// FindEnrolledOf is a single statement, because showing a user needs it.
func (v *view) FindEnrolledOf(user lyceum.UserID) ([]lyceum.Enrolled, error) {
	var found []lyceum.Enrolled
	var row lyceum.Enrolled
	dest := append(enrollments.scan(&row.Enrollment),
		scanText(&row.CourseName), scanInt(&row.PercentComplete), scanOptTime(&row.CompletedAt))
	err := v.q.each("SELECT "+enrollments.of("e")+`, k.name, COALESCE(p.percent_complete, 0), p.completed_at
		FROM enrollments e
		JOIN courses k ON k.school_id = e.school_id AND k.course_id = e.course_id
		LEFT JOIN progress p ON p.school_id = e.school_id AND p.user_id = e.user_id AND p.course_id = e.course_id
		WHERE e.school_id = $1 AND e.user_id = $2 ORDER BY e.enrollment_id`,
		[]any{int64(v.school), int64(user)}, dest, func() error { found = append(found, row); return nil })
	return found, v.public(err)
}

func (v *view) FindBesides(users []lyceum.UserID) (map[lyceum.UserID]lyceum.UserBesides, error) {
	found := make(map[lyceum.UserID]lyceum.UserBesides, len(users))
	var user lyceum.UserID
	var one lyceum.UserBesides
	err := inChunks(v.q, `SELECT u.user_id,
		(SELECT min(e.enrolled_at) FROM enrollments e WHERE e.school_id = u.school_id AND e.user_id = u.user_id),
		(SELECT min(a.author_id) FROM authors a
			WHERE a.school_id = u.school_id AND a.user_id = u.user_id AND a.archived_at IS NULL)
		FROM users u WHERE u.school_id = $1 AND u.user_id IN `, v.school, int32Args(users),
		[]any{scanInt(&user), scanOptTime(&one.FirstEnrolled), scanOptInt(&one.Author)},
		func() { found[user] = one })
	return found, v.public(err)
}
