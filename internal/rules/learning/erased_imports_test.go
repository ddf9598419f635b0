package learning_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestImportsDoNotBringErasedPeopleBack checks that a file from before a person was erased does not
// bring back what they wrote or their access, and that an export from afterwards is imported.
func TestImportsDoNotBringErasedPeopleBack(t *testing.T) {
	d := newDesk(t)
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error { return storetest.NewClassroom("ours").Save(tx) })
	by := lyceum.By{School: d.school, Actor: "import"}
	of := lyceum.Some[lyceum.UserID](2)
	answers := lyceum.Give(map[string]lyceum.QuestionAnswer{"4f1c0a7be2d95360": {Chosen: []string{"1"}}})
	var quiz lyceum.QuizID
	v := d.store.In(t.Context(), d.school)
	err := v.Attachments.Each(v, lyceum.AttachmentFilter{}, func(a *lyceum.Attachment) error {
		if a.Quiz != nil {
			quiz = a.Quiz.ID
		}
		return nil
	})
	if err != nil || quiz == 0 {
		t.Fatal(quiz, err)
	}
	comments := []lyceum.Comment{
		{ID: 901, Lecture: 11, User: 2, Body: "Zoltan", Attachments: []lyceum.CommentAttachment{{URL: "https://files.example.com/x", Kind: "image"}}, Status: lyceum.CommentApproved},
		{ID: 902, Lecture: 11, User: 3, Body: "Reply", Above: "901"},
	}
	responses := []lyceum.QuizResponse{{ID: 901, Quiz: quiz, User: 2, SubmittedAt: lyceum.Some(storetest.Begin), Answers: lyceum.Some(answers)}}
	authors := []lyceum.AuthorProfile{{ID: 901, UserID: of, Name: lyceum.Some("Zoltan"), Bio: lyceum.Some("Zoltan")}}
	affiliates := []lyceum.AffiliatePartner{{ID: 901, UserID: of, Name: lyceum.Some("Zoltan")}}
	enrollments := []lyceum.Enrollment{{ID: 901, User: 2, Course: 4, EnrolledAt: storetest.Begin}}
	refused := func(when string, want int) {
		t.Helper()
		_, p1, e1 := d.service.ImportComments(by).Save(t.Context(), comments)
		_, p2, e2 := d.service.ImportQuizResponses(by).Save(t.Context(), responses)
		_, p3, e3 := d.service.ImportAuthors(by).Save(t.Context(), authors)
		_, p4, e4 := d.service.ImportAffiliates(by).Save(t.Context(), affiliates)
		_, p5, e5 := d.service.ImportEnrollments(by).Save(t.Context(), enrollments)
		for i, problems := range [][]lyceum.RowProblem{p1, p2, p3, p4, p5} {
			if len(problems) != want {
				t.Errorf("%s: problems of import %d are %v", when, i+1, problems)
			}
		}
		for _, err := range []error{e1, e2, e3, e4, e5} {
			if err != nil {
				t.Fatal(when, err)
			}
		}
	}
	refused("before", 0)
	_, err = people.New(d.store, func() time.Time { return begin }).Erase(t.Context(), by, 2, people.Doors{
		Close: d.service.Close, Left: func(lyceum.SchoolID, string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	refused("afterwards", 1)
	comments[0], err = v.Comments.Get(v, 901)
	if err != nil || comments[0].Body != "" || len(comments[0].Attachments) > 0 {
		t.Errorf("%+v, %v", comments[0], err)
	}
	responses[0], err = v.QuizResponses.Get(v, 901)
	if err != nil || responses[0].Answers.Present {
		t.Errorf("%+v, %v", responses[0], err)
	}
	authors[0], err = v.Authors.Get(v, 901)
	if err != nil || authors[0].Name.Present || authors[0].Bio.Present {
		t.Errorf("%+v, %v", authors[0], err)
	}
	affiliates[0], err = v.Affiliates.Get(v, 901)
	if err != nil || affiliates[0].Name.Present {
		t.Errorf("%+v, %v", affiliates[0], err)
	}
	enrollments[0], err = v.Enrollments.Get(v, 901)
	if err != nil || !enrollments[0].EndedAt.Present {
		t.Errorf("%+v, %v", enrollments[0], err)
	}
	refused("an export", 0)
	saved, problems, err := d.service.ImportComments(by).Save(t.Context(), []lyceum.Comment{
		{ID: 911, Lecture: 11, User: 2, Body: "Zoltan"}, {ID: 912, Lecture: 11, User: 3, Body: "Reply", Above: "911"},
	})
	if err != nil || saved.Total() > 0 || len(problems) != 2 {
		t.Errorf("a reply to a comment that is rejected: %+v, %v, %v", saved, problems, err)
	}
}
