package events

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// sample renders the object of an event that did not happen, about a person, a course and a sale
// that do not exist. It has every field of a real one, every id is 0, and no real data leaves
// the school.
func (s *Service) sample(school lyceum.SchoolID, event lyceum.EventName, at time.Time) ([]byte, error) {
	made := madeUp{at: lyceum.Second(at)}
	object, detail := made.subject(event)
	if object == nil {
		return nil, fmt.Errorf("there is no sample of %s", event)
	}
	c := lyceum.ChangeRecord{Entry: lyceum.Entry{At: made.at, Event: lyceum.Some(event)}, Object: object}
	c.Detail = lyceum.Opt[string]{Value: detail, Present: detail != ""}
	return s.render(made.view(), school, &c)
}

// madeUp is a school that has one of everything.
type madeUp struct{ at time.Time }

// subject returns what an event is about, and its detail.
func (m madeUp) subject(event lyceum.EventName) (object any, detail string) {
	switch event {
	case lyceum.EnrollmentCreatedEvent, lyceum.EnrollmentCompletedEvent, lyceum.EnrollmentDisabledEvent:
		return lyceum.Enrollment{EnrolledAt: m.at}, ""
	case lyceum.AdmissionCreatedEvent, lyceum.AdmissionDisabledEvent:
		return lyceum.Admission{AdmittedAt: m.at, SaleID: lyceum.Some(lyceum.SaleID(0))}, ""
	case lyceum.LectureProgressEvent:
		return lyceum.LectureProgress{CompletedAt: m.at}, ""
	case lyceum.QuizResponseEvent:
		return lyceum.AttachedResponse{
			QuizResponse: lyceum.QuizResponse{
				SubmittedAt: lyceum.Some(m.at), PercentCorrect: lyceum.Some(1.0),
				Counts: lyceum.Some(lyceum.Grade{Correct: 1, Answered: 1, Total: 1}),
			},
		}, ""
	case lyceum.CommentCreatedEvent:
		return lyceum.Comment{Body: "A test comment", CreatedAt: m.at}, ""
	case lyceum.SaleCreatedEvent, lyceum.SubscriptionCanceledEvent:
		return m.sale(), ""
	case lyceum.TransactionCreatedEvent:
		return m.payment(), ""
	case lyceum.TransactionRefundedEvent:
		t := m.payment()
		t.AmountRefunded, t.RefundedAt = t.FinalPrice, lyceum.Some(m.at)
		return t, fmt.Sprintf(`{"amount_refunded":%d}`, price)
	case lyceum.AbandonedOrderEvent:
		return lyceum.PurchaseOrder{
			Email: m.person().Email, Name: m.person().Name, UserID: lyceum.Some(lyceum.UserID(0)), FinalPrice: price,
			Currency:  "USD",
			CreatedAt: m.at, ClosedAt: lyceum.Some(m.at),
		}, ""
	case lyceum.UserCreatedEvent, lyceum.MarketingAllowedEvent, lyceum.MarketingRefusedEvent:
		return lyceum.TaggedUser{User: m.person()}, ""
	case lyceum.UserUpdatedEvent:
		return lyceum.TaggedUser{User: m.person()}, `{"old_name":"Test","new_name":"Test Person","old_email":"` +
			m.person().Email + `","new_email":"` + m.person().Email + `"}`
	case lyceum.UserTagCreatedEvent, lyceum.UserTagRemovedEvent:
		return lyceum.TaggedUser{User: m.person()}, `{"name":"test"}`
	}
	return nil, ""
}

// price is the price of the made-up course, in cents.
const price = 1999

func (m madeUp) person() lyceum.User {
	return lyceum.User{
		Email: "test.person@example.com", Name: lyceum.Some("Test Person"), Role: lyceum.Student, CreatedAt: m.at,
	}
}

func (m madeUp) sale() lyceum.Sale {
	t := m.payment()
	return lyceum.SaleOf(&t)
}

func (m madeUp) payment() lyceum.Transaction {
	return lyceum.Transaction{
		CreatedAt: m.at, PurchasedAt: m.at, Charge: price, FinalPrice: price, Currency: "USD", Revenue: price, Paid: true,
	}
}

// view returns a school whose tables have the same row under every id.
func (m madeUp) view() lyceum.View {
	return lyceum.View{Tables: &lyceum.Tables{
		Users: only[lyceum.UserID, lyceum.User, lyceum.UserFilter]{row: m.person()},
		Courses: only[lyceum.CourseID, lyceum.Course, lyceum.CourseFilter]{row: lyceum.Course{
			Name: "Test Course", IsPublished: true, AuthorID: lyceum.Some(lyceum.AuthorID(0)), CreatedAt: m.at, UpdatedAt: m.at,
		}},
		Authors: only[lyceum.AuthorID, lyceum.AuthorProfile, lyceum.PartnerFilter]{
			row: lyceum.AuthorProfile{Name: lyceum.Some("Test Author")},
		},
		PricingPlans: only[lyceum.PricingPlanID, lyceum.PricingPlan, lyceum.PricingPlanFilter]{row: lyceum.PricingPlan{
			CourseID: lyceum.Some(lyceum.CourseID(0)), Name: "Test Plan", Price: price, Currency: "USD",
			Frequency: lyceum.OneTimePayment,
			CreatedAt: m.at, UpdatedAt: m.at,
		}},
		Coaching: only[lyceum.CoachingID, lyceum.Coaching, lyceum.ProductFilter]{row: lyceum.Coaching{
			Name: "Test Coaching", IsPublished: true, CreatedAt: m.at, UpdatedAt: m.at,
		}},
		Sales: only[lyceum.SaleID, lyceum.Sale, lyceum.SaleFilter]{row: lyceum.Sale{
			CreatedAt: m.at, PricingPlanID: lyceum.Some(lyceum.PricingPlanID(0)),
		}},
		Lectures: only[lyceum.LectureID, lyceum.Lecture, lyceum.LectureFilter]{row: lyceum.Lecture{
			Name: lyceum.Some("Test Lecture"), IsPublished: true,
		}},
		Progress: only[lyceum.ProgressID, lyceum.Progress, lyceum.ProgressFilter]{row: lyceum.Progress{
			PercentComplete: 100, CompletedAt: lyceum.Some(m.at),
		}},
		Transactions: only[lyceum.TransactionID, lyceum.Transaction, lyceum.TransactionQuery]{row: m.payment()},
		References: only[lyceum.TransactionID, lyceum.Reference, lyceum.ReferenceFilter]{
			row: lyceum.Reference{Name: "test"},
		},
		Attachments: only[lyceum.AttachmentID, lyceum.Attachment, lyceum.AttachmentFilter]{row: lyceum.Attachment{
			Quiz: &lyceum.Quiz{Questions: []lyceum.Question{{Graded: true}}},
		}},
	}}
}

// only is a table that has one row, under every id.
type only[ID lyceum.Key, T, F any] struct {
	lyceum.Table[ID, T, F]

	row T
}

func (o only[ID, T, F]) Get(lyceum.Source, ID) (T, error) { return o.row, nil }

func (o only[ID, T, F]) First(lyceum.Source, F) (T, bool, error) { return o.row, true, nil }

func (o only[ID, T, F]) Find(_ lyceum.Source, ids ...ID) (map[ID]T, error) {
	found := map[ID]T{}
	for _, id := range ids {
		found[id] = o.row
	}
	return found, nil
}

func (o only[ID, T, F]) Each(_ lyceum.Source, _ F, visit func(*T) error) error { return visit(&o.row) }
