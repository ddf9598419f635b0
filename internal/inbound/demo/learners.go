package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// maxLearners is how many of the users learn; the others are only buyers, so that a school
// of ten million sales can still be loaded.
const maxLearners lyceum.UserID = 20_000

// studies is what learners did, ready to be saved.
type studies struct {
	Enrollments     []lyceum.Enrollment
	Progress        []lyceum.Progress
	LectureProgress []lyceum.LectureProgress
	QuizResponses   []lyceum.QuizResponse
	Comments        []lyceum.Comment
	buyers          []lyceum.UserID // of any product, without duplicates
}

// classes enrolls buyers and simulates their progress.
type classes struct {
	school   *School
	lessons  *lessons
	rng      *rand.Rand
	enrolled map[seat]bool

	enrollments lyceum.EnrollmentID
	progress    lyceum.ProgressID
	steps       lyceum.LectureProgressID
	responses   lyceum.QuizResponseID
	comments    lyceum.CommentID
	talk        *rand.Rand
	studies     studies
}

type seat struct {
	user   lyceum.UserID
	course lyceum.CourseID
}

func (s *School) newClasses(l *lessons) *classes {
	return &classes{
		school: s, lessons: l, rng: s.seed.stream("classes"), talk: s.seed.stream("comments"), enrolled: map[seat]bool{},
	}
}

// begin enrolls the learner who has a password: in a course in progress, one that enforces
// its order, and a completed one.
func (c *classes) begin() studies {
	c.studies = studies{}
	since := c.school.Users[learnerID-1].CreatedAt
	for _, known := range []struct {
		course lyceum.CourseID
		share  float64
	}{{1, 0.4}, {3, 1}, {orderedCourse, 0.2}} {
		c.enroll(seat{learnerID, known.course}, since.AddDate(0, 0, int(known.course)), known.share)
	}
	return c.studies
}

// take returns the studies that result from a batch of transactions.
func (c *classes) take(b Batch) studies {
	c.studies = studies{}
	for i := range b.Transactions {
		t := &b.Transactions[i]
		plan := &c.school.PricingPlans[t.PricingPlanID-1]
		at := seat{t.UserID, plan.CourseID.Value}
		if t.UserID <= maxLearners {
			c.studies.buyers = append(c.studies.buyers, t.UserID)
		}
		if !plan.CourseID.Present || t.UserID > maxLearners || !t.Paid || c.enrolled[at] {
			continue
		}
		c.enroll(at, t.CreatedAt, c.share())
	}
	slices.Sort(c.studies.buyers)
	c.studies.buyers = slices.Compact(c.studies.buyers)
	return c.studies
}

// share returns the fraction of a course that a learner works through: a quarter of them
// complete it, some do nothing, the others something in between.
func (c *classes) share() float64 {
	switch n := c.rng.IntN(100); {
	case n < 25:
		return 1
	case n < 40:
		return 0
	}
	return c.rng.Float64()
}

func (c *classes) enroll(at seat, since time.Time, share float64) {
	c.enrolled[at] = true
	c.enrollments++
	e := lyceum.Enrollment{ID: c.enrollments, User: at.user, Course: at.course, EnrolledAt: since}
	fate := c.rng.IntN(100)
	const longest = 60 + 10 + 1 // days
	if at.user == learnerID || c.school.calendar.over(since.AddDate(0, 0, longest)) {
		fate = 99
	}
	switch {
	case fate < 6: // limited access, which may have expired
		e.ExpiresAt = lyceum.Some(since.AddDate(0, 6+c.rng.IntN(30), 0))
	case fate < 10: // ended
		e.EndedAt = lyceum.Some(since.AddDate(0, 0, 3+c.rng.IntN(60)))
	case fate < 12: // ended, and enrolled again
		e.EndedAt = lyceum.Some(since.AddDate(0, 0, 3+c.rng.IntN(20)))
		c.studies.Enrollments = append(c.studies.Enrollments, e)
		c.enrollments++
		e = lyceum.Enrollment{
			ID: c.enrollments, User: at.user, Course: at.course, EnrolledAt: e.EndedAt.Value.AddDate(0, 0, 10),
		}
	}
	c.studies.Enrollments = append(c.studies.Enrollments, e)
	c.work(at, since, share)
}

// work completes lectures one after the other, some days apart.
func (c *classes) work(at seat, since time.Time, share float64) {
	seen := c.lessons.seen[at.course]
	planned, done := int(share*float64(len(seen))), 0
	c.progress++
	p := lyceum.Progress{ID: c.progress, User: at.user, Course: at.course}
	when := since
	for n, lecture := range seen[:planned] {
		then := when.Add(time.Duration(1+c.rng.IntN(4*24*60)) * time.Minute)
		if c.school.calendar.over(then) {
			break
		}
		when, done = then, n+1
		c.steps++
		c.studies.LectureProgress = append(c.studies.LectureProgress, lyceum.LectureProgress{
			ID: c.steps, User: at.user, Course: at.course, Lecture: lecture, CompletedAt: when,
		})
		c.comment(at, lecture, when)
		if quiz, there := c.lessons.quizzes[lecture]; there && c.rng.IntN(3) > 0 {
			c.respond(&quiz, at.user, when)
		}
	}
	if len(seen) > 0 {
		p.PercentComplete = int32(100 * done / len(seen))
	}
	if done > 0 && done == len(seen) {
		p.CompletedAt = lyceum.Some(when)
		if page, gives := certificatePages[at.course]; gives {
			p.Certificate = lyceum.Some(lyceum.Certificate{
				IssuedAt: when, PageID: page, SerialNumber: fmt.Sprintf("cert_%08x%04x", c.rng.Uint32(), int32(p.ID)&0xffff),
			})
		}
	}
	c.studies.Progress = append(c.studies.Progress, p)
}

// respond submits a quiz a few minutes before its lecture is completed, sometimes twice.
func (c *classes) respond(quiz *lyceum.Quiz, user lyceum.UserID, complete time.Time) {
	for n := range 1 + c.rng.IntN(8)/7 {
		c.responses++
		at := complete.Add(time.Duration(n-9) * time.Minute)
		r := lyceum.QuizResponse{
			ID: c.responses, Quiz: quiz.ID, User: user, SubmittedAt: lyceum.Some(at), CreatedAt: at, UpdatedAt: at,
		}
		c.answer(&r, quiz)
		c.studies.QuizResponses = append(c.studies.QuizResponses, r)
	}
}

// answer answers the questions, a third of them wrong and a few not at all. A tenth of the
// responses has no answers, as if from a time before they were stored.
func (c *classes) answer(r *lyceum.QuizResponse, quiz *lyceum.Quiz) {
	given := make([]lyceum.QuestionAnswer, len(quiz.Questions))
	answers := map[string]lyceum.QuestionAnswer{}
	for i := range given {
		q := &quiz.Questions[i]
		if c.rng.IntN(12) > 0 {
			given[i] = guess(q, c.rng.IntN(3) > 0)
		}
		answers[q.Key] = q.Tidy(given[i])
	}
	counts, err := quiz.Grade(given)
	if err != nil {
		panic(err) // guesses are always valid
	}
	if quiz.IsGraded() {
		r.PercentCorrect = lyceum.Some(counts.PercentCorrect())
	}
	if c.rng.IntN(10) > 0 {
		r.Counts, r.Answers = lyceum.Some(counts), lyceum.Some(lyceum.Give(answers))
	}
}

// guess answers a question, correctly or not.
func guess(q *lyceum.Question, right bool) lyceum.QuestionAnswer {
	switch q.QuestionType {
	case lyceum.FillBlankQuestion:
		if !right {
			return lyceum.QuestionAnswer{Chosen: []string{"edge"}}
		}
		return lyceum.QuestionAnswer{Chosen: []string{q.Answers[0].Text}}
	case lyceum.MatchingQuestion:
		a := lyceum.QuestionAnswer{Matched: map[string]string{}}
		for i, prompt := range q.Prompts {
			if !right {
				i = (i + 1) % len(q.Prompts)
			}
			a.Matched[prompt.ID] = q.Correct[i]
		}
		return a
	}
	if !right {
		return lyceum.QuestionAnswer{Chosen: []string{q.Answers[len(q.Answers)-1].ID}}
	}
	return lyceum.QuestionAnswer{Chosen: q.Correct}
}

// tags are those of users; the staff has none.
var tags = [...]string{"VIP", "newsletter", "spring 2024", "workshop: clay", "asked for an invoice"}

func (s *School) tagsOf(user lyceum.UserID) []string {
	if user <= lastAuthorID || user%4 != 3 {
		return nil
	}
	own := []string{tags[int(user/4)%len(tags)]}
	if user%12 == 3 || user == learnerID {
		own = append(own, tags[int(user/4+2)%len(tags)])
	}
	return own
}

// webhooks returns receivers in every state, with the events of the last days of the
// school.
func (s *School) webhooks() ([]lyceum.Webhook, []lyceum.WebhookEvent) {
	begin := s.calendar.time(closing - 60*day)
	hooks := []lyceum.Webhook{
		{
			ID: 1, State: lyceum.WebhookVerified, URL: "https://hooks.example.com/enrollments",
			EventTrigger: "Enrollment.created", CreatedAt: begin,
		},
		{
			ID: 2, State: lyceum.WebhookFailed, URL: "https://old.example.com/in?token=4711", EventTrigger: "Sale.created",
			CreatedAt: begin,
		},
		{
			ID: 3, State: lyceum.WebhookPending, URL: "https://hooks.example.com/people", EventTrigger: "User.created",
			CreatedAt: begin.AddDate(0, 0, 58),
		},
	}
	var events []lyceum.WebhookEvent
	send := func(hook int, state string, attempts int32, status lyceum.Opt[int32], objectType string, object int32) {
		at := begin.Add(time.Duration(len(events)+1) * 7 * time.Hour)
		e := lyceum.WebhookEvent{
			ID: lyceum.WebhookEventID(len(events) + 1), Webhook: hooks[hook].ID, State: state, AttemptCount: attempts,
			CreatedAt: at, ObjectType: objectType, ObjectID: object, ResponseStatus: status,
		}
		if attempts > 0 {
			e.LastAttemptedAt = lyceum.Some(at.Add(time.Duration(attempts*attempts) * time.Minute))
		}
		hooks[hook].EventsCount++
		events = append(events, e)
	}
	for n := range int32(40) {
		if n%13 == 7 {
			send(0, "delivered", 3, lyceum.Some[int32](204), "Enrollment", n+1)
		} else {
			send(0, "delivered", 1, lyceum.Some[int32](200), "Enrollment", n+1)
		}
	}
	send(1, "failed", 4, lyceum.Some[int32](500), "Sale", 1)
	for n := range int32(5) {
		send(1, "failed", 0, lyceum.Some[int32](410), "Sale", n+2)
	}
	send(0, "pending", 0, lyceum.None[int32](), "Enrollment", 41)
	return hooks, events
}
