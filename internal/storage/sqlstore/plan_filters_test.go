package sqlstore

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// wholeTable matches a step of a plan that reads all rows of a school, and eachYear one that
// finds the years in which it sold by looking up each.
var (
	wholeTable = regexp.MustCompile(`^SCAN (\w{2,}$|\w+ USING)|USING (COVERING )?(PRIMARY KEY|INDEX \w+) \(school_id=\?\)$`)
	eachYear   = regexp.MustCompile(`^SEARCH q USING COVERING INDEX transactions_user |^SCAN sold$`)
)

// TestFewRowsAreNotFoundAmongAll guards against a pitfall: without estimates, SQLite believes
// that a school has few rows, and reads all of them by the primary key rather than using an index
// that does not have every column. That must not happen for a page or a total of a filter that
// matches few rows.
func TestFewRowsAreNotFoundAmongAll(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	user, course := lyceum.Some(lyceum.UserID(1)), lyceum.Some(lyceum.CourseID(1))
	lecture, month := lyceum.Some(lyceum.LectureID(1)), lyceum.Period{After: storetest.Day(1), Until: storetest.Day(28)}
	responses := func(of lyceum.QuizResponseFilter, period lyceum.Period) func() error {
		of.User, of.Submitted = user, period
		of.Order = lyceum.Some(lyceum.QuizResponseOrder{By: lyceum.ResponseBySubmitted, Descending: true})
		return func() error { return listed(v.QuizResponses, v, of) }
	}
	quiz, one := lyceum.Some(lyceum.QuizID(1)), []lyceum.UserID{1}
	responsesOf := func(f lyceum.QuizResponseFilter) func() error {
		return func() error { _, err := lyceum.All(v.QuizResponses, v, f); return err }
	}
	purchases := func(of lyceum.PurchaseFilter) func() error {
		of.User = user
		return func() error { return listed(v.Sales, v, lyceum.SaleFilter{Purchases: lyceum.Some(of)}) }
	}
	comments := func(of lyceum.CommentFilter, by lyceum.CourseKey) func() error {
		of.Order = newest(by)
		return func() error { return listed(v.Comments, v, of) }
	}
	awaiting := lyceum.Some(lyceum.CommentAwaiting)
	for name, read := range map[string]func() error{
		"purchases of a user":              purchases(lyceum.PurchaseFilter{}),
		"purchases of a user in a month":   purchases(lyceum.PurchaseFilter{Purchased: month}),
		"purchases of a user since a day":  purchases(lyceum.PurchaseFilter{Purchased: lyceum.Period{After: storetest.Day(1)}}),
		"active purchases of a user":       purchases(lyceum.PurchaseFilter{Purchased: month, Active: lyceum.Some(true)}),
		"free purchases of a user":         purchases(lyceum.PurchaseFilter{Purchased: month, Method: lyceum.Some(lyceum.ForFree)}),
		"responses of a user in a month":   responses(lyceum.QuizResponseFilter{}, month),
		"responses of a user until a day":  responses(lyceum.QuizResponseFilter{}, lyceum.Period{Until: storetest.Day(28)}),
		"responses of a user in a lecture": responses(lyceum.QuizResponseFilter{Lecture: lecture}, lyceum.Period{}),
		"responses of a user in a course":  responses(lyceum.QuizResponseFilter{Course: course}, lyceum.Period{}),
		"lectures of a course":             func() error { return listed(v.Lectures, v, lyceum.LectureFilter{Course: course}) },
		"attachments of a lecture":         func() error { return listed(v.Attachments, v, lyceum.AttachmentFilter{Lecture: lecture}) },
		"emails to a user":                 func() error { return listed(v.Emails, v, lyceum.EmailFilter{User: user}) },
		"emails that failed":               func() error { return listed(v.Emails, v, lyceum.EmailFilter{State: lyceum.Some(lyceum.EmailFailed)}) },
		"comments of a course":             comments(lyceum.CommentFilter{Course: course}, lyceum.CourseByCreated),
		"comments of a course by change":   comments(lyceum.CommentFilter{Course: course}, lyceum.CourseByUpdated),
		"comments of a course that wait":   comments(lyceum.CommentFilter{Course: course, Status: awaiting}, lyceum.CourseByCreated),
		"comments of a lecture":            comments(lyceum.CommentFilter{Lecture: lecture}, lyceum.CourseByCreated),
		"comments of a lecture by change":  comments(lyceum.CommentFilter{Lecture: lecture}, lyceum.CourseByUpdated),
		"comments of a lecture that wait":  comments(lyceum.CommentFilter{Lecture: lecture, Status: awaiting}, lyceum.CourseByCreated),
		"comments of a lecture in a month": comments(lyceum.CommentFilter{Lecture: lecture, Created: month}, lyceum.CourseByCreated),
		"receipts of a payment": func() error {
			return listed(v.Receipts, v, lyceum.ReceiptFilter{User: user, Transaction: lyceum.Some(lyceum.TransactionID(1))})
		},
		"pricing plans of a course": func() error {
			return listed(v.PricingPlans, v, lyceum.PricingPlanFilter{Product: lyceum.Some(course.Value.Product())})
		},
		"pricing plans of a collection": func() error {
			return listed(v.PricingPlans, v, lyceum.PricingPlanFilter{Product: lyceum.Some(lyceum.Product{Kind: lyceum.CollectionKind, ID: 1})})
		},
		"responses to a quiz":        func() error { return listed(v.QuizResponses, v, lyceum.QuizResponseFilter{Quiz: quiz}) },
		"responses of one to a quiz": responsesOf(lyceum.QuizResponseFilter{Quiz: quiz, Users: one}),
		"responses of one":           responsesOf(lyceum.QuizResponseFilter{Users: one}),
		"comments below a comment": func() error {
			f := lyceum.CommentFilter{Thread: lyceum.Some(lyceum.CommentID(1)), Below: lyceum.Some(lyceum.CommentID(2))}
			_, err := lyceum.All(v.Comments, v, f)
			return err
		},
		"comments of a thread in a course": func() error {
			f := lyceum.CommentFilter{Thread: lyceum.Some(lyceum.CommentID(1)), Course: course, Order: newest(lyceum.CourseByCreated)}
			return listed(v.Comments, v, f)
		},
		"sessions of a user": func() error {
			_, err := lyceum.All(v.Sessions, v, lyceum.SessionFilter{User: user})
			return err
		},
		"sessions of a user by page": func() error { return listed(v.Sessions, v, lyceum.SessionFilter{User: user, LastSeen: true}) },
		"entitlements of one": func() error {
			_, err := lyceum.All(v.Entitlements, v, lyceum.EntitlementFilter{Users: one})
			return err
		},
		"open entitlements of one": func() error {
			_, err := lyceum.All(v.Entitlements, v, lyceum.EntitlementFilter{Users: one, OpenAt: lyceum.Some(storetest.Day(1))})
			return err
		},
		"enrollments of one": func() error {
			_, err := lyceum.All(v.Enrollments, v, lyceum.EnrollmentFilter{Users: one})
			return err
		},
		"open enrollments of one": func() error {
			_, err := lyceum.All(v.Enrollments, v, lyceum.EnrollmentFilter{Users: one, Open: true})
			return err
		},
		"progress of one": func() error {
			_, err := lyceum.All(v.Progress, v, lyceum.ProgressFilter{Users: one})
			return err
		},
		"completed lectures of one": func() error {
			_, err := lyceum.All(v.LectureProgress, v, lyceum.LectureProgressFilter{Users: one})
			return err
		},
		"blocks of a user": func() error {
			_, err := lyceum.All(v.Blocks, v, lyceum.BlockFilter{User: user})
			return err
		},
		"blocks of users": func() error {
			_, err := lyceum.All(v.Blocks, v, lyceum.BlockFilter{Users: []lyceum.UserID{1, 2}})
			return err
		},
		"users of a month": func() error {
			f := lyceum.UserFilter{Created: month, Order: lyceum.UserOrder{By: lyceum.UserByName}}
			return listed(v.Users, v, f)
		},
		"users with some addresses": func() error {
			_, err := lyceum.All(v.Users, v, lyceum.UserFilter{Emails: []string{"a@example.com", "b@example.com"}})
			return err
		},
		"who holds a collection, from one on": func() error {
			of := []lyceum.Product{{Kind: lyceum.CollectionKind, ID: 1}}
			f := lyceum.EntitlementFilter{Products: of, OpenAt: lyceum.Some(storetest.Day(1)), After: lyceum.Some(lyceum.EntitlementID(7))}
			return listed(v.Entitlements, v, f)
		},
		"attachments of quizzes": func() error {
			_, err := lyceum.All(v.Attachments, v, lyceum.AttachmentFilter{Quizzes: []lyceum.QuizID{1, 2}})
			return err
		},
	} {
		for _, text := range by.statements(t, name, read) {
			for _, step := range planOf(t, store, text) {
				if wholeTable.MatchString(step) && !eachYear.MatchString(step) {
					t.Errorf("%s: %s, in\n%s", name, step, text)
				}
			}
		}
	}
}

// TestKnownOfAPersonIsFoundByIndexes checks that personal data is found by indexes, except in
// tables without an index by user.
func TestKnownOfAPersonIsFoundByIndexes(t *testing.T) {
	t.Parallel()
	store, by := spied(t)
	v := store.In(t.Context(), 1)
	texts := by.statements(t, "what is known of a person", func() error {
		return v.EachPersonal(7, func(string, []byte) error { return nil })
	})
	var whole []string
	for _, text := range texts {
		for _, step := range planOf(t, store, text) {
			if wholeTable.MatchString(step) && !eachYear.MatchString(step) {
				whole = append(whole, strings.Fields(step)[1])
			}
		}
	}
	slices.Sort(whole)
	want := []string{"admissions", "api_keys", "failed_requests", "journal", "links", "orders", "s", "s", "sales"}
	if !slices.Equal(whole, want) {
		t.Errorf("of a person, all rows of %q are read, want those of %q", whole, want)
	}
}
