package intake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Authors returns the kind of the authors of courses. A file must have id; the other fields may
// be null.
func Authors() Kind[lyceum.AuthorProfile] {
	type row = lyceum.AuthorProfile
	return Kind[row]{
		name: "authors", list: "authors",
		id: func(a *row) int32 { return int32(a.ID) },
		columns: []column[row]{
			idColumn("id", func(a *row) *lyceum.AuthorID { return &a.ID }),
			optTextColumn("name", func(a *row) *lyceum.Opt[string] { return &a.Name }).always(),
			optTextColumn("bio", func(a *row) *lyceum.Opt[string] { return &a.Bio }).always().long(),
			optTextColumn("profile_image_url", func(a *row) *lyceum.Opt[string] { return &a.ProfileImageURL }).always(),
			optIDColumn("user_id", func(a *row) *lyceum.Opt[lyceum.UserID] { return &a.UserID }).always(),
			optPartColumn("share", func(a *row) *lyceum.Opt[float64] { return &a.Share }),
			optTimeColumn("archived_at", func(a *row) *lyceum.Opt[time.Time] { return &a.ArchivedAt }),
		},
	}
}

// stay identifies an enrollment without an id.
type stay struct {
	user   lyceum.UserID
	course lyceum.CourseID
	since  int64
}

// Enrollments returns the kind of learners' enrollments. A file must have every column but id;
// expires_at and ended_at may be null.
func Enrollments() Kind[lyceum.Enrollment] {
	type row = lyceum.Enrollment
	return Kind[row]{
		name: "enrollments", list: "enrollments",
		id: func(e *row) int32 { return int32(e.ID) },
		keys: []key[row]{
			hashed(identity("user_id, course_id and enrolled_at"), func(e *row) (stay, bool) {
				return stay{e.User, e.Course, e.EnrolledAt.Unix()}, e.ID == 0
			}),
			paired(
				lyceum.FieldError{
					Field:   "ended_at",
					Message: "must not be empty: an earlier row with the same user_id and course_id has none either",
				},
				func(e *row) (lyceum.CourseID, lyceum.UserID, bool) { return e.Course, e.User, !e.EndedAt.Present },
			),
		},
		columns: []column[row]{
			idColumn("id", func(e *row) *lyceum.EnrollmentID { return &e.ID }).optional(),
			idColumn("user_id", func(e *row) *lyceum.UserID { return &e.User }),
			idColumn("course_id", func(e *row) *lyceum.CourseID { return &e.Course }),
			timeColumn("enrolled_at", func(e *row) *time.Time { return &e.EnrolledAt }),
			optTimeColumn("expires_at", func(e *row) *lyceum.Opt[time.Time] { return &e.ExpiresAt }).always(),
			optTimeColumn("ended_at", func(e *row) *lyceum.Opt[time.Time] { return &e.EndedAt }).always(),
		},
	}
}

// CourseProgress returns the kind of learners' progress in courses. A file must have every
// column but id; those about completion and the certificate may be null.
func CourseProgress() Kind[lyceum.Progress] {
	type row = lyceum.Progress
	given := func(p *row) *lyceum.Certificate {
		p.Certificate.Present = true
		return &p.Certificate.Value
	}
	certified := func(p *row) bool { return p.Certificate.Present }
	percent := countColumn("percent_complete", func(p *row) *int32 { return &p.PercentComplete })
	count := percent.read
	percent.read = func(m *memo, c cell, p *row) string {
		if count(m, c, p) != "" || p.PercentComplete > 100 {
			return "must be an integer from 0 to 100, digits only"
		}
		return ""
	}
	serial := textColumn("certificate_serial_number", func(p *row) *string { return &given(p).SerialNumber })
	serial.text = false
	return Kind[row]{
		name: "progress", list: "progress",
		id: func(p *row) int32 { return int32(p.ID) },
		keys: []key[row]{
			paired(identity("user_id and course_id"), func(p *row) (lyceum.CourseID, lyceum.UserID, bool) {
				return p.Course, p.User, true
			}),
		},
		columns: []column[row]{
			idColumn("id", func(p *row) *lyceum.ProgressID { return &p.ID }).optional(),
			idColumn("user_id", func(p *row) *lyceum.UserID { return &p.User }),
			idColumn("course_id", func(p *row) *lyceum.CourseID { return &p.Course }),
			percent,
			optTimeColumn("completed_at", func(p *row) *lyceum.Opt[time.Time] { return &p.CompletedAt }).always(),
			within(timeColumn("certificate_issued_at", func(p *row) *time.Time { return &given(p).IssuedAt }), certified),
			within(idColumn("certificate_page_id", func(p *row) *int32 { return &given(p).PageID }), certified),
			within(serial, certified),
		},
	}
}

// LectureProgress returns the kind of completed lectures. A file must have every column but id.
func LectureProgress() Kind[lyceum.LectureProgress] {
	type row = lyceum.LectureProgress
	return Kind[row]{
		name: "lecture-progress", list: "lecture_progress",
		id: func(p *row) int32 { return int32(p.ID) },
		keys: []key[row]{
			paired(identity("user_id and lecture_id"), func(p *row) (lyceum.LectureID, lyceum.UserID, bool) {
				return p.Lecture, p.User, true
			}),
		},
		columns: []column[row]{
			idColumn("id", func(p *row) *lyceum.LectureProgressID { return &p.ID }).optional(),
			idColumn("user_id", func(p *row) *lyceum.UserID { return &p.User }),
			idColumn("course_id", func(p *row) *lyceum.CourseID { return &p.Course }),
			idColumn("lecture_id", func(p *row) *lyceum.LectureID { return &p.Lecture }),
			timeColumn("completed_at", func(p *row) *time.Time { return &p.CompletedAt }),
		},
	}
}

// response identifies a response without an id.
type response struct {
	user lyceum.UserID
	quiz lyceum.QuizID
	at   int64
}

// QuizResponses returns the kind of learners' quiz responses. A file must have quiz_id,
// user_id, submitted_at and percent_correct, a fraction of 1; the last two may be null.
func QuizResponses() Kind[lyceum.QuizResponse] {
	type row = lyceum.QuizResponse
	return Kind[row]{
		name: "quiz-responses", list: "quiz_responses",
		id: func(r *row) int32 { return int32(r.ID) },
		keys: []key[row]{
			hashed(identity("user_id, quiz_id and submitted_at"), func(r *row) (response, bool) {
				return response{r.User, r.Quiz, r.SubmittedAt.Value.Unix()}, r.ID == 0
			}),
		},
		columns: []column[row]{
			idColumn("id", func(r *row) *lyceum.QuizResponseID { return &r.ID }).optional(),
			idColumn("quiz_id", func(r *row) *lyceum.QuizID { return &r.Quiz }),
			idColumn("user_id", func(r *row) *lyceum.UserID { return &r.User }),
			optTimeColumn("submitted_at", func(r *row) *lyceum.Opt[time.Time] { return &r.SubmittedAt }).always(),
			optPartColumn("percent_correct", func(r *row) *lyceum.Opt[float64] { return &r.PercentCorrect }).always(),
			gradeColumn("correct", func(g *lyceum.Grade) *int32 { return &g.Correct }),
			gradeColumn("answered", func(g *lyceum.Grade) *int32 { return &g.Answered }),
			gradeColumn("total", func(g *lyceum.Grade) *int32 { return &g.Total }),
			answersColumn(),
			timeColumn("created_at", func(r *row) *time.Time { return &r.CreatedAt }).optional(),
			timeColumn("updated_at", func(r *row) *time.Time { return &r.UpdatedAt }).optional(),
		},
	}
}

// gradeColumn returns the column of one count of a response's grade.
func gradeColumn(name string, at func(*lyceum.Grade) *int32) column[lyceum.QuizResponse] {
	k := countColumn(name, func(r *lyceum.QuizResponse) *int32 {
		r.Counts.Present = true
		return at(&r.Counts.Value)
	})
	return within(k, func(r *lyceum.QuizResponse) bool { return r.Counts.Present }).optional()
}

// answersColumn returns the column of a response's answers, which is JSON.
func answersColumn() column[lyceum.QuizResponse] {
	return column[lyceum.QuizResponse]{
		name: "answers", nullable: true, json: true,
		read: func(_ *memo, c cell, r *lyceum.QuizResponse) string {
			answers, err := lyceum.GivenAnswers(c.text).Read()
			if err != nil || answers == nil {
				return `must be a JSON object with the answers by question_key, such as {"4f1c0a7be2d95360":["1"]}`
			}
			given := lyceum.Give(answers)
			if len(given) > lyceum.MaxGiven {
				return fmt.Sprintf("must be at most %d KiB long", lyceum.MaxGiven>>10)
			}
			r.Answers = lyceum.Some(given)
			return ""
		},
		write: func(e *encoder, r *lyceum.QuizResponse) {
			if raw := r.Raw(); raw != nil {
				e.json(raw)
			} else {
				e.null()
			}
		},
	}
}

// Tags returns the kind of users' tags: all tags of a user in one row, as a JSON list of
// strings.
func Tags() Kind[lyceum.UserTags] {
	type row = lyceum.UserTags
	return Kind[row]{
		name: "tags",
		id:   func(u *row) int32 { return int32(u.User) },
		columns: []column[row]{
			idColumn("user_id", func(u *row) *lyceum.UserID { return &u.User }),
			{
				name: "tags", required: true, json: true,
				read: func(_ *memo, c cell, u *row) string {
					if json.Unmarshal(c.text, &u.Tags) != nil || u.Tags == nil {
						return `must be a JSON list of strings such as ["VIP"]`
					}
					return ""
				},
				write: func(e *encoder, u *row) { e.json(u.Tags) },
			},
		},
	}
}

// Webhooks returns the kind of receivers of events. A file must have every column but created_at
// and deleted_at.
func Webhooks() Kind[lyceum.Webhook] {
	type row = lyceum.Webhook
	return Kind[row]{
		name: "webhooks", list: "webhooks",
		id: func(w *row) int32 { return int32(w.ID) },
		columns: []column[row]{
			idColumn("id", func(w *row) *lyceum.WebhookID { return &w.ID }),
			wordColumn("workflow_state", []lyceum.WebhookState{
				lyceum.WebhookVerified, lyceum.WebhookPending, lyceum.WebhookFailed,
			}, func(w *row) *lyceum.WebhookState { return &w.State }),
			textColumn("url", func(w *row) *string { return &w.URL }),
			textColumn("event_trigger", func(w *row) *string { return &w.EventTrigger }),
			countColumn("webhook_events_count", func(w *row) *int32 { return &w.EventsCount }),
			timeColumn("created_at", func(w *row) *time.Time { return &w.CreatedAt }).optional(),
			optTimeColumn("deleted_at", func(w *row) *lyceum.Opt[time.Time] { return &w.DeletedAt }),
		},
	}
}

// WebhookEvents returns the kind of events for webhooks. A file must have every column;
// last_attempted_at and response_http_status may be null.
func WebhookEvents() Kind[lyceum.WebhookEvent] {
	type row = lyceum.WebhookEvent
	return Kind[row]{
		name: "webhook-events", list: "events",
		id: func(e *row) int32 { return int32(e.ID) },
		columns: []column[row]{
			idColumn("id", func(e *row) *lyceum.WebhookEventID { return &e.ID }),
			wordColumn("workflow_state", []string{"pending", "delivered", "failed"}, func(e *row) *string { return &e.State }),
			idColumn("webhook_id", func(e *row) *lyceum.WebhookID { return &e.Webhook }),
			countColumn("attempt_count", func(e *row) *int32 { return &e.AttemptCount }),
			optTimeColumn("last_attempted_at", func(e *row) *lyceum.Opt[time.Time] { return &e.LastAttemptedAt }).always(),
			timeColumn("created_at", func(e *row) *time.Time { return &e.CreatedAt }),
			textColumn("object_type", func(e *row) *string { return &e.ObjectType }),
			countColumn("object_id", func(e *row) *int32 { return &e.ObjectID }), // 0 for a test
			optIDColumn("response_http_status", func(e *row) *lyceum.Opt[int32] { return &e.ResponseStatus }).always(),
		},
	}
}

// wordColumn returns a column that accepts the listed words.
func wordColumn[T any, W ~string](name string, words []W, at func(*T) *W) column[T] {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	last := len(list) - 1
	taken := "must be " + strings.Join(list[:last], ", ") + " or " + list[last]
	return column[T]{
		name: name, required: true,
		read: func(_ *memo, c cell, v *T) string {
			word := W(c.text)
			if !slices.Contains(words, word) {
				return taken
			}
			*at(v) = word
			return ""
		},
		write: func(e *encoder, v *T) { e.word(string(*at(v))) },
	}
}

// nullable makes a nullable column from that of a value.
func nullable[T any, V comparable](at func(*T) *lyceum.Opt[V], of func(at func(*T) *V) column[T]) column[T] {
	k := of(func(v *T) *V {
		o := at(v)
		o.Present = true
		return &o.Value
	})
	k.required = false
	return within(k, func(v *T) bool { return at(v).Present })
}

// optWordColumn returns a column that accepts the listed words and null.
func optWordColumn[T any, W ~string](name string, words []W, at func(*T) *lyceum.Opt[W]) column[T] {
	return nullable(at, func(at func(*T) *W) column[T] { return wordColumn(name, words, at) })
}

// countColumn returns a column of required integers that are not negative.
func countColumn[T any](name string, at func(*T) *int32) column[T] {
	return column[T]{
		name: name, required: true,
		read: func(_ *memo, c cell, v *T) string {
			n, ok := c.integer()
			if !ok || n < 0 {
				return countTaken
			}
			*at(v) = n
			return ""
		},
		write: func(e *encoder, v *T) { e.integer(int64(*at(v))) },
	}
}

func optCountColumn[T any](name string, at func(*T) *lyceum.Opt[int32]) column[T] {
	return nullable(at, func(at func(*T) *int32) column[T] { return countColumn(name, at) })
}

// optPartColumn returns a column of numbers from 0 to 1 that may be null.
func optPartColumn[T any](name string, at func(*T) *lyceum.Opt[float64]) column[T] {
	return optNumberColumn(name, 1, partTaken, at)
}

// optPercentColumn returns a column of percentages that may be null.
func optPercentColumn[T any](name string, at func(*T) *lyceum.Opt[float64]) column[T] {
	return optNumberColumn(name, 100, percentTaken, at)
}

func optNumberColumn[T any](name string, most float64, taken string, at func(*T) *lyceum.Opt[float64]) column[T] {
	return nullable(at, func(at func(*T) *float64) column[T] {
		return column[T]{
			name: name,
			read: func(_ *memo, c cell, v *T) string {
				n, ok := c.fraction(most)
				if !ok {
					return taken
				}
				*at(v) = n
				return ""
			},
			write: func(e *encoder, v *T) { e.number(*at(v)) },
		}
	})
}
