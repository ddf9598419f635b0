package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// Lists that are narrowed to users use an index: a school has 100,000 users and more.
func TestRowsOfUsersAreFoundByAnIndex(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	user, course := lyceum.Some(lyceum.UserID(1)), lyceum.Some(lyceum.CourseID(1))
	quiz, users := lyceum.Some(lyceum.QuizID(1)), []lyceum.UserID{1, 2, 3}
	sorted := func(by lyceum.UserKey, role lyceum.Role) func() error {
		return func() error {
			f := lyceum.UserFilter{Role: lyceum.Opt[lyceum.Role]{Value: role, Present: role != ""}, Order: lyceum.UserOrder{By: by}}
			_, err := v.Users.List(v, f, lyceum.Page{Number: 1, Size: 20})
			return err
		}
	}
	responses := func(by lyceum.QuizResponseKey) func() error {
		return func() error {
			order := lyceum.QuizResponseOrder{By: by, Descending: true}
			return listed(v.QuizResponses, v, lyceum.QuizResponseFilter{User: user, Order: lyceum.Some(order)})
		}
	}
	for _, tc := range []struct {
		name string
		read func() error
		want string // the index, and the columns that are looked up in it
	}{
		{"users by name", sorted(lyceum.UserByName, ""), "SEARCH users USING INDEX users_name (school_id=?)"},
		{"users by address", sorted(lyceum.UserByEmail, ""), "SEARCH users USING INDEX users_email_key (school_id=?)"},
		{"the newest users", sorted(lyceum.UserByCreated, ""), "SEARCH users USING INDEX users_created (school_id=?)"},
		{"users by the beginning of a name", func() error {
			_, err := v.Users.List(v, lyceum.UserFilter{Begins: lyceum.Some("ad")}, lyceum.Page{Number: 1, Size: 20})
			return err
		}, "SEARCH b USING INDEX users_name (school_id=? AND name_key>? AND name_key<?)"},
		{"users by the beginning of an address, newest first", func() error {
			newest := lyceum.UserOrder{By: lyceum.UserByCreated, Descending: true}
			_, err := v.Users.List(v, lyceum.UserFilter{Begins: lyceum.Some("ad"), Order: newest}, lyceum.Page{Number: 1, Size: 20})
			return err
		}, "SEARCH users USING PRIMARY KEY (school_id=? AND user_id=?)"},
		{"users who never began", func() error {
			_, err := v.Users.List(v, lyceum.UserFilter{NeverBegan: true}, lyceum.Page{Number: 1, Size: 20})
			return err
		}, "SEARCH e EXISTS USING INDEX enrollments_open (school_id=? AND user_id=?)"},
		{"the last changed users", sorted(lyceum.UserByUpdated, ""), "SEARCH users USING INDEX users_updated (school_id=?)"},
		{"users by their sign-in", sorted(lyceum.UserBySignIn, ""), "SEARCH users USING INDEX users_signed_in (school_id=?)"},
		{"students by name", sorted(lyceum.UserByName, lyceum.Student), "SEARCH users USING INDEX users_name (school_id=?)"},
		{"authors", sorted(lyceum.UserByID, lyceum.Author), "INDEX users_roles (school_id=? AND role=?)"},
		{"users of other roles", sorted(lyceum.UserByID, lyceum.CustomRole), "INDEX users_custom (school_id=?)"},
		{"authors who are some users", func() error {
			_, err := lyceum.All(v.Authors, v, lyceum.PartnerFilter{Users: users})
			return err
		}, "INDEX authors_user (school_id=? AND user_id=?)"},
		{"first enrollments", func() error {
			_, err := v.FindBesides(users)
			return err
		}, "COVERING INDEX enrollments_user (school_id=? AND user_id=?)"},
		{"sections of a course", func() error {
			_, err := lyceum.All(v.LectureSections, v, lyceum.LectureSectionFilter{Course: course})
			return err
		}, "INDEX lecture_sections_course (school_id=? AND course_id=?)"},
		{"comments of a lecture", func() error {
			f := lyceum.CommentFilter{Lecture: lyceum.Some(lyceum.LectureID(1)), Order: newest(lyceum.CourseByCreated)}
			return listed(v.Comments, v, f)
		}, "INDEX comments_lecture_created (school_id=? AND lecture_id=?)"},
		{"comments of a lecture, by their change", func() error {
			f := lyceum.CommentFilter{Lecture: lyceum.Some(lyceum.LectureID(1)), Order: newest(lyceum.CourseByUpdated)}
			return listed(v.Comments, v, f)
		}, "INDEX comments_lecture_updated (school_id=? AND lecture_id=?)"},
		{"comments of a course", func() error {
			return listed(v.Comments, v, lyceum.CommentFilter{Course: course, Order: newest(lyceum.CourseByCreated)})
		}, "INDEX comments_course_created (school_id=? AND course_id=?)"},
		{"comments of a course, by their change", func() error {
			return listed(v.Comments, v, lyceum.CommentFilter{Course: course, Order: newest(lyceum.CourseByUpdated)})
		}, "INDEX comments_course_updated (school_id=? AND course_id=?)"},
		{"comments of a course that wait", func() error {
			f := lyceum.CommentFilter{Course: course, Status: lyceum.Some(lyceum.CommentAwaiting), Order: newest(lyceum.CourseByCreated)}
			return listed(v.Comments, v, f)
		}, "INDEX comments_course_status (school_id=? AND course_id=? AND status=?)"},
		{"courses by their creation", func() error {
			return listed(v.Courses, v, lyceum.CourseFilter{Order: newest(lyceum.CourseByCreated)})
		}, "INDEX courses_created (school_id=?)"},
		{"courses by their change", func() error {
			return listed(v.Courses, v, lyceum.CourseFilter{Order: newest(lyceum.CourseByUpdated)})
		}, "INDEX courses_updated (school_id=?)"},
		{"downloads by their change", func() error {
			return listed(v.DigitalDownloads, v, lyceum.DigitalDownloadFilter{Order: newest(lyceum.CourseByUpdated)})
		}, "INDEX digital_downloads_updated (school_id=?)"},
		{"collections by their creation", func() error {
			f := lyceum.ProductFilter{IsArchived: lyceum.Some(false), Order: newest(lyceum.CourseByCreated)}
			return listed(v.ProductCollections, v, f)
		}, "INDEX product_collections_created (school_id=?)"},
		{"collections by their change", func() error {
			f := lyceum.ProductFilter{IsArchived: lyceum.Some(false), Order: newest(lyceum.CourseByUpdated)}
			return listed(v.ProductCollections, v, f)
		}, "INDEX product_collections_updated (school_id=?)"},
		{"comments of a school that wait", func() error {
			return listed(v.Comments, v, lyceum.CommentFilter{Status: lyceum.Some(lyceum.CommentAwaiting), Whole: true})
		}, "INDEX comments_status (school_id=? AND status=?)"},
		{"comments of a thread", func() error {
			return listed(v.Comments, v, lyceum.CommentFilter{Thread: lyceum.Some(lyceum.CommentID(1))})
		}, "INDEX comments_thread (school_id=? AND thread_id=?)"},
		{"attachment of a quiz", func() error {
			_, _, err := v.Attachments.First(v, lyceum.AttachmentFilter{Quiz: quiz})
			return err
		}, "INDEX attachments_quiz (school_id=? AND quiz_id=?)"},
		{"enrollments of a user", func() error {
			_, err := lyceum.All(v.Enrollments, v, lyceum.EnrollmentFilter{User: user})
			return err
		}, "INDEX enrollments_user (school_id=? AND user_id=?)"},
		{"enrollments of a user in a course", func() error {
			_, err := lyceum.All(v.Enrollments, v, lyceum.EnrollmentFilter{User: user, Course: course})
			return err
		}, "INDEX enrollments_user (school_id=? AND user_id=? AND course_id=?)"},
		{"open enrollment", func() error {
			_, _, err := v.Enrollments.First(v, lyceum.EnrollmentFilter{User: user, Course: course, Open: true})
			return err
		}, "INDEX enrollments_open (school_id=? AND user_id=? AND course_id=?)"},
		{"active enrollment", func() error {
			active := lyceum.EnrollmentFilter{User: user, Course: course, ActiveAt: lyceum.Some(ofMicros(0))}
			_, _, err := v.Enrollments.First(v, active)
			return err
		}, "INDEX enrollments_open (school_id=? AND user_id=? AND course_id=?)"},
		{"enrollments of users", func() error {
			_, err := lyceum.All(v.Enrollments, v, lyceum.EnrollmentFilter{Users: users})
			return err
		}, "INDEX enrollments_user (school_id=? AND user_id=?)"},
		{"entitlements of a user to a product", func() error {
			products := []lyceum.Product{lyceum.CourseID(1).Product()}
			_, err := lyceum.All(v.Entitlements, v, lyceum.EntitlementFilter{User: user, Products: products})
			return err
		}, "INDEX entitlements_user (school_id=? AND user_id=? AND product_type=? AND product_id=?)"},
		{"entitlements of users", func() error {
			_, err := lyceum.All(v.Entitlements, v, lyceum.EntitlementFilter{Users: users})
			return err
		}, "INDEX entitlements_user (school_id=? AND user_id=?)"},
		{"progress", func() error {
			_, _, err := v.Progress.First(v, lyceum.ProgressFilter{User: user, Course: course})
			return err
		}, "PRIMARY KEY (school_id=? AND user_id=? AND course_id=?)"},
		{"progress of users", func() error {
			_, err := lyceum.All(v.Progress, v, lyceum.ProgressFilter{Users: users})
			return err
		}, "PRIMARY KEY (school_id=? AND user_id=?)"},
		{"lecture progress", func() error {
			_, err := lyceum.All(v.LectureProgress, v, lyceum.LectureProgressFilter{User: user, Course: course})
			return err
		}, "PRIMARY KEY (school_id=? AND user_id=? AND course_id=?)"},
		{"lecture progress of users", func() error {
			_, err := lyceum.All(v.LectureProgress, v, lyceum.LectureProgressFilter{Users: users})
			return err
		}, "PRIMARY KEY (school_id=? AND user_id=?)"},
		{"responses of users", func() error {
			_, err := lyceum.All(v.QuizResponses, v, lyceum.QuizResponseFilter{Users: users})
			return err
		}, "INDEX quiz_responses_user (school_id=? AND user_id=?)"},
		{"responses of a user", responses(lyceum.ResponseBySubmitted), "INDEX quiz_responses_submitted (school_id=? AND user_id=?)"},
		{"responses of a user by when they were created", responses(lyceum.ResponseByCreated), "INDEX quiz_responses_created (school_id=? AND user_id=?)"},
		{"responses of a user by their change", responses(lyceum.ResponseByUpdated), "INDEX quiz_responses_updated (school_id=? AND user_id=?)"},
		{"who is in a course", func() error {
			_, err := v.FindEnrolled(lyceum.EnrolledFilter{Course: 1}, lyceum.Page{Number: 1, Size: 20})
			return err
		}, "COVERING INDEX enrollments_course (school_id=? AND course_id=?)"},
		{"the chargebacks of sales", func() error {
			f := lyceum.TransactionQuery{Sales: []lyceum.SaleID{1, 2}}
			f.Chargeback = lyceum.Some(true)
			_, err := lyceum.All(v.Transactions, v, f)
			return err
		}, "INDEX transactions_sale (school_id=? AND sale_id=?)"},
		{"the enrollments of a product", func() error {
			_, err := v.FindHoldings(lyceum.HoldingFilter{Product: course.Value.Product()}, lyceum.Page{Number: 1, Size: 20})
			return err
		}, "COVERING INDEX entitlements_enrolled (school_id=? AND product_type=? AND product_id=?)"},
		{"the enrollments of a course, by completion", func() error {
			f := lyceum.HoldingFilter{Product: course.Value.Product(), ByCompletion: true}
			_, err := v.FindHoldings(f, lyceum.Page{Number: 1, Size: 20})
			return err
		}, "INDEX progress_completed (school_id=? AND course_id=?"},
		{"the enrollments of a user", func() error {
			f := lyceum.HoldingFilter{Product: course.Value.Product(), User: user}
			_, err := v.FindHoldings(f, lyceum.Page{Number: 1, Size: 20})
			return err
		}, "INDEX entitlements_user (school_id=? AND user_id=? AND product_type=? AND product_id=?)"},
		{"the courses of a user", func() error {
			_, err := v.FindEnrolledOf(1)
			return err
		}, "INDEX enrollments_user (school_id=? AND user_id=?)"},
	} {
		var plan []string
		for _, text := range by.statements(t, tc.name, tc.read) {
			if strings.HasPrefix(text, "SELECT") && !strings.HasPrefix(text, "SELECT COALESCE(string_agg(w.kind") {
				plan = planOf(t, store, text)
				break
			}
		}
		if got := strings.Join(plan, "\n"); !strings.Contains(got, tc.want) {
			t.Errorf("%s is found by\n%s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// TestPostgresFindsOneOfManyEnrollments checks that finding whether a user is enrolled in a
// course does not read all of their enrollments, even if PostgreSQL believes that users have only
// one.
func TestPostgresFindsOneOfManyEnrollments(t *testing.T) {
	t.Parallel()
	var query atomic.Value
	s, err := OpenPostgres(t.Context(), storetest.Postgres(t), Options{Trace: func(text string) {
		if strings.Contains(text, "FROM progress p") && !strings.Contains(text, "unnest") {
			query.Store(text)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	school := schoolOfDeeds(t, s)
	runIn(t, s, fmt.Sprintf(`INSERT INTO users (school_id, user_id, email, email_key, role, created_at)
		SELECT %[1]d, n, n || '@example.com', n || '@example.com', 'student', 0 FROM generate_series(1, 2000) n;
		INSERT INTO enrollments (school_id, enrollment_id, user_id, course_id, enrolled_at)
		SELECT %[1]d, n, n, 1 + n %% 3, 0 FROM generate_series(1, 2000) n; ANALYZE`, school))
	storetest.Write(t, s, school, func(tx lyceum.Tx) error { _, _, err := tx.MayBegin(1, 1); return err })
	text, _ := query.Load().(string)
	for name, explained := range map[string]string{
		"alone":       placeholder.ReplaceAllString(text, "1"),
		"with others": placeholder.ReplaceAllString(combine(text, []string{"int4", "int4", "int4"}), "'{1}'"),
	} {
		var plan []string
		for _, step := range lines(t, s, "EXPLAIN "+explained, 1) {
			plan = append(plan, step[0])
		}
		at := 1 + slices.IndexFunc(plan, func(step string) bool { return strings.Contains(step, " on enrollments e ") })
		if at == 0 || at == len(plan) || !strings.Contains(plan[at], "Index Cond") || !strings.Contains(plan[at], "(course_id = ") {
			t.Errorf("%s it is found by\n%s", name, strings.Join(plan, "\n"))
		}
	}
}

// TestPostgresFindsWorkByIndexes checks that looking for work does not read whole tables, although
// PostgreSQL believes that a third of their rows are after any time or number that it reads.
func TestPostgresFindsWorkByIndexes(t *testing.T) {
	t.Parallel()
	s := openTestPostgres(t)
	runIn(t, s, fmt.Sprintf(`INSERT INTO users (school_id, user_id, email, email_key, role, created_at)
		SELECT %[1]d, n, n || '@example.com', n || '@example.com', 'student', 0 FROM generate_series(1, 2000) n;
		INSERT INTO sales (school_id, sale_id, created_at, user_id, grace_from)
		SELECT %[1]d, n, 0, n, 1000 FROM generate_series(1, 2000) n;
		INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, imported, starts_at)
		SELECT %[1]d, n, n, 'course', 1, 0, 0 FROM generate_series(1, 2000) n;
		INSERT INTO journal (school_id, number, at, actor, type, object_id, event)
		SELECT %[1]d, 1000 + n, 0, 'system', 'user.created', n, 'User.created' FROM generate_series(1, 2000) n;
		INSERT INTO counters (school_id, name, value) VALUES (%[1]d, 'journal', 3000)
		ON CONFLICT (school_id, name) DO UPDATE SET value = 3000; ANALYZE`, schoolOfDeeds(t, s)))
	for name, text := range map[string]string{
		"overdue":      findOverdue,
		"undispatched": strings.Replace(findUndispatched, "$1", "'dispatched'", 1),
	} {
		var plan []string
		for _, step := range lines(t, s, "EXPLAIN "+placeholder.ReplaceAllString(text, "1"), 1) {
			plan = append(plan, step[0])
		}
		for _, table := range []string{"sales", "entitlements", "journal"} {
			if got := strings.Join(plan, "\n"); strings.Contains(got, "Seq Scan on "+table) {
				t.Errorf("%s schools are found by reading all %s:\n%s", name, table, got)
			}
		}
	}
}

func newest(by lyceum.CourseKey) lyceum.CourseOrder {
	return lyceum.CourseOrder{By: by, Descending: true}
}

func listed[ID lyceum.Key, T, F any](rows lyceum.Rows[ID, T, F], from lyceum.Source, f F) error {
	_, err := rows.List(from, f, lyceum.Page{Number: 1, Size: 20})
	return err
}

// Users who may use a product are found by who holds it, or what it comes with, not by reading
// what all users have.
func TestHoldersAreFoundByAnIndex(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	for _, kind := range lyceum.ProductKinds() {
		holders := func() error {
			of := lyceum.UserFilter{Product: lyceum.Some(lyceum.Product{Kind: kind, ID: 1})}
			_, err := v.UserSummaries.List(v, of, lyceum.Page{Number: 1, Size: 20})
			return err
		}
		for _, text := range by.statements(t, string(kind), holders) {
			if !strings.Contains(text, "FROM reaching") {
				continue
			}
			plan := planOf(t, store, text)
			got := strings.Join(plan, "\n")
			for _, want := range []string{
				"SEARCH users USING PRIMARY KEY (school_id=? AND user_id=?)",
				"SEARCH h USING COVERING INDEX entitlements_holders (school_id=? AND product_type=? AND product_id=?)",
			} {
				if !strings.Contains(got, want) {
					t.Errorf("who has a %s is found by\n%s\nwant %s", kind, got, want)
				}
			}
			for _, step := range plan {
				if strings.Contains(step, "SCAN") && step != "SCAN CONSTANT ROW" ||
					!strings.Contains(step, "_products_") && strings.HasSuffix(step, "(school_id=?)") ||
					strings.HasSuffix(step, "entitlements_holders (school_id=? AND product_type=?)") {
					t.Errorf("who has a %s is found by all of a school:\n%s\n%s", kind, step, got)
				}
			}
		}
	}
}
