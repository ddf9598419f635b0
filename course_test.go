package lyceum_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestPasses checks that a response passes exactly if its share of right answers is at least the
// minimum score, for all sizes of quizzes.
func TestPasses(t *testing.T) {
	for total := int32(1); total <= 100; total++ {
		for correct := range total + 1 {
			r := lyceum.QuizResponse{PercentCorrect: lyceum.Some(lyceum.Grade{Correct: correct, Total: total}.PercentCorrect())}
			for score := range int32(201) { // in halves of a percent
				c := lyceum.Compliance{Score: lyceum.Some(float64(score) / 2)}
				if got, want := c.Passes(&r), 200*correct >= score*total; got != want {
					t.Errorf("%d of %d passes at %v: %v", correct, total, c.Score.Value, got)
				}
			}
		}
	}
}
