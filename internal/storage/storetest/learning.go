package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Classroom is a small school with everything that learners and programs can request. Its texts
// contain a mark that distinguishes classrooms with the same ids.
type Classroom struct {
	Users           []lyceum.User
	Tags            map[lyceum.UserID][]string
	Authors         []lyceum.AuthorProfile
	Courses         []lyceum.Course
	Sections        []lyceum.LectureSection
	Lectures        []lyceum.Lecture
	Attachments     []lyceum.Attachment
	PricingPlans    []lyceum.PricingPlan
	Enrollments     []lyceum.Enrollment
	Progress        []lyceum.Progress
	LectureProgress []lyceum.LectureProgress
	QuizResponses   []lyceum.QuizResponse
	Webhooks        []lyceum.Webhook
	WebhookEvents   []lyceum.WebhookEvent
}

// Day returns noon on the n-th day of 2024.
func Day(n int) time.Time { return time.Date(2024, 1, n, 12, 0, 0, 0, time.UTC) }

// NewClassroom returns a classroom. User 2 is a learner in courses 1 and 3; user 3 is another,
// whose enrollment in course 1 has expired.
func NewClassroom(mark string) *Classroom {
	say := func(text string) lyceum.Opt[string] { return lyceum.Some(text + " " + mark) }
	at := func(n int) lyceum.Opt[time.Time] { return lyceum.Some(Day(n)) }
	number := lyceum.Some[int32]
	c := &Classroom{
		Users: []lyceum.User{
			{ID: 1, Email: "head@example.com", Name: say("Head"), Role: lyceum.Owner, CreatedAt: Day(1)},
			{
				ID: 2, Email: "mira@example.com", Name: say("Mira & Co"), Role: lyceum.Student, Src: say("fair"), CreatedAt: Day(2),
				LastSignInAt: at(9), LastSignInIP: lyceum.Some("192.0.2.7"),
			},
			{ID: 3, Email: "Noname@Example.com", Role: lyceum.Student, CreatedAt: Day(2)},
			{ID: 4, Email: "olu@example.com", Name: say("Olu"), Role: "tutor", CreatedAt: Day(3)},
			{ID: 5, Email: "pia@example.com", Name: say("Pia"), Role: lyceum.Affiliate, CreatedAt: Day(3)},
		},
		Tags: map[lyceum.UserID][]string{2: {"VIP " + mark, "autumn " + mark}, 4: {"VIP " + mark}},
		Authors: []lyceum.AuthorProfile{
			{
				ID: 1, Name: say("Ada"), Bio: say("<p>Turns clay & steel.</p>"),
				ProfileImageURL: lyceum.Some("https://files.example.com/ada.png"), UserID: lyceum.Some(lyceum.UserID(4)),
			},
			{ID: 2, Name: say("Grace")},
		},
		Courses: []lyceum.Course{
			{
				ID: 1, Name: "Pottery " + mark, Heading: say("Clay"), Description: say("<p>From the wheel</p>"), IsPublished: true,
				ImageURL: lyceum.Some("https://files.example.com/pot.png"), CreatedAt: Day(1), UpdatedAt: Day(4),
				AuthorID: lyceum.Some(lyceum.AuthorID(1)), IsListed: true, Certificate: number(9),
			},
			{ID: 2, Name: "Welding " + mark, CreatedAt: Day(2), UpdatedAt: Day(2), IsListed: true},
			{
				ID: 3, Name: "glass 100% " + mark, IsPublished: true, CreatedAt: Day(3), UpdatedAt: Day(3),
				AuthorID: lyceum.Some(lyceum.AuthorID(2)), LectureOrder: true,
			},
			{ID: 4, Name: "Empty " + mark, IsPublished: true, CreatedAt: Day(4), UpdatedAt: Day(9), IsListed: true},
		},
		Sections: []lyceum.LectureSection{
			{ID: 1, Course: 1, Name: "Beginning " + mark, IsPublished: true, Position: 2, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 2, Course: 1, Name: "Kiln " + mark, IsPublished: true, Position: 1, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 3, Course: 1, Name: "Drafts " + mark, Position: 3, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 4, Course: 2, Name: "Sparks " + mark, IsPublished: true, Position: 1, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 5, Course: 3, Name: "Furnace " + mark, IsPublished: true, Position: 1, CreatedAt: Day(1), UpdatedAt: Day(1)},
		},
		Lectures: []lyceum.Lecture{
			{ID: 11, Course: 1, Section: 1, Name: say("Wheel"), IsPublished: true, Position: 1, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 12, Course: 1, Section: 1, IsPublished: true, Position: 2, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 13, Course: 1, Section: 2, Name: say("Fire"), IsPublished: true, Position: 1, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 14, Course: 1, Section: 2, Name: say("Ash"), Position: 2, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 15, Course: 1, Section: 3, Name: say("Glaze"), IsPublished: true, Position: 1, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 21, Course: 2, Section: 4, Name: say("Arc"), IsPublished: true, Position: 1, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 31, Course: 3, Section: 5, Name: say("Heat"), IsPublished: true, Position: 1, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 32, Course: 3, Section: 5, Name: say("Blow"), IsPublished: true, Position: 2, CreatedAt: Day(1), UpdatedAt: Day(1)},
			{ID: 33, Course: 3, Section: 5, Name: say("Cool"), IsPublished: true, Position: 3, CreatedAt: Day(1), UpdatedAt: Day(1)},
		},
		Attachments: attachments(mark),
		PricingPlans: []lyceum.PricingPlan{
			{
				ID: 1, CourseID: lyceum.Some(lyceum.CourseID(1)), Name: "Once " + mark, Price: 1999, Currency: "USD",
				Frequency: lyceum.OneTimePayment, Description: say("All of it"), EnrollmentCap: number(50), CreatedAt: Day(1),
				UpdatedAt: Day(2),
			},
			{
				ID: 2, CourseID: lyceum.Some(lyceum.CourseID(1)), Name: "Monthly " + mark, Price: 500, Currency: "EUR",
				Frequency: lyceum.Subscription, BillingInterval: lyceum.Some("month"), BillingIntervalCount: number(1),
				FreeTrialLength: number(14), CreatedAt: Day(1), UpdatedAt: Day(1),
			},
			{
				ID: 3, CourseID: lyceum.Some(lyceum.CourseID(3)), Name: "Four times " + mark, Price: 700, Currency: "JPY",
				Frequency: lyceum.PaymentPlan, BillingInterval: lyceum.Some("week"), BillingIntervalCount: number(4),
				AccessLimitInterval: lyceum.Some("month"), AccessLimitDuration: number(6), CreatedAt: Day(2), UpdatedAt: Day(2),
			},
			{
				ID: 4, Name: "Bundle " + mark, Price: 9000, Currency: "USD", Frequency: lyceum.OneTimePayment, CreatedAt: Day(2),
				UpdatedAt: Day(2),
			},
			{
				ID: 5, CourseID: lyceum.Some(lyceum.CourseID(2)), Name: "Free " + mark, Currency: "USD", Frequency: lyceum.Free,
				AccessLimitDate: at(300), CreatedAt: Day(3), UpdatedAt: Day(3),
			},
			{
				ID: 6, CourseID: lyceum.Some(lyceum.CourseID(3)), Name: "Year " + mark, Price: 12000, Currency: "USD",
				Frequency: lyceum.Subscription, BillingInterval: lyceum.Some("year"), BillingIntervalCount: number(1),
				CreatedAt: Day(4), UpdatedAt: Day(4),
			},
			{
				ID: 7, CourseID: lyceum.Some(lyceum.CourseID(4)), Name: "Gift " + mark, Currency: "USD", Frequency: lyceum.Free,
				CreatedAt: Day(4), UpdatedAt: Day(4),
			},
		},
		Enrollments: []lyceum.Enrollment{
			{ID: 1, User: 4, Course: 1, EnrolledAt: Day(3), EndedAt: at(4)},
			{ID: 2, User: 2, Course: 1, EnrolledAt: Day(5)},
			{ID: 3, User: 3, Course: 1, EnrolledAt: Day(5), ExpiresAt: at(8)},
			{ID: 4, User: 4, Course: 1, EnrolledAt: Day(6), ExpiresAt: at(400)},
			{ID: 5, User: 2, Course: 3, EnrolledAt: Day(6)},
			{ID: 6, User: 5, Course: 1, EnrolledAt: Day(5)},
			{ID: 7, User: 2, Course: 2, EnrolledAt: Day(7)},
			{ID: 8, User: 3, Course: 3, EnrolledAt: Day(7)},
		},
		Progress: []lyceum.Progress{
			{ID: 1, User: 2, Course: 1, PercentComplete: 33},
			{
				ID: 2, User: 5, Course: 1, PercentComplete: 100, CompletedAt: at(9),
				Certificate: lyceum.Some(lyceum.Certificate{IssuedAt: Day(9), PageID: 9, SerialNumber: "cert_" + mark}),
			},
			{ID: 3, User: 3, Course: 1},
			{ID: 4, User: 2, Course: 3},
		},
		LectureProgress: []lyceum.LectureProgress{
			{ID: 1, User: 2, Course: 1, Lecture: 11, CompletedAt: Day(6)},
			{ID: 2, User: 5, Course: 1, Lecture: 11, CompletedAt: Day(7)},
			{ID: 3, User: 5, Course: 1, Lecture: 12, CompletedAt: Day(8)},
			{ID: 4, User: 5, Course: 1, Lecture: 13, CompletedAt: Day(9)},
		},
		QuizResponses: []lyceum.QuizResponse{
			{ID: 1, Quiz: 901, User: 2, SubmittedAt: at(6), PercentCorrect: lyceum.Some(0.5), CreatedAt: Day(6), UpdatedAt: Day(9)},
			{ID: 2, Quiz: 901, User: 5, SubmittedAt: at(7), PercentCorrect: lyceum.Some(1.0), CreatedAt: Day(7), UpdatedAt: Day(7)},
			{ID: 3, Quiz: 901, User: 2, SubmittedAt: at(8), CreatedAt: Day(8), UpdatedAt: Day(8)},
			{ID: 4, Quiz: 902, User: 3, CreatedAt: Day(4), UpdatedAt: Day(4)},
		},
		Webhooks: []lyceum.Webhook{
			{
				ID: 1, State: lyceum.WebhookVerified, URL: "https://hooks.example.com/" + mark, EventTrigger: "Enrollment.created",
				EventsCount: 25, CreatedAt: Day(1),
			},
			{
				ID: 2, State: lyceum.WebhookPending, URL: "https://hooks.example.com/new", EventTrigger: "User.created",
				CreatedAt: Day(8),
			},
			{
				ID: 3, State: lyceum.WebhookFailed, URL: "https://hooks.example.com/gone", EventTrigger: "Sale.created",
				EventsCount: 1, CreatedAt: Day(2),
			},
		},
		WebhookEvents: []lyceum.WebhookEvent{
			{
				ID: 100, Webhook: 3, State: "failed", AttemptCount: 4, LastAttemptedAt: at(3), CreatedAt: Day(2),
				ObjectType: "Sale", ObjectID: 7, ResponseStatus: number(410),
			},
			{ID: 101, Webhook: 1, State: "pending", CreatedAt: Day(9), ObjectType: "Enrollment", ObjectID: 8},
		},
	}
	for n := range 24 {
		c.WebhookEvents = append(c.WebhookEvents, lyceum.WebhookEvent{
			ID: lyceum.WebhookEventID(n + 1), Webhook: 1, State: "delivered", AttemptCount: 1, LastAttemptedAt: at(n/8 + 1),
			CreatedAt: Day(n/8 + 1), ObjectType: "Enrollment", ObjectID: int32(n%8 + 1),
			ResponseStatus: number(200 + int32(n%3)),
		})
	}
	return c
}

// attachments returns one attachment of every kind in lecture 11, and some in other lectures.
func attachments(mark string) []lyceum.Attachment {
	all := []lyceum.Attachment{}
	for n, kind := range lyceum.AttachmentKinds() {
		a := lyceum.Attachment{ID: lyceum.AttachmentID(101 + n), Lecture: 11, Kind: kind, Position: lyceum.Some(int32(n + 1))}
		switch kind {
		case lyceum.TextAttachment, lyceum.CodeDisplayAttachment, lyceum.CodeEmbedAttachment:
			a.Text = lyceum.Some("<b>" + string(kind) + " " + mark + "</b>")
		case lyceum.VideoAttachment:
			a.Video = lyceum.Some(lyceum.Video{
				URL: "https://video.example.com/" + mark + ".m3u8", ContentType: "application/x-mpegURL", Status: lyceum.VideoReady,
				Thumbnail: lyceum.Some("https://video.example.com/1.jpg"), Duration: lyceum.Some[int32](754),
			})
			a.Name, a.URL, a.FileSize, a.FileExtension = lyceum.Some("wheel "+mark),
				lyceum.Some("https://files.example.com/wheel.mp4"), lyceum.Some[int32](0), lyceum.Some("mp4")
		case lyceum.AudioAttachment, lyceum.ImageAttachment, lyceum.PDFAttachment:
			a.Name, a.URL = lyceum.Some("file "+mark), lyceum.Some("https://files.example.com/"+string(kind))
			a.FileSize, a.FileExtension = lyceum.Some[int32](2048), lyceum.Some(string(kind)[:3])
		case lyceum.QuizAttachment:
			a.Quiz = &lyceum.Quiz{ID: 901, Questions: lyceum.PlainQuestions(
				lyceum.PlainQuestion{
					Question: "Which clay? " + mark, QuestionType: "single", Answers: []string{"red " + mark, "white"},
					CorrectAnswers: []string{"red " + mark}, Graded: true,
				},
				lyceum.PlainQuestion{
					Question: "Which fire?", QuestionType: "multiple", Answers: []string{"a", "b", "c"},
					CorrectAnswers: []string{"a", "c"},
				},
			)}
		case lyceum.NativeCommentsAttachment, lyceum.UpsellAttachment:
		}
		all = append(all, a)
	}
	all = append(all,
		lyceum.Attachment{
			ID: 120, Lecture: 12, Kind: lyceum.QuizAttachment,
			Quiz: &lyceum.Quiz{ID: 902, Questions: []lyceum.Question{}},
		},
		lyceum.Attachment{ID: 121, Lecture: 12, Kind: lyceum.VideoAttachment}, // not processed yet
		lyceum.Attachment{
			ID: 122, Lecture: 31, Kind: lyceum.TextAttachment, Text: lyceum.Some("Heat it. " + mark),
			Position: lyceum.Some[int32](1),
		},
	)
	for i := range all {
		all[i].CreatedAt, all[i].UpdatedAt = Day(1), Day(1)
	}
	return all
}

// Save saves the classroom in a transaction.
func (c *Classroom) Save(tx lyceum.Tx) error {
	for _, save := range []func() (lyceum.Saved, error){
		func() (lyceum.Saved, error) { return tx.Users.Save(tx, c.Users...) },
		func() (lyceum.Saved, error) { return tx.Authors.Save(tx, c.Authors...) },
		func() (lyceum.Saved, error) { return tx.Courses.Save(tx, c.Courses...) },
		func() (lyceum.Saved, error) { return tx.LectureSections.Save(tx, c.Sections...) },
		func() (lyceum.Saved, error) { return tx.Lectures.Save(tx, c.Lectures...) },
		func() (lyceum.Saved, error) { return tx.Attachments.Save(tx, c.Attachments...) },
		func() (lyceum.Saved, error) { return tx.PricingPlans.Save(tx, c.PricingPlans...) },
		func() (lyceum.Saved, error) { return lyceum.Saved{}, Enroll(tx, c.Enrollments...) },
		func() (lyceum.Saved, error) { return tx.Progress.Save(tx, c.Progress...) },
		func() (lyceum.Saved, error) { return tx.LectureProgress.Save(tx, c.LectureProgress...) },
		func() (lyceum.Saved, error) { return tx.QuizResponses.Save(tx, c.QuizResponses...) },
		func() (lyceum.Saved, error) { return tx.Webhooks.Save(tx, c.Webhooks...) },
		func() (lyceum.Saved, error) { return tx.Deliveries.Save(tx, c.WebhookEvents...) },
	} {
		if _, err := save(); err != nil {
			return err
		}
	}
	for user, tags := range c.Tags {
		if _, err := tx.SetTags(user, tags); err != nil {
			return err
		}
	}
	return nil
}

// MakeClassroom creates a school with a classroom.
func MakeClassroom(t testing.TB, store lyceum.Store, mark string) (lyceum.SchoolID, *Classroom) {
	t.Helper()
	school, c := MakeSchool(t, store), NewClassroom(mark)
	Write(t, store, school, c.Save)
	return school, c
}

// Crowd adds n students with ids from first on, and enrolls them in a course one after the other,
// several in the same second.
func Crowd(t testing.TB, store lyceum.Store, school lyceum.SchoolID, course lyceum.CourseID, first, n int32) {
	t.Helper()
	Write(t, store, school, func(tx lyceum.Tx) error {
		users, enrollments := make([]lyceum.User, n), make([]lyceum.Enrollment, n)
		for i := range n {
			id := lyceum.UserID(first + i)
			users[i] = lyceum.User{
				ID: id, Email: fmt.Sprintf("crowd%d@example.com", id), Role: lyceum.Student,
				CreatedAt: Day(1),
			}
			enrollments[i] = lyceum.Enrollment{
				ID: lyceum.EnrollmentID(first + i), User: id, Course: course,
				EnrolledAt: Day(1).Add(time.Duration(i/7) * time.Second),
			}
		}
		if _, err := tx.Users.Save(tx, users...); err != nil {
			return err
		}
		return Enroll(tx, enrollments...)
	})
}
