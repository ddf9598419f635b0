package sqlstore

import (
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// table says how rows of T are kept: the columns after school_id, the first of
// which is the id, and how a row goes into them and comes out.
type table[T any] struct {
	name    string
	seq     lyceum.Sequence // also the id's column
	columns []string
	joined  string // the columns as a statement lists them
	set     string // changes all columns but the first of the row that has it
	counter string // of the table's rows in one school; empty when nobody asks for it
	// byIndex: the rows are not in the order of their ids.
	byIndex bool
	id      func(*T) int32
	bind    func(*T) []any // in the order of columns
	scan    func(*T) []any // in the order of columns
	weigh   func(*T) int   // how many bytes a row takes in JSON, at most
	created lyceum.EntryType
	updated lyceum.EntryType
	// changed is called with each row that is changed, as it was and as it is:
	// old is nil for one that is inserted, row for one that is deleted.
	changed func(t *tx, old, row *T)
}

func (t *table[T]) list() string { return t.joined }

// list of columns behind an alias.
func (t *table[T]) of(alias string) string {
	names := slices.Clone(t.columns)
	for i := range names {
		names[i] = alias + "." + names[i]
	}
	return strings.Join(names, ", ")
}

// tableOf names the table that a sequence numbers.
var tableOf = map[lyceum.Sequence]string{
	lyceum.UserSequence: "users", lyceum.CourseSequence: "courses", lyceum.PricingPlanSequence: "pricing_plans",
	lyceum.SaleSequence: "sales", lyceum.TransactionSequence: "transactions", lyceum.CouponSequence: "coupons",
	lyceum.AffiliateSequence: "affiliates", lyceum.AuthorSequence: "authors", lyceum.APIKeySequence: "api_keys",
	lyceum.OAuthAppSequence: "oauth_apps", lyceum.GrantSequence: "grants",

	lyceum.LectureSectionSequence: "lecture_sections", lyceum.LectureSequence: "lectures", lyceum.AttachmentSequence: "attachments",
	lyceum.EnrollmentSequence: "enrollments", lyceum.ProgressSequence: "progress", lyceum.LectureProgressSequence: "lecture_progress",
	lyceum.QuizResponseSequence: "quiz_responses", lyceum.WebhookSequence: "webhooks", lyceum.WebhookEventSequence: "webhook_events",
	lyceum.QuizSequence: "attachments", lyceum.MovementSequence: "movements", lyceum.CommentSequence: "comments", lyceum.OrderSequence: "orders",
}

// emailKey is what makes an address unique whatever its case.
func emailKey(email string) string { return strings.ToLower(email) }

// tables are the nouns of a school.
var tables = &lyceum.Tables{
	AccessTokens: accessTokens, Affiliates: affiliates, APIKeys: apiKeys, Attachments: attachments,
	AuthorizationCodes: codes, Authors: authors, Comments: comments, Coupons: coupons, Courses: courses,
	Deliveries: deliveries, Enrollments: enrollments, Grants: grants, LectureProgress: lectureProgress,
	LectureSections: lectureSections, Lectures: lectures, Links: links, Movements: movements, OAuthApps: oauthApps,
	Orders: orders, Payloads: payloads, PricingPlans: pricingPlans, Progress: progress, QuizResponses: quizResponses,
	References: references, RefreshTokens: refreshTokens, Sales: sales, Sessions: sessions, Transactions: transactions, Users: users,
	Webhooks: webhooks,
}
