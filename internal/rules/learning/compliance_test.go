package learning_test

import (
	"errors"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestQuizzesArePassed checks that a lecture can be completed only after its quiz is passed,
// that no quiz is answered more often than the course allows, and that completing the last
// lecture issues the certificate unless the course issues none.
func TestQuizzesArePassed(t *testing.T) {
	for name, issues := range map[string]bool{"with a certificate": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error { return storetest.NewClassroom("ours").Save(tx) })
			const ida, quiz = 60, 107
			by := lyceum.By{School: d.school, Actor: "test"}
			storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
				_, err := tx.Users.Save(tx, lyceum.User{ID: ida, Email: "ida@example.com", Role: lyceum.Student, CreatedAt: storetest.Day(1)})
				return errors.Join(err, storetest.Enroll(tx, lyceum.Enrollment{ID: 900, User: ida, Course: 1, EnrolledAt: storetest.Day(1)}))
			})
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(d.service.SetCompliance(t.Context(), by, learning.ComplianceChange{
				Course: 1, Order: lyceum.Some(true), Template: lyceum.Some[int32](lyceum.DefaultCertificate),
				Quizzes: lyceum.Some(true), Score: lyceum.Some(lyceum.Some(60.0)), Retakes: lyceum.Some(lyceum.Some[int32](1)), Issues: lyceum.Some(issues),
			}))
			complete := func(lecture lyceum.LectureID) error {
				_, err := d.service.Complete(t.Context(), by, ida, 1, lecture)
				return err
			}
			code := func(err error) string {
				e, _ := errors.AsType[*lyceum.Error](err)
				if e == nil {
					return ""
				}
				return e.Code
			}
			answer := func(right bool) error {
				answers := [][]string{{"white"}, {}}
				if right {
					answers = rightAnswers(t, d, quiz)
				}
				_, err := d.service.Answer(t.Context(), by, learning.Answer{Quiz: quiz, User: ida, Answers: answers})
				return err
			}
			must(complete(13))
			if err := complete(11); code(err) != "unmet_requirements" {
				t.Errorf("complete before the quiz was answered: %v", err)
			}
			must(answer(false))
			if err := complete(11); code(err) != "unmet_requirements" {
				t.Errorf("complete before the quiz was passed: %v", err)
			}
			must(answer(true))
			if err := answer(true); code(err) != "no_retakes_left" {
				t.Errorf("answered three times: %v", err)
			}
			must(complete(11))
			must(complete(12))
			p, err := d.service.Progress(t.Context(), by, ida, 1)
			must(err)
			c := p.Certificate
			if p.PercentComplete != 100 || c.Present != issues || issues && (c.Value.PageID != 1 || c.Value.SerialNumber == "" || c.Value.IssuedAt != p.CompletedAt.Value) {
				t.Errorf("the progress is %+v", p.Progress)
			}
			must(d.service.SetCompliance(t.Context(), by, learning.ComplianceChange{Course: 1, Issues: lyceum.Some(!issues)}))
			if _, err := d.service.Complete(t.Context(), by, ida, 1, 12); err != nil {
				t.Fatal(err)
			}
			again, err := d.service.Progress(t.Context(), by, ida, 1)
			must(err)
			if again.Certificate != c {
				t.Errorf("the certificate changed from %+v to %+v", c, again.Certificate)
			}
		})
	}
}

// rightAnswers returns the right answers to the questions of a quiz.
func rightAnswers(t *testing.T, d *desk, id lyceum.AttachmentID) (right [][]string) {
	t.Helper()
	v := d.store.In(t.Context(), d.school)
	a, err := v.Attachments.Get(v, id)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Quiz.Questions {
		right = append(right, a.Quiz.Questions[i].Plain().CorrectAnswers)
	}
	return right
}
