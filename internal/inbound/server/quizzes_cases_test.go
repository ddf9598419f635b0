package server_test

import "strings"

// quizRows are derived from contract/v2/quizzes.yaml.
var quizRows = slicesOf(
	ofV2("listLectureQuizzes", "course_id=1 lecture_id=11",
		requestCase{name: "all", golden: "v2/quizzes.json"},
		requestCase{name: "of a lecture without", values: "course_id=1 lecture_id=13", says: `{"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}}`},
		requestCase{name: "by their last change", query: "sort_by=updated_at&sort_direction=asc&per_page=1", says: `"data":[{"id":107,"graded":true,"instant_feedback":false,"href":"/v2/products/courses/1/lectures/11/quizzes/107",`},
		requestCase{name: "a page beyond", query: "page=2", says: `"data":[]`},
		requestCase{name: "of a lecture of another course", values: "course_id=2 lecture_id=11", status: 404, says: "there is no lecture 11 in course 2"},
		requestCase{name: "mistakes", query: "page=0&per_page=101&sort_by=id&sort_direction=up", status: 400, golden: "v2/quizzes_mistakes.json"},
	), badPaths("v2", "listLectureQuizzes", "lecture_id", "course_id=1"),
	ofV2("showLectureQuiz", "course_id=1 lecture_id=11 quiz_id=107",
		requestCase{name: "with questions", golden: "v2/quiz.json"},
		requestCase{name: "without", values: "course_id=1 lecture_id=12 quiz_id=120", says: `"questions":[]}`},
		requestCase{name: "another kind", values: "course_id=1 lecture_id=11 quiz_id=103", status: 404, says: "there is no quiz 103 in lecture 11"},
		requestCase{name: "of another lecture", values: "course_id=1 lecture_id=12 quiz_id=107", status: 404, says: "there is no quiz 107 in lecture 12"},
		requestCase{name: "of another course", values: "course_id=2 lecture_id=11 quiz_id=107", status: 404, says: "there is no lecture 11 in course 2"},
	), badPaths("v2", "showLectureQuiz", "quiz_id", "course_id=1 lecture_id=11"),
	ofV2("listLectureQuizResponses", "course_id=1 lecture_id=11 quiz_id=107",
		requestCase{name: "the latest of each learner", golden: "v2/responses.json"},
		requestCase{name: "of somebody without a name, no time, no grade", values: "course_id=1 lecture_id=12 quiz_id=120", golden: "v2/responses_bare.json"},
		requestCase{name: "of no quiz", values: "course_id=1 lecture_id=13 quiz_id=107", status: 404, says: "there is no quiz 107 in lecture 13"},
		requestCase{name: "of another course", values: "course_id=2 lecture_id=11 quiz_id=107", status: 404, says: "there is no lecture 11 in course 2"},
	),
)

// userResponseRows are derived from contract/v2/user_quiz_responses.yaml. Mira's response is
// from before answers were stored; Pia also responded in ownRows.
var userResponseRows = slicesOf(
	ofV2("listUserQuizResponses", "user_id=2",
		requestCase{name: "from before answers were kept", query: "include_answers=true", golden: "v2/user_responses_before.json"},
		requestCase{name: "with answers", values: "user_id=5", query: "include_answers=1&per_page=2", golden: "v2/user_responses.json"},
		requestCase{name: "without", values: "user_id=5", query: "per_page=1&sort_direction=desc", says: `"grade":{"correct":0,"percent_correct":0,"answered":1,"percent_answered":1,"remaining":0,"total":1}}],"meta":{"page":1,"per_page":1,"total_pages":3,"total_count":3}}`},
		requestCase{name: "twenty on a page", says: `"meta":{"page":1,"per_page":20,"total_pages":1,"total_count":2}}`},
		requestCase{name: "the first", query: "sort_direction=asc&per_page=1", says: `{"data":[{"response_id":1,`},
		requestCase{name: "changed last", query: "sort_by=updated_at&per_page=1", says: `{"data":[{"response_id":1,`},
		requestCase{name: "created last", query: "sort_by=created_at&per_page=1", says: `{"data":[{"response_id":3,`},
		requestCase{name: "submitted after", query: "submitted_after=2024-01-06T12:00:00Z", says: `"total_count":1}`},
		requestCase{name: "submitted until", query: "submitted_before=2024-01-06T12:00:00Z", says: `{"data":[{"response_id":1,`},
		requestCase{name: "of a lecture", query: "lecture_id=11&course_id=1", says: `"total_count":2}`},
		requestCase{name: "of another lecture", query: "lecture_id=12", says: `{"data":[],"meta":{"page":1,"per_page":20,"total_pages":0,"total_count":0}}`},
		requestCase{name: "of another course", query: "course_id=2", says: `"total_count":0}`},
		requestCase{name: "of a lecture in another course", query: "course_id=2&lecture_id=11", says: `"total_count":0}`},
		requestCase{name: "of an unknown lecture", query: "lecture_id=999", status: 404, says: "there is no lecture 999"},
		requestCase{name: "of an unknown course", query: "course_id=999", status: 404, says: "there is no course 999"},
		requestCase{name: "of somebody unknown", values: "user_id=999", status: 404, says: "there is no user 999"},
		requestCase{name: "mistakes", query: "lecture_id=x&course_id=0&sort_by=id&sort_direction=up&include_answers=yes&submitted_after=x&submitted_before=y&page=0&per_page=101", status: 400, golden: "v2/user_responses_mistakes.json"},
	), badPaths("v2", "listUserQuizResponses", "user_id", ""),
	ofV2("updateCompliance", "course_id=1", requestCase{name: "a least score", body: `{"requirements":{"quiz_minimum_score":50.1}}`}),
	ofV2("showUser", "user_id=2", requestCase{name: "who is below the least score", says: `"quizzes":{"total":1,"passed":0}`}),
	ofV2("showUser", "user_id=5", requestCase{name: "who reached it once", says: `"quizzes":{"total":1,"passed":1}`}),
	ofV2("updateCompliance", "course_id=1", requestCase{name: "a lower score", body: `{"requirements":{"quiz_minimum_score":50}}`}),
	ofV2("showUser", "user_id=2", requestCase{name: "who has just the least score", says: `"quizzes":{"total":1,"passed":1}`}),
)

// goneQuizRows come last, because other rows would miss what they delete.
var goneQuizRows = slicesOf(
	ofV2("deleteLectureQuiz", "course_id=1 lecture_id=12 quiz_id=120",
		requestCase{name: "of another lecture", values: "course_id=1 lecture_id=11 quiz_id=120", status: 404, says: "there is no quiz 120 in lecture 11"},
		requestCase{name: "another kind", values: "course_id=1 lecture_id=11 quiz_id=103", status: 404, says: "there is no quiz 103 in lecture 11"},
		requestCase{name: "for good"},
		requestCase{name: "again", status: 404, says: "there is no quiz 120 in lecture 12"},
	),
	ofV2("listUserQuizResponses", "user_id=3", requestCase{name: "to a deleted one", says: `"lecture":{"id":12,"name":"","href":"/v2/products/courses/1/lectures/12"},"quiz":{"id":120,"href":null},"graded":false,"submitted_at":null,"created_at":"2024-01-04T12:00:00Z","updated_at":"2024-01-04T12:00:00Z","grade":{"correct":0,"percent_correct":0,"answered":0,"percent_answered":0,"remaining":0,"total":0}}]`}),
	ofV2("showLectureQuiz", "course_id=1 lecture_id=12 quiz_id=120", requestCase{name: "a deleted one", status: 404, says: "there is no quiz 120 in lecture 12"}),
)

const fourTypes = `{"name":"Kiln","instant_feedback":true,"questions":[` +
	`{"question":"Which clay?","question_type":"single","answers":["red","white"],"correct_answers":["red"],"feedback":{"correct":"Yes."}},` +
	`{"question":"Which fire?","question_type":"multiple","graded":false,"answers":["a","b","c"],"correct_answers":["c","a"]},` +
	`{"question":"Clay is …","question_type":"fill_blank","correct_answers":["wet","damp"]},` +
	`{"question":"What for?","question_type":"matching","answers":["glazing"],"pairs":[{"prompt":"Wheel","match":"turning"},{"prompt":"Kiln","match":"firing"}],` +
	`"matching_prompt_heading":"Tool","matching_match_heading":"Use"}]}`

// newQuizRows are derived from contract/lyceum/quizzes.yaml.
var newQuizRows = slicesOf(
	own("createQuiz",
		requestCase{name: "of all four types", values: "lecture_id=13", body: fourTypes, golden: "lyceum/quiz.json"},
		requestCase{name: "in an unknown lecture", values: "lecture_id=999", body: fourTypes, status: 404, says: "there is no lecture 999"},
		requestCase{name: "without questions", values: "lecture_id=13", body: `{"questions":[]}`, status: 400, says: "questions must be a list of 1 to 100 objects"},
		requestCase{name: "too many", values: "lecture_id=13", body: `{"questions":[` + strings.Repeat(`{},`, 100) + `{}]}`, status: 400, says: "questions must be a list of 1 to 100 objects"},
		requestCase{
			name: "mistakes", values: "lecture_id=13", status: 400, golden: "lyceum/quiz_mistakes.json",
			body: `{"name":"","instant_feedback":1,"more":1,"questions":[{"question":"","question_type":"essay","graded":"x","answers":[""],"correct_answers":"x","pairs":[{"prompt":1,"more":2}],"feedback":{"wrong":"x"}}]}`,
		},
		requestCase{
			name: "what nobody could answer", values: "lecture_id=13", status: 400, golden: "lyceum/quiz_misfits.json",
			body: `{"questions":[{"question":"a","question_type":"single","answers":["x","y"],"correct_answers":["x","y"]},` +
				`{"question":"b","question_type":"single","answers":["x"],"correct_answers":["z"]},{"question":"c","question_type":"multiple","answers":["x","x"]},` +
				`{"question":"d","question_type":"fill_blank","answers":["x"],"pairs":[{"prompt":"p","match":"m"}]},` +
				`{"question":"e","question_type":"matching","answers":["m"],"correct_answers":["m"],"pairs":[{"prompt":"p","match":"m"},{"prompt":"p","match":"n"}]},` +
				`{"question":"a","question_type":"matching"}]}`,
		},
		requestCase{
			name: "larger than an import takes", values: "lecture_id=13", status: 400, says: "questions must take at most 524288 bytes as JSON",
			body: `{"questions":[` + longQuestion("a") + "," + longQuestion("b") + "," + longQuestion("c") + "," + longQuestion("d") + "," + longQuestion("e") + "," + longQuestion("f") + `]}`,
		},
	),
	ofV2("listLectureQuizzes", "course_id=1 lecture_id=13", requestCase{name: "a new one", says: `"graded":true,"instant_feedback":true,"href":"/v2/products/courses/1/lectures/13/quizzes/`}),
)

// longQuestion returns a question with 50 long answers.
func longQuestion(text string) string {
	answers := make([]string, 50)
	for i := range answers {
		answers[i] = `"` + strings.Repeat("x", 1900+i) + `"`
	}
	return `{"question":"` + text + `","question_type":"fill_blank","correct_answers":[` + strings.Join(answers, ",") + `]}`
}
