package server_test

// complianceRows are derived from contract/v2/compliance.yaml. Quiz 107 is in lecture 11 of
// course 1, and only half of it is right with the first answer.
var complianceRows = slicesOf(
	ofV2("showCompliance", "course_id=2",
		requestCase{name: "of a course without requirements", says: `{"data":{"requirements":{"video_completion_enforced":false,"quiz_pass_required":false,"quiz_minimum_score":null,"quiz_maximum_retakes":null,"lecture_order_required":false,"certificate_eligible":false},"certificate_settings":{"auto_issue":true,"template_id":null}}}`},
		requestCase{name: "unknown", values: "course_id=999", status: 404, says: "there is no course 999"},
	), badPaths("v2", "showCompliance", "course_id", ""),
	ofV2("updateCompliance", "course_id=2",
		requestCase{name: "without a body"},
		requestCase{name: "nothing", body: `{}`},
		requestCase{name: "nulls", body: `{"requirements":null,"certificate_settings":{"auto_issue":null,"template_id":null}}`},
		requestCase{name: "quizzes in any order", body: `{"requirements":{"quiz_pass_required":true}}`, status: 422, says: `{"code":"validation_failed","message":"requirements.lecture_order_required must be true where video_completion_enforced or quiz_pass_required is","errors":[{"field":"requirements.lecture_order_required",`},
		requestCase{name: "videos in any order", body: `{"requirements":{"video_completion_enforced":true,"lecture_order_required":false}}`, status: 422, says: `"field":"requirements.lecture_order_required"`},
		requestCase{name: "every field", body: `{"requirements":{"video_completion_enforced":true,"quiz_pass_required":true,"quiz_minimum_score":72.5,"quiz_maximum_retakes":3,"lecture_order_required":true},"certificate_settings":{"auto_issue":false,"template_id":1}}`},
		requestCase{name: "the order, which quizzes need", body: `{"requirements":{"lecture_order_required":false}}`, status: 422, says: `"field":"requirements.lecture_order_required"`},
		requestCase{name: "the page of another course", body: `{"certificate_settings":{"template_id":9}}`},
		requestCase{name: "an unknown page", body: `{"certificate_settings":{"template_id":8}}`, status: 422, says: "certificate_settings.template_id 8 matches no certificate page of this school; 1 is the default one"},
		requestCase{name: "every mistake", body: `{"requirements":{"video_completion_enforced":1,"quiz_pass_required":"x","quiz_minimum_score":101,"quiz_maximum_retakes":-1,"lecture_order_required":"x","certificate_eligible":true},"certificate_settings":{"auto_issue":2,"template_id":0},"name":"x"}`, status: 400, golden: "v2/compliance_mistakes.json"},
		requestCase{name: "the bounds", body: `{"requirements":{"quiz_minimum_score":0,"quiz_maximum_retakes":1000}}`},
		requestCase{name: "more retakes than there may be", body: `{"requirements":{"quiz_minimum_score":100.01,"quiz_maximum_retakes":1001}}`, status: 400, says: "quiz_maximum_retakes must be an integer from 0 to 1000"},
		requestCase{name: "every field again", body: `{"requirements":{"quiz_minimum_score":72.5,"quiz_maximum_retakes":3}}`},
		requestCase{name: "unknown", values: "course_id=999", body: `{}`, status: 404, says: "there is no course 999"},
	),
	ofV2("showCompliance", "course_id=2", requestCase{name: "with every field", golden: "v2/compliance.json"}),
	own("updateCourse", requestCase{name: "the order, which quizzes need", values: "course_id=2", body: `{"lecture_order":false}`, status: 400, says: "lecture_order_required must be true"}),
	own("showCourse", requestCase{name: "with what it asks for", values: "course_id=2", says: `"certificate_page_id":9,"certificate_auto_issue":false,"video_completion_enforced":true,"quiz_pass_required":true,"quiz_minimum_score":72.5,"quiz_maximum_retakes":3,`}),
	own("listChanges", requestCase{name: "a course with what it asks for", query: "types=course.updated&limit=100", says: `"quiz_minimum_score":72.5,"quiz_maximum_retakes":3,`}),
	ofV2("updateCompliance", "course_id=2", requestCase{name: "any score and any number of retakes", body: `{"requirements":{"quiz_pass_required":null,"quiz_minimum_score":null,"quiz_maximum_retakes":null}}`}),
	ofV2("showCompliance", "course_id=2", requestCase{name: "without a score and a limit", says: `"quiz_pass_required":true,"quiz_minimum_score":null,"quiz_maximum_retakes":null,`}),
)
