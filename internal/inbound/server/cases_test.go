package server_test

import "strings"

// requestCases are rows derived from contract/*.yaml and docs/divergences.md. Those that change
// something come after those that only read.
var requestCases = slicesOf(
	v1Courses, v1Lectures, v1People, v1Money, v1Learner, v2Rows, enrollmentRows, completionRows, completingRows,
	v1Enrolling, v1Completing, v1UserChanges, v1LearnerChanges, v2Changes,
	ownRows, shopRows, statementRows, reportRows, downloadRows, downloadFileRows, uploadRows, productRows, archivedRows, clockRows, snapshotRows, changeRows, accessRows, emailRows,
	shopV2Rows,
	contentsRows,
	purchaseRows,
	studioRows,
	learnerRows, learnerContentsRows, profileRows,
	memberRows,
	peopleRows,
	anyProductRows,
)

// shopV2Rows are derived from contract/v2: pricing plans and coupons.
var shopV2Rows = slicesOf(productPlanRows, productCouponRows)

func slicesOf(lists ...[]requestCase) (all []requestCase) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// notNumber are values that are invalid for every id in a path and every page.
var notNumber = []string{"0", "-1", "abc", "01", "1.0", "2147483648", "%31x", "+1"}

var v1Courses = slicesOf([]requestCase{
	{face: "v1", op: "ListCourses", name: "all", golden: "v1/courses.json"},
	{face: "v1", op: "ListCourses", name: "second page of two", query: "per=2&page=2", golden: "v1/courses_page2.json"},
	{face: "v1", op: "ListCourses", name: "beyond the last", query: "page=2147483647", says: `"courses":[],"meta":{"total":4,"page":2147483647,"from":0,"to":0,"per_page":20,"number_of_pages":1}`},
	{face: "v1", op: "ListCourses", name: "a part of the name in any case", query: "name=POTT", says: `"total":1,`},
	{face: "v1", op: "ListCourses", name: "a name with a percent sign", query: "name=100%25", says: `"total":1,`},
	{face: "v1", op: "ListCourses", name: "no such name", query: "name=nothing", says: `{"courses":[],"meta":{"total":0,"page":1,"from":0,"to":0,"per_page":20,"number_of_pages":0}}`},
	{face: "v1", op: "ListCourses", name: "published", query: "is_published=true", says: `"total":3,`},
	{face: "v1", op: "ListCourses", name: "not published", query: "is_published=0", says: `"name":"Welding ours"`},
	{face: "v1", op: "ListCourses", name: "of an author", query: "author_bio_id=2", says: `"total":1,`},
	{face: "v1", op: "ListCourses", name: "created then or later", query: "created_at=2024-01-03T12:00:00Z", says: `"total":2,`},
	{face: "v1", op: "ListCourses", name: "created a second later", query: "created_at=2024-01-03T12:00:01Z", says: `"total":1,`},
	{face: "v1", op: "ListCourses", name: "filters together", query: "name=o&is_published=1&author_bio_id=1", says: `"total":1,`},
	{face: "v1", op: "ListCourses", name: "unknown parameters are ignored", query: "per_page=1&foo=bar", says: `"per_page":20`},
	{face: "v1", op: "ListCourses", name: "an empty name", query: "name=", status: 400, says: "name must not be empty"},
	{face: "v1", op: "ListCourses", name: "a name with NUL", query: "name=a%00", status: 400, says: "name must be UTF-8 text without NUL characters"},
	{face: "v1", op: "ListCourses", name: "a name that is no UTF-8", query: "name=%ff", status: 400, says: "name must be UTF-8 text without NUL characters"},
	{face: "v1", op: "ListCourses", name: "every mistake is named", query: "page=0&per=x&is_published=maybe&author_bio_id=y&created_at=never", status: 400, golden: "v1/courses_mistakes.json"},
	{face: "v1", op: "ListCourses", name: "a parameter twice", query: "page=1&page=2", status: 400, says: "page must be sent once"},
	{face: "v1", op: "ShowCourse", name: "with author and contents", values: "course_id=1", golden: "v1/course.json"},
	{face: "v1", op: "ShowCourse", name: "without both", values: "course_id=4", golden: "v1/course_empty.json"},
	{face: "v1", op: "ShowCourse", name: "not published", values: "course_id=2", says: `"is_published":false`},
	{face: "v1", op: "ShowCourse", name: "another writing of its id", values: "course_id=007", status: 400, says: `{"message":"course_id must be an integer from 1 to 2147483647, without a sign and without leading zeros"}`},
	{face: "v1", op: "ShowCourse", name: "unknown", values: "course_id=999", status: 404, says: `{"message":"there is no course 999"}`},
	{face: "v1", op: "ShowCourseEnrollments", name: "active ones, newest first", values: "course_id=1", golden: "v1/enrollments.json"},
	{face: "v1", op: "ShowCourseEnrollments", name: "oldest first", values: "course_id=1", query: "sort_direction=asc&per=1", says: `"user_id":2,`},
	{face: "v1", op: "ShowCourseEnrollments", name: "after is excluded", values: "course_id=1", query: "enrolled_in_after=2024-01-05T12:00:00Z", says: `"total":1,`},
	{face: "v1", op: "ShowCourseEnrollments", name: "before is included", values: "course_id=1", query: "enrolled_in_before=2024-01-05T12:00:00Z", says: `"total":2,`},
	{face: "v1", op: "ShowCourseEnrollments", name: "of an empty course", values: "course_id=4", says: `{"enrollments":[],"meta":{"total":0,"page":1,"from":0,"to":0,"per_page":10000,"number_of_pages":0}}`},
	{face: "v1", op: "ShowCourseEnrollments", name: "of an unknown course", values: "course_id=999", status: 404, says: "there is no course 999"},
	{face: "v1", op: "ShowCourseEnrollments", name: "mistakes", values: "course_id=x", query: "sort_direction=up&enrolled_in_after=x&enrolled_in_before=y&page=0&per=0", status: 400, golden: "v1/enrollments_mistakes.json"},
	{face: "v1", op: "CourseProgress", name: "begun", values: "course_id=1", query: "user_id=2", golden: "v1/progress.json"},
	{face: "v1", op: "CourseProgress", name: "completed, with certificate", values: "course_id=1", query: "user_id=5", golden: "v1/progress_completed.json"},
	{face: "v1", op: "CourseProgress", name: "of the latest enrollment", values: "course_id=1", query: "user_id=4", says: `"enrolled_at":"2024-01-06T12:00:00Z"`},
	{face: "v1", op: "CourseProgress", name: "not begun", values: "course_id=3", query: "user_id=2", golden: "v1/progress_not_begun.json"},
	{face: "v1", op: "CourseProgress", name: "expired", values: "course_id=1", query: "user_id=3", says: `"percent_complete":0`},
	{face: "v1", op: "CourseProgress", name: "pages count lectures", values: "course_id=1", query: "user_id=5&per=2&page=2", golden: "v1/progress_page2.json"},
	{face: "v1", op: "CourseProgress", name: "never enrolled", values: "course_id=4", query: "user_id=2", status: 404, says: "user 2 was never enrolled in course 4"},
	{face: "v1", op: "CourseProgress", name: "unknown user", values: "course_id=1", query: "user_id=999", status: 404, says: "there is no user 999"},
	{face: "v1", op: "CourseProgress", name: "unknown course", values: "course_id=999", query: "user_id=2", status: 404, says: "there is no course 999"},
	{face: "v1", op: "CourseProgress", name: "without user_id", values: "course_id=1", status: 400, says: "user_id is required; it must be an integer from 1 to 2147483647"},
	{face: "v1", op: "CourseProgress", name: "an invalid user_id", values: "course_id=1", query: "user_id=mira", status: 400, says: "user_id must be an integer"},
}, badPaths("v1", "ShowCourse", "course_id", ""))

var v1Lectures = slicesOf([]requestCase{
	{face: "v1", op: "ShowLecture", name: "every kind of attachment", values: "course_id=1 lecture_id=11", golden: "v1/lecture.json"},
	{face: "v1", op: "ShowLecture", name: "no name, no attachment", values: "course_id=1 lecture_id=13", says: `"attachments":[]`},
	{face: "v1", op: "ShowLecture", name: "not published", values: "course_id=1 lecture_id=14", says: `"is_published":false`},
	{face: "v1", op: "ShowLecture", name: "of another course", values: "course_id=2 lecture_id=11", status: 404, says: "there is no lecture 11 in course 2"},
	{face: "v1", op: "ShowLecture", name: "of no course", values: "course_id=999 lecture_id=11", status: 404, says: "there is no course 999"},
	{face: "v1", op: "ShowVideo", name: "ready", values: "course_id=1 lecture_id=11 video_id=103", golden: "v1/video.json"},
	{face: "v1", op: "ShowVideo", name: "for somebody", values: "course_id=1 lecture_id=11 video_id=103", query: "user_id=2", golden: "v1/video.json"},
	{face: "v1", op: "ShowVideo", name: "not made ready yet", values: "course_id=1 lecture_id=12 video_id=121", golden: "v1/video_processing.json"},
	{face: "v1", op: "ShowVideo", name: "for nobody", values: "course_id=1 lecture_id=11 video_id=103", query: "user_id=mira", status: 400, says: "user_id must be"},
	{face: "v1", op: "ShowVideo", name: "another kind", values: "course_id=1 lecture_id=11 video_id=101", status: 404, says: "there is no video 101 in lecture 11"},
	{face: "v1", op: "ShowVideo", name: "of another lecture", values: "course_id=1 lecture_id=12 video_id=103", status: 404, says: "there is no video 103 in lecture 12"},
	{face: "v1", op: "ListQuizzes", name: "one", values: "course_id=1 lecture_id=11", says: `{"quiz_ids":[107]}`},
	{face: "v1", op: "ListQuizzes", name: "none", values: "course_id=1 lecture_id=13", says: `{"quiz_ids":[]}`},
	{face: "v1", op: "ListQuizzes", name: "of no lecture", values: "course_id=1 lecture_id=999", status: 404, says: "there is no lecture 999 in course 1"},
	{face: "v1", op: "ShowQuiz", name: "with questions", values: "course_id=1 lecture_id=11 quiz_id=107", golden: "v1/quiz.json"},
	{face: "v1", op: "ShowQuiz", name: "without", values: "course_id=1 lecture_id=12 quiz_id=120", says: `"quiz":{"id":902,"type":"Quiz","questions":[]}`},
	{face: "v1", op: "ShowQuiz", name: "another kind", values: "course_id=1 lecture_id=11 quiz_id=103", status: 404, says: "there is no quiz 103 in lecture 11"},
	{face: "v1", op: "ShowQuiz", name: "the quiz's own id is not the attachment's", values: "course_id=1 lecture_id=11 quiz_id=901", status: 404, says: "there is no quiz 901"},
	{face: "v1", op: "ShowQuizResponses", name: "the latest of each learner", values: "course_id=1 lecture_id=11 quiz_id=107", golden: "v1/responses.json"},
	{face: "v1", op: "ShowQuizResponses", name: "of somebody without a name, no time, no grade", values: "course_id=1 lecture_id=12 quiz_id=120", golden: "v1/responses_bare.json"},
	{face: "v1", op: "ShowQuizResponses", name: "of no quiz", values: "course_id=1 lecture_id=13 quiz_id=107", status: 404, says: "there is no quiz 107 in lecture 13"},
}, badPaths("v1", "ShowLecture", "lecture_id", "course_id=1"), badPaths("v1", "ShowVideo", "video_id", "course_id=1 lecture_id=11"), badPaths("v1", "ShowQuiz", "quiz_id", "course_id=1 lecture_id=11"))

var v1People = slicesOf([]requestCase{
	{face: "v1", op: "ListUsers", name: "all", golden: "v1/users.json"},
	{face: "v1", op: "ListUsers", name: "second page of two", query: "per=2&page=2", says: `"meta":{"page":2,"total":5,"number_of_pages":3,"from":3,"to":4,"per_page":2}`},
	{face: "v1", op: "ListUsers", name: "by address in any case", query: "email=noname@EXAMPLE.com", golden: "v1/user_by_email.json"},
	{face: "v1", op: "ListUsers", name: "by an unknown address", query: "email=nobody@example.com", says: `"users":[]`},
	{face: "v1", op: "ListUsers", name: "a part of an address finds nobody", query: "email=mira", says: `"users":[]`},
	{face: "v1", op: "ListUsers", name: "search_after", query: "search_after=1&per=2", golden: "v1/users_after.json"},
	{face: "v1", op: "ListUsers", name: "search_after from the beginning", query: "search_after=0&per=2&page=1", says: `"has_more_results":true,"search_after":[2]`},
	{face: "v1", op: "ListUsers", name: "search_after, the last page", query: "search_after=3&per=2", says: `"has_more_results":false,"search_after":[5]`},
	{face: "v1", op: "ListUsers", name: "search_after beyond the end", query: "search_after=2147483647", says: `"users":[],"meta":{"page":1,"total":5,"number_of_pages":1,"per_page":20,"has_more_results":false,"search_after":[2147483647]}`},
	{face: "v1", op: "ListUsers", name: "search_after and email", query: "search_after=0&email=mira@example.com", says: `"has_more_results":false,"search_after":[2]`},
	{face: "v1", op: "ListUsers", name: "search_after below 0", query: "search_after=-1", status: 400, says: "search_after must be an integer from 0"},
	{face: "v1", op: "ListUsers", name: "a page beside search_after is ignored", query: "search_after=1&page=2&per=2", golden: "v1/users_after.json"},
	{face: "v1", op: "ListUsers", name: "a page past the end beside search_after", query: "search_after=0&page=501&per=2", says: `"users":[{"email":"head@example.com"`},
	{face: "v1", op: "ListUsers", name: "the page of the 10,000th row", query: "page=500&per=20", says: `"users":[]`},
	{face: "v1", op: "ListUsers", name: "a page past the 10,000th row", query: "page=501&per=20", status: 400, says: "page reaches past the 10,000th user; use search_after"},
	{face: "v1", op: "ListUsers", name: "mistakes", query: "email=&page=x&per=0", status: 400, says: `["email must not be`},
	{face: "v1", op: "ShowUser", name: "with tags, sign-in and courses", values: "user_id=2", golden: "v1/user.json"},
	{face: "v1", op: "ShowUser", name: "without anything", values: "user_id=1", golden: "v1/user_bare.json"},
	{face: "v1", op: "ShowUser", name: "each course once, with the latest enrollment", values: "user_id=4", golden: "v1/user_again.json"},
	{face: "v1", op: "ShowUser", name: "an expired enrollment is not active", values: "user_id=3", says: `"course_id":1,"course_name":"Pottery ours","enrolled_at":"2024-01-05T12:00:00Z","is_active_enrollment":false`},
	{face: "v1", op: "ShowUser", name: "a completed course", values: "user_id=5", says: `"completed_at":"2024-01-09T12:00:00Z","percent_complete":100`},
	{face: "v1", op: "ShowUser", name: "unknown", values: "user_id=999", status: 404, says: `{"message":"there is no user 999"}`},
}, badPaths("v1", "ShowUser", "user_id", ""))

var v1Money = slicesOf([]requestCase{
	{face: "v1", op: "ListPricingPlans", name: "five without per", golden: "v1/plans.json"},
	{face: "v1", op: "ListPricingPlans", name: "the second page", query: "page=2", says: `"meta":{"total":6,"page":2,"from":6,"to":6,"per_page":5,"number_of_pages":2}`},
	{face: "v1", op: "ListPricingPlans", name: "a plan without a course is not listed", query: "per=100", says: `"total":6,`},
	{face: "v1", op: "ListPricingPlans", name: "mistakes", query: "page=x&per=0", status: 400, says: "page must be"},
	{face: "v1", op: "ShowPricingPlans", name: "a payment plan with limited access", values: "pricing_plan_id=3", golden: "v1/plan_limited.json"},
	{face: "v1", op: "ShowPricingPlans", name: "a subscription with a trial", values: "pricing_plan_id=2", golden: "v1/plan_trial.json"},
	{face: "v1", op: "ShowPricingPlans", name: "once, with a cap", values: "pricing_plan_id=1", golden: "v1/plan_once.json"},
	{face: "v1", op: "ShowPricingPlans", name: "free, until a day", values: "pricing_plan_id=5", golden: "v1/plan_free.json"},
	{face: "v1", op: "ShowPricingPlans", name: "without a course", values: "pricing_plan_id=4", status: 404, says: "there is no pricing plan 4"},
	{face: "v1", op: "ShowPricingPlans", name: "unknown", values: "pricing_plan_id=999", status: 404, says: "there is no pricing plan 999"},
	{face: "v1", op: "ListTransactions", name: "none", says: `"transactions":[]`},
	{face: "v1", op: "ListWebhooks", name: "in every state", golden: "v1/webhooks.json"},
	{face: "v1", op: "ShowWebhookEvents", name: "newest first, twenty", values: "webhook_id=1", golden: "v1/events.json"},
	{face: "v1", op: "ShowWebhookEvents", name: "from a status on leaves null out", values: "webhook_id=1", query: "response_http_status_gte=202", says: `"total":8,`},
	{face: "v1", op: "ShowWebhookEvents", name: "one status", values: "webhook_id=1", query: "response_http_status_gte=201&response_http_status_lte=201", says: `"total":8,`},
	{face: "v1", op: "ShowWebhookEvents", name: "after is excluded, before included", values: "webhook_id=1", query: "created_after=2024-01-01T12:00:00Z&created_before=2024-01-02T12:00:00Z", says: `"total":8,`},
	{face: "v1", op: "ShowWebhookEvents", name: "given up", values: "webhook_id=3", golden: "v1/events_failed.json"},
	{face: "v1", op: "ShowWebhookEvents", name: "none", values: "webhook_id=2", says: `"events":[]`},
	{face: "v1", op: "ShowWebhookEvents", name: "unknown webhook", values: "webhook_id=999", status: 404, says: "there is no webhook 999"},
	{face: "v1", op: "ShowWebhookEvents", name: "mistakes", values: "webhook_id=1", query: "response_http_status_gte=x&response_http_status_lte=y&created_before=z&created_after=z&page=0&per=0", status: 400, golden: "v1/events_mistakes.json"},
}, badPaths("v1", "ShowPricingPlans", "pricing_plan_id", ""), badPaths("v1", "ShowWebhookEvents", "webhook_id", ""))

var v1Learner = slicesOf([]requestCase{
	{face: "v1", op: "getCurrentUser", name: "with both scopes", golden: "v1/me.json"},
	{face: "v1", op: "listCurrentUserCourses", name: "published ones of active enrollments", golden: "v1/my_courses.json"},
	{face: "v1", op: "listCurrentUserCourses", name: "of somebody whose time is over in one", user: noName, says: `"total":1,`},
	{face: "v1", op: "listCurrentUserCourses", name: "by name", query: "name=glass", says: `"total":1,`},
	{face: "v1", op: "listCurrentUserCourses", name: "no unpublished ones", query: "is_published=false", says: `"courses":[],"meta":{"total":0,`},
	{face: "v1", op: "listCurrentUserCourses", name: "mistakes", query: "page=0&created_at=x", status: 400, says: `"error":"invalid_request"`},
	{face: "v1", op: "listCurrentUserCourses", name: "an author_bio_id is ignored", query: "author_bio_id=x&author_bio_id=9", golden: "v1/my_courses.json"},
	{face: "v1", op: "showCurrentUserCourse", name: "without what is not published", values: "course_id=1", golden: "v1/my_course.json"},
	{face: "v1", op: "showCurrentUserCourse", name: "one that is not published", values: "course_id=2", status: 404, says: `{"error":"resource_not_found","error_description":"there is no course 2"}`},
	{face: "v1", op: "showCurrentUserCourse", name: "one without enrollment", values: "course_id=4", status: 404, says: "there is no course 4"},
	{face: "v1", op: "showCurrentUserCourse", name: "one whose time is over", values: "course_id=1", user: noName, status: 404, says: "there is no course 1"},
	{face: "v1", op: "showCurrentUserCourseProgress", name: "begun", values: "course_id=1", golden: "v1/progress.json"},
	{face: "v1", op: "showCurrentUserCourseProgress", name: "a user_id is ignored", values: "course_id=1", query: "user_id=5", golden: "v1/progress.json"},
	{face: "v1", op: "showCurrentUserCourseProgress", name: "not theirs", values: "course_id=4", status: 404, says: "there is no course 4"},
	{face: "v1", op: "showCurrentUserLecture", name: "without the answers of quizzes", values: "course_id=1 lecture_id=11", golden: "v1/my_lecture.json"},
	{face: "v1", op: "showCurrentUserLecture", name: "not published", values: "course_id=1 lecture_id=14", status: 404, says: "there is no lecture 14 in course 1"},
	{face: "v1", op: "showCurrentUserLecture", name: "in a section that is not", values: "course_id=1 lecture_id=15", status: 404, says: "there is no lecture 15 in course 1"},
	{face: "v1", op: "showCurrentUserLecture", name: "not theirs", values: "course_id=1 lecture_id=11", user: noName, status: 404, says: "there is no course 1"},
	{face: "v1", op: "showCurrentUserVideo", name: "ready", values: "course_id=1 lecture_id=11 video_id=103", golden: "v1/video.json"},
	{face: "v1", op: "showCurrentUserVideo", name: "a user_id is ignored", values: "course_id=1 lecture_id=11 video_id=103", query: "user_id=x", golden: "v1/video.json"},
	{face: "v1", op: "showCurrentUserVideo", name: "not theirs", values: "course_id=1 lecture_id=11 video_id=103", user: noName, status: 404, says: "there is no course 1"},
}, badPaths("v1", "showCurrentUserCourse", "course_id", ""), badPaths("v1", "showCurrentUserLecture", "lecture_id", "course_id=1"))

var v2Rows = slicesOf([]requestCase{
	{face: "v2", op: "listProductCourses", name: "newest first", golden: "v2/courses.json"},
	{face: "v2", op: "listProductCourses", name: "by name, rising", query: "sort_by=name&sort_direction=asc&per_page=1", says: `"name":"Empty ours"`},
	{face: "v2", op: "listProductCourses", name: "changed last", query: "sort_by=updated_at&per_page=1", says: `"id":4,`},
	{face: "v2", op: "listProductCourses", name: "listed", query: "is_listed=true", says: `"total_count":3`},
	{face: "v2", op: "listProductCourses", name: "published", query: "is_published=true", says: `"total_count":3`},
	{face: "v2", op: "listProductCourses", name: "of an author", query: "author_bio_id=1", says: `"total_count":1`},
	{face: "v2", op: "listProductCourses", name: "search in descriptions", query: "search=wheel", says: `"total_count":1`},
	{face: "v2", op: "listProductCourses", name: "search in headings", query: "search=clay", says: `"total_count":1`},
	{face: "v2", op: "listProductCourses", name: "created within", query: "created_after=2024-01-01T12:00:00Z&created_before=2024-01-03T12:00:00Z", says: `"total_count":2`},
	{face: "v2", op: "listProductCourses", name: "beyond the last", query: "page=9&per_page=2", says: `{"data":[],"meta":{"page":9,"per_page":2,"total_pages":2,"total_count":4}}`},
	{face: "v2", op: "listProductCourses", name: "a page too large", query: "per_page=101", status: 400, says: `"errors":[{"field":"per_page","message":"must be an integer from 1 to 100"}]`},
	{face: "v2", op: "listProductCourses", name: "mistakes", query: "page=0&per_page=0&sort_by=price&sort_direction=up&is_listed=x&search=", status: 400, golden: "v2/courses_mistakes.json"},
	{face: "v2", op: "getCurrentUser", name: "profile", golden: "v2/me.json"},
	{face: "v2", op: "listCurrentUserCourses", name: "published ones of active enrollments", golden: "v2/my_courses.json"},
	{face: "v2", op: "listCurrentUserCourses", name: "of somebody whose time is over in one", user: noName, says: `"total_count":1`},
	{face: "v2", op: "listCurrentUserCourses", name: "mistakes", query: "per_page=0", status: 400, says: `"error":"invalid_request"`},
	{face: "v2", op: "showCurrentUserCourse", name: "without what is not published", values: "course_id=1", golden: "v2/my_course.json"},
	{face: "v2", op: "showCurrentUserCourse", name: "not published", values: "course_id=2", status: 404, says: `"error":"resource_not_found"`},
	{face: "v2", op: "showCurrentUserCourseProgress", name: "begun", values: "course_id=1", golden: "v2/my_progress.json"},
	{face: "v2", op: "showCurrentUserCourseProgress", name: "not begun", values: "course_id=3", golden: "v2/my_progress_not_begun.json"},
	{face: "v2", op: "showCurrentUserCourseProgress", name: "over", values: "course_id=1", user: noName, status: 404, says: "there is no course 1"},
	{face: "v2", op: "showCurrentUserLecture", name: "without the answers of quizzes", values: "course_id=1 lecture_id=11", golden: "v2/my_lecture.json"},
	{face: "v2", op: "showCurrentUserLecture", name: "not published", values: "course_id=1 lecture_id=14", status: 404, says: "there is no lecture 14 in course 1"},
	{face: "v2", op: "showCurrentUserCompletion", name: "complete", values: "course_id=1 lecture_id=11", says: `{"data":{"completed":true,"completed_at":"2024-01-06T12:00:00Z"}}`},
	{face: "v2", op: "showCurrentUserCompletion", name: "open", values: "course_id=1 lecture_id=12", says: `{"data":{"completed":false,"completed_at":null}}`},
	{face: "v2", op: "showCurrentUserCompletion", name: "not published", values: "course_id=1 lecture_id=14", status: 404, says: "there is no lecture 14 in course 1"},
}, badPaths("v2", "showCurrentUserCourse", "course_id", ""), badPaths("v2", "showCurrentUserLecture", "lecture_id", "course_id=1"))

var v1Enrolling = slicesOf([]requestCase{
	{face: "v1", op: "EnrollUser", name: "somebody new", body: `{"user_id":1,"course_id":4}`},
	{face: "v1", op: "ShowCourseEnrollments", name: "somebody new is there", values: "course_id=4", says: `{"enrollments":[{"user_id":1,"enrolled_at":"2024-01-10T12:00:00Z","completed_at":null,"percent_complete":0,"expires_at":null}]`},
	{face: "v1", op: "EnrollUser", name: "twice", body: `{"user_id":1,"course_id":4}`},
	{face: "v1", op: "ShowCourseEnrollments", name: "somebody twice is there once", values: "course_id=4", says: `"total":1,`},
	{face: "v1", op: "EnrollUser", name: "a text of digits is the number, other members are ignored", body: `{"user_id":"3","course_id":"4","price":9}`},
	{face: "v1", op: "ShowCourseEnrollments", name: "by digits", values: "course_id=4", says: `"total":2,`},
	{face: "v1", op: "EnrollUser", name: "in an unpublished course", body: `{"user_id":3,"course_id":2}`},
	{face: "v1", op: "EnrollUser", name: "again after expiry", body: `{"user_id":3,"course_id":1}`},
	{face: "v1", op: "ShowUser", name: "again after expiry", values: "user_id=3", says: `"course_id":1,"course_name":"Pottery ours","enrolled_at":"2024-01-10T12:00:00Z","is_active_enrollment":true`},
	{face: "v1", op: "EnrollUser", name: "an unknown user", body: `{"user_id":999,"course_id":1}`, status: 404, says: "there is no user 999"},
	{face: "v1", op: "EnrollUser", name: "an unknown course", body: `{"user_id":1,"course_id":999}`, status: 404, says: "there is no course 999"},
	{face: "v1", op: "UnenrollUser", name: "somebody", body: `{"user_id":1,"course_id":4}`},
	{face: "v1", op: "ShowCourseEnrollments", name: "who is gone is not there", values: "course_id=4", says: `"total":1,`},
	{face: "v1", op: "ShowUser", name: "who is gone keeps the history", values: "user_id=1", says: `"is_active_enrollment":false`},
	{face: "v1", op: "UnenrollUser", name: "twice", body: `{"user_id":1,"course_id":4}`},
	{face: "v1", op: "UnenrollUser", name: "somebody who never was", body: `{"user_id":2,"course_id":4}`, status: 404, says: "user 2 is not enrolled in course 4"},
	{face: "v1", op: "UnenrollUser", name: "an unknown user", body: `{"user_id":999,"course_id":1}`, status: 404, says: "there is no user 999"},
	{face: "v1", op: "UnenrollUser", name: "an unknown course", body: `{"user_id":1,"course_id":999}`, status: 404, says: "there is no course 999"},
}, badBodies("v1", "EnrollUser", "", "user_id", "course_id"), badBodies("v1", "UnenrollUser", "", "user_id", "course_id"))

var v1Completing = slicesOf([]requestCase{
	{face: "v1", op: "MarkLectureComplete", name: "an open one", values: "course_id=1 lecture_id=13", body: `{"user_id":2}`},
	{face: "v1", op: "CourseProgress", name: "after an open one", values: "course_id=1", query: "user_id=2", says: `"percent_complete":66`},
	{face: "v1", op: "MarkLectureComplete", name: "a complete one", values: "course_id=1 lecture_id=11", body: `{"user_id":"2"}`},
	{face: "v1", op: "CourseProgress", name: "a complete one keeps its time", values: "course_id=1", query: "user_id=2", says: `"name":"Wheel ours","is_completed":true,"completed_at":"2024-01-06T12:00:00Z"`},
	{face: "v1", op: "MarkLectureComplete", name: "one that is not published counts for nothing", values: "course_id=1 lecture_id=14", body: `{"user_id":2}`},
	{face: "v1", op: "CourseProgress", name: "after one that is not published", values: "course_id=1", query: "user_id=2", says: `"percent_complete":66`},
	{face: "v1", op: "MarkLectureComplete", name: "the last", values: "course_id=1 lecture_id=12", body: `{"user_id":2}`},
	{face: "v1", op: "CourseProgress", name: "after the last", values: "course_id=1", query: "user_id=2", says: `"completed_at":"2024-01-10T12:00:00Z","enrolled_at":"2024-01-05T12:00:00Z","percent_complete":100`},
	{face: "v1", op: "CourseProgress", name: "a certificate is issued", values: "course_id=1", query: "user_id=2", says: `"certificate":{"issued_at":"2024-01-10T12:00:00Z","page_id":9,"serial_number":"cert_`},
	{face: "v1", op: "MarkLectureComplete", name: "out of order", values: "course_id=3 lecture_id=32", body: `{"user_id":2}`, status: 409, says: "this course must be completed in order: lecture 31 comes first"},
	{face: "v1", op: "MarkLectureComplete", name: "the first", values: "course_id=3 lecture_id=31", body: `{"user_id":2}`},
	{face: "v1", op: "MarkLectureComplete", name: "now in order", values: "course_id=3 lecture_id=32", body: `{"user_id":2}`},
	{face: "v1", op: "MarkLectureComplete", name: "not enrolled", values: "course_id=1 lecture_id=11", body: `{"user_id":1}`, status: 404, says: "user 1 is not enrolled in course 1"},
	{face: "v1", op: "MarkLectureComplete", name: "unknown user", values: "course_id=1 lecture_id=11", body: `{"user_id":999}`, status: 404, says: "there is no user 999"},
	{face: "v1", op: "MarkLectureComplete", name: "of another course", values: "course_id=2 lecture_id=11", body: `{"user_id":2}`, status: 404, says: "there is no lecture 11 in course 2"},
}, badBodies("v1", "MarkLectureComplete", "course_id=1 lecture_id=11", "user_id"), badPaths("v1", "MarkLectureComplete", "lecture_id", "course_id=1"))

var v1UserChanges = slicesOf([]requestCase{
	{face: "v1", op: "CreateUser", name: "with everything", body: `{"email":"new@example.com","name":"New <ours>","password":"sechs6","src":"shop-17","role":"owner"}`, golden: "v1/user_created.json"},
	{face: "v1", op: "CreateUser", name: "with an address alone", body: `{"email":"bare@example.com"}`, says: `"name":null,`},
	{face: "v1", op: "CreateUser", name: "null is nothing", body: `{"email":"null@example.com","name":null,"password":null,"src":null}`, says: `"src":null,`},
	{face: "v1", op: "CreateUser", name: "a known address in another case changes nothing", body: `{"email":"MIRA@example.com","name":"Other","src":"x"}`, says: `"email":"mira@example.com","name":"Mira \u0026 Co ours"`},
	{face: "v1", op: "CreateUser", name: "a short password", body: `{"email":"short@example.com","password":"fuenf"}`, status: 400, says: "password must have 6 to 256 characters"},
	{face: "v1", op: "CreateUser", name: "a short password and a known address", body: `{"email":"mira@example.com","password":"x"}`, status: 400, says: "password must have"},
	{face: "v1", op: "CreateUser", name: "an invalid address", body: `{"email":"mira at example"}`, status: 400, says: "email must be an email address"},
	{face: "v1", op: "CreateUser", name: "an address with a name", body: `{"email":"Mira <mira@example.com>"}`, status: 400, says: "email must be an email address"},
	{face: "v1", op: "CreateUser", name: "every mistake is named", body: `{"email":"x","password":"y","name":"` + strings.Repeat("n", 256) + `"}`, status: 400, golden: "v1/user_mistakes.json"},
	{face: "v1", op: "CreateUser", name: "types", body: `{"email":7,"name":[],"password":{},"src":true}`, status: 400, golden: "v1/user_types.json"},
	{face: "v1", op: "CreateUser", name: "without an address", body: `{}`, status: 400, says: "email is required; it must be a string"},
	{face: "v1", op: "UpdateUser", name: "name and source", values: "user_id=3", body: `{"name":"Named","src":"fair"}`, says: `"email":"Noname@Example.com","name":"Named","src":"fair"`},
	{face: "v1", op: "UpdateUser", name: "one alone", values: "user_id=3", body: `{"src":"shop"}`, says: `"name":"Named","src":"shop"`},
	{face: "v1", op: "UpdateUser", name: "null clears", values: "user_id=3", body: `{"name":null}`, says: `"name":null,"src":"shop"`},
	{face: "v1", op: "UpdateUser", name: "nothing", values: "user_id=3", body: `{}`, says: `"src":"shop"`},
	{face: "v1", op: "UpdateUser", name: "an address is not changed", values: "user_id=3", body: `{"email":"x@example.com","role":"owner"}`, says: `"email":"Noname@Example.com"`},
	{face: "v1", op: "UpdateUser", name: "too long", values: "user_id=3", body: `{"src":"` + strings.Repeat("s", 256) + `"}`, status: 400, says: "src must be at most 255 characters long"},
	{face: "v1", op: "UpdateUser", name: "NUL", values: "user_id=3", body: `{"src":"\u0000"}`, status: 400, says: "src must be UTF-8 text without NUL characters"},
	{face: "v1", op: "UpdateUser", name: "unknown", values: "user_id=999", body: `{"name":"x"}`, status: 404, says: "there is no user 999"},
}, badBodies("v1", "CreateUser", ""), badBodies("v1", "UpdateUser", "user_id=3"), badPaths("v1", "UpdateUser", "user_id", ""))

var v1LearnerChanges = []requestCase{
	{face: "v1", op: "markCurrentUserLectureComplete", name: "the third", values: "course_id=3 lecture_id=33"},
	{face: "v1", op: "showCurrentUserCourseProgress", name: "after the third", values: "course_id=3", says: `"percent_complete":100`},
	{face: "v1", op: "markCurrentUserLectureComplete", name: "twice", values: "course_id=3 lecture_id=33"},
	{face: "v1", op: "markCurrentUserLectureComplete", name: "out of order", values: "course_id=3 lecture_id=33", user: noName, status: 409, says: `{"error":"unmet_requirements","error_description":"this course must be completed in order: lecture 31 comes first"}`},
	{face: "v1", op: "markCurrentUserLectureComplete", name: "not published", values: "course_id=1 lecture_id=14", status: 404, says: "there is no lecture 14 in course 1"},
	{face: "v1", op: "markCurrentUserLectureComplete", name: "not theirs", values: "course_id=1 lecture_id=21", status: 404, says: "there is no lecture 21 in course 1"},
	{face: "v1", op: "markCurrentUserLectureComplete", name: "in a course that is not published", values: "course_id=2 lecture_id=21", status: 404, says: "there is no course 2"},
}

var v2Changes = []requestCase{
	{face: "v2", op: "putCurrentUserCompletion", name: "the first", values: "course_id=3 lecture_id=31", user: noName, says: `{"data":{"completed":true,"completed_at":"2024-01-10T12:00:00Z"}}`},
	{face: "v2", op: "putCurrentUserCompletion", name: "twice", values: "course_id=3 lecture_id=31", user: noName, says: `"completed":true`},
	{face: "v2", op: "showCurrentUserCompletion", name: "after the first", values: "course_id=3 lecture_id=31", user: noName, says: `"completed":true`},
	{face: "v2", op: "putCurrentUserCompletion", name: "out of order", values: "course_id=3 lecture_id=33", user: noName, status: 409, says: `"error":"unmet_requirements"`},
	{face: "v2", op: "putCurrentUserCompletion", name: "not published", values: "course_id=1 lecture_id=14", status: 404, says: "there is no lecture 14 in course 1"},
	{face: "v2", op: "putCurrentUserCompletion", name: "not theirs", values: "course_id=4 lecture_id=11", status: 404, says: "there is no course 4"},
}

// badPaths returns requests with invalid ids.
func badPaths(face, op, id, others string) (rows []requestCase) {
	for _, value := range notNumber {
		rows = append(rows, requestCase{
			face: face, op: op, name: id + " " + value, values: others + " " + id + "=" + value, body: bodyFor(op), status: 400, says: id + " must be an integer from 1 to 2147483647",
		})
	}
	return rows
}

// bodyFor returns a valid body for an operation that reads one.
func bodyFor(op string) string {
	switch op {
	case "MarkLectureComplete":
		return `{"user_id":2}`
	case "updateTemplateSecret":
		return `{"secret":"x"}`
	case "UpdateUser":
		return `{}`
	}
	return ""
}

// badBodies returns requests with invalid bodies for an operation that requires ids.
func badBodies(face, op, values string, ids ...string) (rows []requestCase) {
	row := func(name, body, says string, headers ...string) {
		rows = append(rows, requestCase{face: face, op: op, name: name, values: values, body: body, headers: headers, status: 400, says: says})
	}
	row("no JSON", "user_id=2&course_id=1", "the body must be one JSON object")
	row("broken off", `{"user_id":`, "the body must be one JSON object")
	row("no object", `[1,2]`, "the body must be one JSON object")
	row("two objects", `{}{}`, "the body must be one JSON object")
	row("not UTF-8", "{\"user_id\":\"\xff\"}", "the body must be UTF-8")
	row("a form", "user_id=2", "Content-Type must be application/json", "Content-Type: application/x-www-form-urlencoded")
	row("no type", `{}`, "Content-Type must be application/json", "Content-Type: ")
	row("a member twice", `{"email":"a@example.com","email":"b@example.com","user_id":1,"user_id":2}`, "must be sent once")
	row("deep nesting", `{"x":`+strings.Repeat("[", 30_000)+strings.Repeat("]", 30_000)+`}`, "the body must be one JSON object")
	for _, id := range ids {
		row(id+" missing", `{}`, id+" is required")
		for _, value := range []string{`0`, `-1`, `1.5`, `"x"`, `""`, `null`, `true`, `[1]`, `{"id":1}`, `2147483648`, `1e3`} {
			row(id+" is "+value, strings.NewReplacer(`"`+id+`":1`, `"`+id+`":`+value).Replace(`{"user_id":1,"course_id":1}`), id+" ")
		}
	}
	return append(rows, requestCase{face: face, op: op, name: "too large", values: values, body: `{"x":"` + strings.Repeat("x", 70<<10) + `"}`, status: 413, says: "the request body is larger than 65536 bytes"})
}
