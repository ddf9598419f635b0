package server_test

// quizRows are derived from contract/v2/quizzes.yaml.
var quizRows = slicesOf(
	ofV2("listLectureQuizzes", "course_id=1 lecture_id=11",
		asking{name: "all", golden: "v2/quizzes.json"},
		asking{name: "of a lecture without", values: "course_id=1 lecture_id=13", says: `{"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}}`},
		asking{name: "by their last change", query: "sort_by=updated_at&sort_direction=asc&per_page=1", says: `"data":[{"id":107,"graded":true,"instant_feedback":false,"href":"/v2/products/courses/1/lectures/11/quizzes/107",`},
		asking{name: "a page beyond", query: "page=2", says: `"data":[]`},
		asking{name: "of a lecture of another course", values: "course_id=2 lecture_id=11", status: 404, says: "there is no lecture 11 in course 2"},
		asking{name: "mistakes", query: "page=0&per_page=101&sort_by=id&sort_direction=up", status: 400, golden: "v2/quizzes_mistakes.json"},
	), badPaths("v2", "listLectureQuizzes", "lecture_id", "course_id=1"),
	ofV2("showLectureQuiz", "course_id=1 lecture_id=11 quiz_id=107",
		asking{name: "with questions", golden: "v2/quiz.json"},
		asking{name: "without", values: "course_id=1 lecture_id=12 quiz_id=120", says: `"questions":[]}`},
		asking{name: "another kind", values: "course_id=1 lecture_id=11 quiz_id=103", status: 404, says: "there is no quiz 103 in lecture 11"},
		asking{name: "of another lecture", values: "course_id=1 lecture_id=12 quiz_id=107", status: 404, says: "there is no quiz 107 in lecture 12"},
		asking{name: "of another course", values: "course_id=2 lecture_id=11 quiz_id=107", status: 404, says: "there is no lecture 11 in course 2"},
	), badPaths("v2", "showLectureQuiz", "quiz_id", "course_id=1 lecture_id=11"),
	ofV2("listLectureQuizResponses", "course_id=1 lecture_id=11 quiz_id=107",
		asking{name: "the latest of each learner", golden: "v2/responses.json"},
		asking{name: "of somebody without a name, no time, no grade", values: "course_id=1 lecture_id=12 quiz_id=120", golden: "v2/responses_bare.json"},
		asking{name: "of no quiz", values: "course_id=1 lecture_id=13 quiz_id=107", status: 404, says: "there is no quiz 107 in lecture 13"},
		asking{name: "of another course", values: "course_id=2 lecture_id=11 quiz_id=107", status: 404, says: "there is no lecture 11 in course 2"},
	),
)

// goneQuizRows come last: what is deleted is missed elsewhere.
var goneQuizRows = slicesOf(
	ofV2("deleteLectureQuiz", "course_id=1 lecture_id=12 quiz_id=120",
		asking{name: "of another lecture", values: "course_id=1 lecture_id=11 quiz_id=120", status: 404, says: "there is no quiz 120 in lecture 11"},
		asking{name: "another kind", values: "course_id=1 lecture_id=11 quiz_id=103", status: 404, says: "there is no quiz 103 in lecture 11"},
		asking{name: "for good"},
		asking{name: "again", status: 404, says: "there is no quiz 120 in lecture 12"},
	),
	ofV2("showLectureQuiz", "course_id=1 lecture_id=12 quiz_id=120", asking{name: "a deleted one", status: 404, says: "there is no quiz 120 in lecture 12"}),
)
