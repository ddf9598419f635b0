package server_test

import "strings"

// The quiz with fourTypes is 129. These are the keys of its questions.
const (
	clay, fire, wet, tools = "bf73ef78392169fe", "8493219e9e834208", "294cc4f340092918", "b23dfbff4253a8a7"
	ofQuiz129              = "course_id=1 lecture_id=13 quiz_id=129"
)

// fourAnswers returns answers to quiz 129, each given as JSON.
func fourAnswers(first, second, third, fourth string) string {
	return `{"answers":{"` + clay + `":` + first + `,"` + fire + `":` + second + `,"` + wet + `":` + third + `,"` + tools + `":` + fourth + `}}`
}

// myQuizRows are derived from contract/v2/my_quizzes.yaml, after newQuizRows.
var myQuizRows = slicesOf(
	ofV2("listCurrentUserQuizzes", "course_id=1 lecture_id=13",
		requestCase{name: "one", says: `{"data":[{"id":129,"graded":true,"instant_feedback":true,"href":"/v2/current_user/courses/1/lectures/13/quizzes/129",`},
		requestCase{name: "of a lecture without", values: "course_id=3 lecture_id=31", says: `{"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}}`},
		requestCase{name: "not published", values: "course_id=1 lecture_id=14", status: 404, says: `{"error":"resource_not_found","error_description":"there is no lecture 14 in course 1"}`},
		requestCase{name: "not theirs", values: "course_id=2 lecture_id=21", status: 404, says: "there is no course 2"},
		requestCase{name: "mistakes", query: "page=0&per_page=101&sort_by=id&sort_direction=up", status: 400, says: "sort_by must be created_at or updated_at"},
	), badPaths("v2", "listCurrentUserQuizzes", "lecture_id", "course_id=1"),
	ofV2("showCurrentUserQuiz", ofQuiz129,
		requestCase{name: "without the right answers", golden: "v2/my_quiz.json"},
		requestCase{name: "without questions", values: "course_id=1 lecture_id=12 quiz_id=120", says: `"questions":[]}`},
		requestCase{name: "another kind", values: "course_id=1 lecture_id=11 quiz_id=103", status: 404, says: "there is no quiz 103 in lecture 11"},
		requestCase{name: "of another lecture", values: "course_id=1 lecture_id=12 quiz_id=129", status: 404, says: "there is no quiz 129 in lecture 12"},
		requestCase{name: "not theirs", values: "course_id=2 lecture_id=21 quiz_id=129", status: 404, says: "there is no course 2"},
	), badPaths("v2", "showCurrentUserQuiz", "quiz_id", "course_id=1 lecture_id=11"),
	ofV2("showCurrentUserQuizResponse", ofQuiz129,
		requestCase{name: "before there is one", status: 404, says: "user 2 has no response to quiz 129"},
		requestCase{name: "from before answers were kept", values: "course_id=1 lecture_id=11 quiz_id=107", says: `"grade":{"correct":0,"percent_correct":0,"answered":1,"percent_answered":1,"remaining":0,"total":1},"answers":null,"results":null,"retakes_left":null}}`},
		requestCase{name: "not theirs", values: "course_id=2 lecture_id=21 quiz_id=129", status: 404, says: "there is no course 2"},
	), badPaths("v2", "showCurrentUserQuizResponse", "quiz_id", "course_id=1 lecture_id=11"),
	ofV2("updateCompliance", "course_id=1", requestCase{name: "two retakes", body: `{"requirements":{"quiz_maximum_retakes":2}}`}),
	ofV2("putCurrentUserQuizResponse", ofQuiz129,
		requestCase{name: "without a body", status: 400, says: `{"error":"invalid_request","error_description":"answers is required; it must be an object"}`},
		requestCase{name: "no object", body: `{"answers":[]}`, status: 400, says: "answers must be an object without repeated names"},
		requestCase{name: "a key twice", body: `{"answers":{"x":[],"x":[]}}`, status: 400, says: "answers must be an object without repeated names"},
		requestCase{name: "no lists", body: `{"answers":{"x":"1"}}`, status: 400, says: "answers must have lists of strings, or for matching objects of strings"},
		requestCase{name: "no texts", body: `{"answers":{"x":[1]}}`, status: 400, says: "answers must have lists of strings, or for matching objects of strings"},
		requestCase{name: "what is fixed", body: `{"answers":{},"grade":{}}`, status: 400, says: "grade is not accepted here; accepted: answers"},
		requestCase{name: "to no question", body: `{"answers":{}}`, status: 422, says: `{"error":"quiz_changed","error_description":"answers must be to the questions of quiz 129 as it is now: load it again. Without an answer: 294cc4f340092918, 8493219e9e834208, b23dfbff4253a8a7, bf73ef78392169fe"}`},
		requestCase{name: "to another question", body: strings.Replace(fourAnswers(`[]`, `[]`, `[]`, `{}`), clay, "c1a7", 1), status: 422, says: `load it again. Without an answer: bf73ef78392169fe. Not in the quiz: c1a7"`},
		requestCase{name: "an unknown answer", body: fourAnswers(`["3"]`, `[]`, `[]`, `{}`), status: 400, says: "answers to question 1 must be one of the ids 1, 2"},
		requestCase{name: "two answers to one", body: fourAnswers(`["1","2"]`, `[]`, `[]`, `{}`), status: 400, says: "answers to question 1 must be one answer"},
		requestCase{name: "an object for a list", body: fourAnswers(`{"p1":"1"}`, `[]`, `[]`, `{}`), status: 400, says: "answers to question 1 must be a list"},
		requestCase{name: "a list for an object", body: fourAnswers(`[]`, `[]`, `[]`, `["1"]`), status: 400, says: "answers to question 4 must be an object that has the id of an answer for each prompt"},
		requestCase{name: "a prompt twice", body: fourAnswers(`[]`, `[]`, `[]`, `{"p1":"3","p1":"1"}`), status: 400, says: "answers must be an object without repeated names"},
		requestCase{name: "an unknown prompt", body: fourAnswers(`[]`, `[]`, `[]`, `{"p3":"1"}`), status: 400, says: "answers to question 4 must have the ids of its prompts as names"},
		requestCase{name: "too long", body: fourAnswers(`[]`, `[]`, `["`+strings.Repeat("x", 2001)+`"]`, `{}`), status: 400, says: "answers to question 3 must be at most 2000 characters long"},
		requestCase{name: "graded at once", body: fourAnswers(`["1"]`, `["3","1","3"]`, `[" DAMP "]`, `{"p1":"3","p2":"2"}`), golden: "v2/my_response.json"},
		requestCase{name: "again", body: fourAnswers(`["1"]`, `["1","3"]`, `[" DAMP "]`, `{"p1":"3","p2":"2"}`), golden: "v2/my_response.json"},
		requestCase{name: "other answers", body: fourAnswers(`[]`, `[]`, `[]`, `{}`), says: `"grade":{"correct":0,"percent_correct":0,"answered":0,"percent_answered":0,"remaining":3,"total":3}`},
		requestCase{name: "the last retake", body: fourAnswers(`["1"]`, `[]`, `["wet"]`, `{"p1":"3","p2":"1"}`), says: `"retakes_left":0}}`},
		requestCase{name: "once too often", body: fourAnswers(`["2"]`, `[]`, `[]`, `{}`), status: 409, says: `{"error":"no_retakes_left","error_description":"user 2 answered quiz 129 3 times; course 1 allows 2 retakes"}`},
		requestCase{name: "the latest again", body: fourAnswers(`["1"]`, `[]`, `["wet"]`, `{"p1":"3","p2":"1"}`), says: `"grade":{"correct":3,"percent_correct":1,"answered":3,"percent_answered":1,"remaining":0,"total":3}`},
		requestCase{name: "of another lecture", values: "course_id=1 lecture_id=12 quiz_id=129", body: `{"answers":{}}`, status: 404, says: "there is no quiz 129 in lecture 12"},
		requestCase{name: "not theirs", values: "course_id=2 lecture_id=21 quiz_id=129", body: `{"answers":{}}`, status: 404, says: "there is no course 2"},
	),
	ofV2("showCurrentUserQuizResponse", ofQuiz129, requestCase{name: "the latest", says: `"answers":{"294cc4f340092918":["wet"],"8493219e9e834208":[],"b23dfbff4253a8a7":{"p1":"3","p2":"1"},"bf73ef78392169fe":["1"]},"results":[{"question_key":"bf73ef78392169fe","correct":true,"feedback":"Yes."},{"question_key":"8493219e9e834208","correct":false,"feedback":null},`}),
	ofV2("listUserQuizResponses", "user_id=2", requestCase{name: "what the learner answered", query: "lecture_id=13", says: `"total_count":3}`}),
	[]requestCase{{face: "v1", op: "ShowQuizResponses", name: "what the learner answered last", values: "course_id=1 lecture_id=13 quiz_id=129", says: `"student_id":2,"student_name":"Mira \u0026 Co ours","student_email":"mira@example.com","submitted_at":"2024-01-10T12:00:00Z","percent_correct":1}]`}},
	own("listEvents", requestCase{name: "of a learner's response", query: "types=Response.created", says: `"type":"Response.created"`}),
	own("updateQuiz",
		requestCase{name: "nothing", values: "quiz_id=129", body: `{}`, says: `"instant_feedback":true,`},
		requestCase{name: "what it is", values: "quiz_id=129", body: fourTypes, says: `"instant_feedback":true,`},
		requestCase{name: "no question counts", values: "quiz_id=129", body: `{"name":null,"instant_feedback":false,"graded":false}`, says: `"name":null,"position":1,"graded":false,"instant_feedback":false,"questions":[{"question_key":"bf73ef78392169fe",`},
		requestCase{name: "questions and whether they count", values: "quiz_id=129", body: `{"graded":true,"questions":[{"question":"x","question_type":"fill_blank","correct_answers":["y"]}]}`, status: 400, says: "graded must be left out with questions"},
		requestCase{name: "no questions", values: "quiz_id=129", body: `{"questions":[]}`, status: 400, says: "questions must be a list of 1 to 100 objects"},
		requestCase{name: "what nobody could answer", values: "quiz_id=129", body: `{"questions":[{"question":"x","question_type":"single","answers":["y"]}]}`, status: 400, says: "questions[0].answers must be at least 2"},
		requestCase{name: "mistakes", values: "quiz_id=129", body: `{"name":"","instant_feedback":1,"graded":"x","id":1}`, status: 400, says: "id is not accepted here; accepted: name, instant_feedback, graded, questions"},
		requestCase{
			name: "a question that stays, and another one", values: "quiz_id=129", says: `"questions":[{"question_key":"294cc4f340092918","question":"Clay is …","question_type":"fill_blank","graded":true,"answers":[{"id":"1","text":"damp","match":null}],`,
			body: `{"questions":[{"question":"Clay is …","question_type":"fill_blank","correct_answers":["damp"]},{"question":"Which day?","question_type":"single","answers":["one","two"],"correct_answers":["two"]}]}`,
		},
		requestCase{name: "another kind", values: "quiz_id=103", body: `{}`, status: 404, says: "there is no quiz 103"},
		requestCase{name: "unknown", values: "quiz_id=999", body: `{}`, status: 404, says: "there is no quiz 999"},
		requestCase{name: "no id", values: "quiz_id=0", body: `{}`, status: 400, says: "quiz_id must be an integer from 1 to 2147483647"},
	),
	ofV2("showCurrentUserQuizResponse", ofQuiz129, requestCase{name: "of before a change", says: `"grade":{"correct":3,"percent_correct":1,"answered":3,"percent_answered":1,"remaining":0,"total":3}`}),
	ofV2("putCurrentUserQuizResponse", ofQuiz129, requestCase{name: "to the questions of before", body: fourAnswers(`["1"]`, `[]`, `["wet"]`, `{"p1":"3","p2":"1"}`), status: 422, says: `"error":"quiz_changed"`}),
	ofV2("updateCompliance", "course_id=1", requestCase{name: "a thousand retakes", body: `{"requirements":{"quiz_maximum_retakes":1000}}`}),
)
