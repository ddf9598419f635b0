package learning_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// submission returns answers to quiz 107, by the keys of its questions.
func submission(t *testing.T, d *desk, first, second []string) learning.Submission {
	t.Helper()
	v := d.store.In(t.Context(), d.school)
	quiz, err := v.Attachments.Get(v, 107)
	if err != nil {
		t.Fatal(err)
	}
	of := learning.InCourse[lyceum.LectureID]{Course: 1, ID: 11}
	return learning.Submission{Quiz: learning.InLecture{Lecture: of, ID: 107}, Answers: map[string]lyceum.QuestionAnswer{
		quiz.Quiz.Questions[0].Key: {Chosen: first}, quiz.Quiz.Questions[1].Key: {Chosen: second},
	}}
}

// TestSubmittingAtOnce checks that the same answers submitted concurrently become one response,
// and that no retake is used twice.
func TestSubmittingAtOnce(t *testing.T) {
	t.Parallel()
	d := newClassroom(t)
	by := lyceum.By{School: d.school, Actor: "test", Learner: lyceum.Some(lyceum.UserID(2))}
	err := d.service.SetCompliance(t.Context(), by, learning.ComplianceChange{
		Course: 1, Retakes: lyceum.Some(lyceum.Some[int32](3)), // Mira has two responses
	})
	if err != nil {
		t.Fatal(err)
	}
	atOnce := func(all ...learning.Submission) (refused int) {
		var wait sync.WaitGroup
		failed := make([]error, len(all))
		for i := range all {
			wait.Go(func() { _, failed[i] = d.service.Submit(t.Context(), by, all[i]) })
		}
		wait.Wait()
		for _, err := range failed {
			if e, is := errors.AsType[*lyceum.Error](err); is && e.Code == "no_retakes_left" {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		}
		return refused
	}
	count := func() int {
		v := d.store.In(t.Context(), d.school)
		all, err := lyceum.All(v.QuizResponses, v, lyceum.QuizResponseFilter{Users: []lyceum.UserID{2}})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	same := submission(t, d, []string{"1"}, []string{"3", "1"})
	if refused := atOnce(same, same, same, same); refused != 0 || count() != 3 {
		t.Errorf("the same: %d refused, %d responses", refused, count())
	}
	others := []learning.Submission{
		submission(t, d, []string{"2"}, nil), submission(t, d, nil, []string{"1"}), submission(t, d, nil, []string{"2"}),
	}
	if refused := atOnce(others...); refused != 2 || count() != 4 {
		t.Errorf("others: %d refused, %d responses", refused, count())
	}
	if findings, err := d.store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

// TestResponsesOfOneSecond checks that a learner's responses in the same second are separate if
// a file has their ids, and one if it does not.
func TestResponsesOfOneSecond(t *testing.T) {
	t.Parallel()
	d := newClassroom(t)
	rows := d.service.ImportQuizResponses(lyceum.By{School: d.school, Actor: "import"})
	at := func(id lyceum.QuizResponseID) lyceum.QuizResponse {
		return lyceum.QuizResponse{ID: id, Quiz: 901, User: 3, SubmittedAt: lyceum.Some(storetest.Day(9)), PercentCorrect: lyceum.Some(0.5)}
	}
	for n, want := range []lyceum.Saved{{Created: 2}, {Unchanged: 2}} {
		if saved, problems, err := rows.Save(t.Context(), []lyceum.QuizResponse{at(71), at(72)}); err != nil || saved != want || len(problems) > 0 {
			t.Errorf("time %d: %+v, %v, %v", n+1, saved, problems, err)
		}
	}
	if saved, problems, err := rows.Save(t.Context(), []lyceum.QuizResponse{at(0)}); err != nil || saved.Created > 0 || len(problems) > 0 {
		t.Errorf("without an id: %+v, %v, %v", saved, problems, err)
	}
	wrong := at(73)
	wrong.SubmittedAt, wrong.Counts = lyceum.Some(storetest.Day(8)), lyceum.Some(lyceum.Grade{Correct: 2, Answered: 1, Total: 2})
	if _, problems, err := rows.Save(t.Context(), []lyceum.QuizResponse{wrong}); err != nil || len(problems) != 1 || problems[0].Field != "correct" {
		t.Errorf("more right than answered: %v, %v", problems, err)
	}
}
