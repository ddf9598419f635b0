package intake_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
	"pgregory.net/rapid"
)

// nasty are strings that a careless reader or writer would change.
var nasty = []string{
	"", " ", "'", "''", "null", "NULL", "0", "true", "=1+1", "'=1+1", "''=1+1", "'a", "+31 20", "-5", "@SUM(A1)", "\tx", "\rx", "\nx",
	"＝1", "＋1", "－1", "＠x", "'＝1", "＝", "\xef\xbc", "\"", "\"\"", "\"=1\"", "a,b", "a\r\nb", "a\nb", "a\rb", "\r\n", ",", "\\", "\\n", "\u2028", "\ufeff",
	"<script>&amp;</script>", "😀", "=HYPERLINK(\"http://x\",\"y\")", "trailing ", " leading", strings.Repeat("x", 64<<10),
}

func textOf(t *rapid.T, name string) string {
	s := rapid.OneOf(rapid.SampledFrom(nasty), rapid.String(), rapid.StringMatching("[;='\"\t\r\na＝-]*")).Draw(t, name)
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
}

// shortOf draws text that is short enough to leave room for more in a cell.
func shortOf(t *rapid.T, name string) string {
	s := textOf(t, name)
	return strings.ToValidUTF8(s[:min(len(s), 1000)], "")
}

func optOf[T comparable](t *rapid.T, name string, draw func(*rapid.T, string) T) lyceum.Opt[T] {
	if !rapid.Bool().Draw(t, name+" present") {
		return lyceum.None[T]()
	}
	return lyceum.Some(draw(t, name))
}

func idOf[I ~int32](t *rapid.T, name string) I {
	return I(rapid.Int32Range(1, math.MaxInt32).Draw(t, name))
}

func amountOf[A ~int64](t *rapid.T, name string) A {
	return A(rapid.Int32().Draw(t, name))
}
func boolOf(t *rapid.T, name string) bool { return rapid.Bool().Draw(t, name) }
func timeOf(t *rapid.T, name string) time.Time {
	return time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, name), 0).UTC()
}

func currencyOf(t *rapid.T, name string) lyceum.Currency {
	return lyceum.Currency(rapid.StringMatching(`[A-Z]{3}`).Draw(t, name))
}

func transactionOf(t *rapid.T) lyceum.Transaction {
	return lyceum.Transaction{
		ID: idOf[lyceum.TransactionID](t, "id"), UserID: idOf[lyceum.UserID](t, "user"), PricingPlanID: idOf[lyceum.PricingPlanID](t, "plan"),
		SaleID: idOf[lyceum.SaleID](t, "sale"), CreatedAt: timeOf(t, "created"), PurchasedAt: timeOf(t, "purchased"),
		Charge: amountOf[lyceum.USDCents](t, "charge"), FinalPrice: amountOf[lyceum.Minor](t, "price"), Currency: currencyOf(t, "currency"),
		TaxCharge: amountOf[lyceum.Minor](t, "tax"), Revenue: amountOf[lyceum.USDCents](t, "revenue"), Paid: boolOf(t, "paid"),
		HasChargeback: optOf(t, "chargeback", boolOf), ChargebackFee: optOf(t, "fee", amountOf[lyceum.Minor]),
		AffiliateID: optOf(t, "affiliate", idOf[lyceum.AffiliateID]), AffiliateFees: amountOf[lyceum.Minor](t, "affiliate fees"),
		AuthorID: optOf(t, "author", idOf[lyceum.AuthorID]), AuthorFees: amountOf[lyceum.Minor](t, "author fees"),
		CouponID: optOf(t, "coupon", idOf[lyceum.CouponID]), RefundedAt: optOf(t, "refunded", timeOf), AmountRefunded: amountOf[lyceum.Minor](t, "refund"),
	}
}

func userOf(t *rapid.T) lyceum.User {
	role := lyceum.Role(textOf(t, "role"))
	if role == "" {
		role = lyceum.Owner
	}
	return lyceum.User{
		ID: idOf[lyceum.UserID](t, "id"), Email: rapid.SampledFrom([]string{"ann@x", "=ann@x", "'=ann@x", "+ann@x", "a\"b,c@x", "-@-"}).Draw(t, "email"),
		Name: optOf(t, "name", textOf), Role: role, Src: optOf(t, "src", textOf), CreatedAt: timeOf(t, "created"),
		LastSignInAt: optOf(t, "last", timeOf), LastSignInIP: optOf(t, "ip", textOf), DisabledAt: optOf(t, "disabled", timeOf),
	}
}

func courseOf(t *rapid.T) lyceum.CourseRow {
	return lyceum.CourseRow{Course: lyceum.Course{
		ID: idOf[lyceum.CourseID](t, "id"), Name: textOf(t, "name"), Heading: optOf(t, "heading", textOf), Description: optOf(t, "description", textOf),
		IsPublished: boolOf(t, "published"), ImageURL: optOf(t, "image", textOf), CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"),
		AuthorID: optOf(t, "author", idOf[lyceum.AuthorID]), Certificate: optOf(t, "certificate", idOf[int32]), ArchivedAt: optOf(t, "archived", timeOf),
		Compliance: lyceum.Compliance{
			Videos: optOf(t, "videos", boolOf), Quizzes: optOf(t, "quizzes", boolOf), Issues: optOf(t, "issues", boolOf),
			Score: optOf(t, "score", func(t *rapid.T, name string) float64 { return rapid.Float64Range(0, 100).Draw(t, name) }), Retakes: optOf(t, "retakes", func(t *rapid.T, name string) int32 { return rapid.Int32Range(0, 9).Draw(t, name) }),
		},
	}, Listed: optOf(t, "listed", boolOf), Ordered: optOf(t, "ordered", boolOf)}
}

func authorOf(t *rapid.T) lyceum.AuthorProfile {
	return lyceum.AuthorProfile{
		ID: idOf[lyceum.AuthorID](t, "id"), Name: optOf(t, "name", textOf), Bio: optOf(t, "bio", textOf), ProfileImageURL: optOf(t, "image", textOf), UserID: optOf(t, "user", idOf[lyceum.UserID]),
		Share: optOf(t, "share", partOf), ArchivedAt: optOf(t, "archived", timeOf),
	}
}

func partOf(t *rapid.T, name string) float64 {
	return float64(rapid.IntRange(0, 10_000).Draw(t, name)) / 10_000
}

func productOf(t *rapid.T, name string) lyceum.Product {
	return lyceum.Product{Kind: rapid.SampledFrom(lyceum.ProductKinds()).Draw(t, name), ID: idOf[int32](t, name)}
}

func affiliateOf(t *rapid.T) lyceum.AffiliatePartner {
	return lyceum.AffiliatePartner{
		ID: idOf[lyceum.AffiliateID](t, "id"), Name: optOf(t, "name", textOf), UserID: optOf(t, "user", idOf[lyceum.UserID]), Share: optOf(t, "share", partOf),
		CookieDays: optOf(t, "days", countOf), ArchivedAt: optOf(t, "archived", timeOf),
	}
}

func couponOf(t *rapid.T) lyceum.Coupon {
	word := func(words ...string) func(*rapid.T, string) string {
		return func(t *rapid.T, name string) string { return rapid.SampledFrom(words).Draw(t, name) }
	}
	c := lyceum.Coupon{
		ID: idOf[lyceum.CouponID](t, "id"), Code: optOf(t, "code", textOf), Name: optOf(t, "name", textOf), Percent: optOf(t, "percent", partOf),
		Amount: optOf(t, "amount", amountOf[lyceum.Minor]), Currency: optOf(t, "currency", currencyOf), Months: optOf(t, "months", idOf[int32]),
		Available: optOf(t, "available", idOf[int32]), ExpiresAt: optOf(t, "expires", timeOf), Product: optOf(t, "product", productOf),
		Plan: optOf(t, "plan", idOf[lyceum.PricingPlanID]), CapVisible: boolOf(t, "visible"), FriendlyURL: optOf(t, "url", textOf),
		CreatedAt: optOf(t, "created", timeOf), UpdatedAt: optOf(t, "updated", timeOf), ArchivedAt: optOf(t, "archived", timeOf),
	}
	if kind := optOf(t, "kind", word("once", "repeating", "forever")); kind.Present {
		c.Duration = lyceum.Some(lyceum.CouponDuration(kind.Value))
	}
	if scope := optOf(t, "scope", word("all_products", "creator_products")); scope.Present {
		c.Scope = lyceum.Some(lyceum.CouponScope(scope.Value))
	}
	if priority := optOf(t, "priority", word("time", "uses")); priority.Present {
		c.Priority = lyceum.Some(lyceum.DisplayPriority(priority.Value))
	}
	return c
}

func sectionOf(t *rapid.T) lyceum.LectureSection {
	return lyceum.LectureSection{
		ID: idOf[lyceum.LectureSectionID](t, "id"), Course: idOf[lyceum.CourseID](t, "course"), Name: textOf(t, "name"), IsPublished: boolOf(t, "published"), Position: idOf[int32](t, "position"),
		CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"),
	}
}

func lectureOf(t *rapid.T) lyceum.Lecture {
	return lyceum.Lecture{
		ID: idOf[lyceum.LectureID](t, "id"), Course: idOf[lyceum.CourseID](t, "course"), Section: idOf[lyceum.LectureSectionID](t, "section"), Name: optOf(t, "name", textOf),
		IsPublished: boolOf(t, "published"), Position: idOf[int32](t, "position"), FreePreview: optOf(t, "preview", boolOf), Comments: optOf(t, "comments", boolOf),
		CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"), ArchivedAt: optOf(t, "archived", timeOf),
	}
}

func countOf(t *rapid.T, name string) int32 { return rapid.Int32Range(0, math.MaxInt32).Draw(t, name) }

func attachmentOf(t *rapid.T) lyceum.Attachment {
	a := lyceum.Attachment{
		ID: idOf[lyceum.AttachmentID](t, "id"), Lecture: idOf[lyceum.LectureID](t, "lecture"), Name: optOf(t, "name", textOf), Kind: rapid.SampledFrom(append(lyceum.AttachmentKinds(), "file", "open_response_question")).Draw(t, "kind"),
		URL: optOf(t, "url", textOf), Text: optOf(t, "text", textOf), Position: optOf(t, "position", idOf[int32]), FileSize: optOf(t, "size", countOf), FileExtension: optOf(t, "extension", textOf),
		IsPublished: optOf(t, "published", boolOf), Embeddable: optOf(t, "embeddable", boolOf), Downloadable: optOf(t, "downloadable", boolOf), ContentType: optOf(t, "type", textOf),
		AltText: optOf(t, "alt", textOf), Decorative: optOf(t, "decorative", boolOf), CodeSyntax: optOf(t, "syntax", textOf),
		CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"), ArchivedAt: optOf(t, "archived", timeOf),
	}
	if rapid.Bool().Draw(t, "open question") {
		a.Question = lyceum.Some(lyceum.OpenQuestion{
			Text: textOf(t, "question"), Required: boolOf(t, "required"), Upload: boolOf(t, "upload"),
			ImageURL: optOf(t, "image", textOf), ImageName: optOf(t, "image name", textOf), ImageAlt: optOf(t, "image alt", textOf),
		})
	}
	if rapid.Bool().Draw(t, "quiz") {
		a.Quiz = &lyceum.Quiz{ID: idOf[lyceum.QuizID](t, "quiz"), Questions: lyceum.Questions{}, InstantFeedback: optOf(t, "feedback", boolOf)}
		for range rapid.IntRange(0, 2).Draw(t, "questions") {
			a.Quiz.Questions = append(a.Quiz.Questions, lyceum.PlainQuestions(lyceum.PlainQuestion{
				Question: textOf(t, "question"), QuestionType: rapid.SampledFrom([]string{"single", "multiple", "fill_blank", "matching"}).Draw(t, "type"),
				Answers: []string{textOf(t, "answer"), "b"}, CorrectAnswers: []string{textOf(t, "correct")}, Graded: boolOf(t, "graded"),
			})[0])
		}
	}
	if rapid.Bool().Draw(t, "video") {
		a.Video = lyceum.Some(lyceum.Video{
			URL: "https://" + shortOf(t, "video"), ContentType: "video/mp4", Status: lyceum.VideoReady, Thumbnail: optOf(t, "thumbnail", textOf), Duration: optOf(t, "duration", countOf),
		})
	}
	return a
}

func enrollmentOf(t *rapid.T) lyceum.Enrollment {
	return lyceum.Enrollment{
		ID: idOf[lyceum.EnrollmentID](t, "id"), User: idOf[lyceum.UserID](t, "user"), Course: idOf[lyceum.CourseID](t, "course"), EnrolledAt: timeOf(t, "enrolled"),
		ExpiresAt: optOf(t, "expires", timeOf), EndedAt: optOf(t, "ended", timeOf),
	}
}

func progressOf(t *rapid.T) lyceum.Progress {
	return lyceum.Progress{
		ID: idOf[lyceum.ProgressID](t, "id"), User: idOf[lyceum.UserID](t, "user"), Course: idOf[lyceum.CourseID](t, "course"), PercentComplete: rapid.Int32Range(0, 100).Draw(t, "percent"),
		CompletedAt: optOf(t, "completed", timeOf), Certificate: optOf(t, "certificate", func(t *rapid.T, _ string) lyceum.Certificate {
			return lyceum.Certificate{IssuedAt: timeOf(t, "issued"), PageID: idOf[int32](t, "page"), SerialNumber: "cert_" + shortOf(t, "serial")}
		}),
	}
}

func lectureProgressOf(t *rapid.T) lyceum.LectureProgress {
	return lyceum.LectureProgress{
		ID: idOf[lyceum.LectureProgressID](t, "id"), User: idOf[lyceum.UserID](t, "user"), Course: idOf[lyceum.CourseID](t, "course"), Lecture: idOf[lyceum.LectureID](t, "lecture"), CompletedAt: timeOf(t, "completed"),
	}
}

func commentOf(t *rapid.T) lyceum.Comment {
	c := lyceum.Comment{
		ID: idOf[lyceum.CommentID](t, "id"), Lecture: idOf[lyceum.LectureID](t, "lecture"), User: idOf[lyceum.UserID](t, "user"),
		Status: rapid.SampledFrom(lyceum.CommentStatuses()).Draw(t, "status"), Body: textOf(t, "body"), Attachments: []lyceum.CommentAttachment{},
		CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"),
	}
	if boolOf(t, "reply") {
		c.Above = c.Above.Then(idOf[lyceum.CommentID](t, "parent"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "files") {
		c.Attachments = append(c.Attachments, lyceum.CommentAttachment{URL: textOf(t, "url"), Kind: textOf(t, "kind")})
	}
	return c
}

func responseOf(t *rapid.T) lyceum.QuizResponse {
	part := func(t *rapid.T, name string) float64 { return rapid.Float64Range(0, 1).Draw(t, name) }
	return lyceum.QuizResponse{
		ID: idOf[lyceum.QuizResponseID](t, "id"), Quiz: idOf[lyceum.QuizID](t, "quiz"), User: idOf[lyceum.UserID](t, "user"), SubmittedAt: optOf(t, "submitted", timeOf), PercentCorrect: optOf(t, "percent", part),
		Counts: optOf(t, "counts", gradeOf), Answers: optOf(t, "answers", answersOf), CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"),
	}
}

func gradeOf(t *rapid.T, name string) lyceum.Grade {
	total := rapid.Int32Range(0, 100).Draw(t, name)
	answered := rapid.Int32Range(0, total).Draw(t, name)
	return lyceum.Grade{Correct: rapid.Int32Range(0, answered).Draw(t, name), Answered: answered, Total: total}
}

func answersOf(t *rapid.T, name string) lyceum.GivenAnswers {
	return lyceum.Give(map[string]lyceum.QuestionAnswer{
		"k1": {Chosen: []string{shortOf(t, name)}}, "k2": {Matched: map[string]string{shortOf(t, name): "1"}}, "k3": {},
	})
}

func tagsOf(t *rapid.T) lyceum.UserTags {
	return lyceum.UserTags{User: idOf[lyceum.UserID](t, "id"), Tags: []string{shortOf(t, "tag"), "VIP"}}
}

func webhookOf(t *rapid.T) lyceum.Webhook {
	return lyceum.Webhook{
		ID: idOf[lyceum.WebhookID](t, "id"), State: lyceum.WebhookFailed, URL: textOf(t, "url"), EventTrigger: textOf(t, "trigger"), EventsCount: countOf(t, "count"), CreatedAt: timeOf(t, "created"),
		DeletedAt: optOf(t, "deleted", timeOf),
	}
}

func webhookEventOf(t *rapid.T) lyceum.WebhookEvent {
	return lyceum.WebhookEvent{
		ID: idOf[lyceum.WebhookEventID](t, "id"), Webhook: idOf[lyceum.WebhookID](t, "webhook"), State: "delivered", AttemptCount: countOf(t, "attempts"), LastAttemptedAt: optOf(t, "last", timeOf),
		CreatedAt: timeOf(t, "created"), ObjectType: textOf(t, "type"), ObjectID: rapid.SampledFrom([]int32{0, 1, math.MaxInt32}).Draw(t, "object"), ResponseStatus: optOf(t, "status", idOf[int32]),
	}
}

func downloadOf(t *rapid.T) lyceum.DigitalDownload {
	return lyceum.DigitalDownload{
		ID: idOf[lyceum.DigitalDownloadID](t, "id"), Name: textOf(t, "name"), Description: optOf(t, "description", textOf), Category: optOf(t, "category", textOf), IsPublished: boolOf(t, "published"),
		IsListed: boolOf(t, "listed"), ImageURL: optOf(t, "image", textOf), AuthorID: optOf(t, "author", idOf[lyceum.AuthorID]), CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"), ArchivedAt: optOf(t, "archived", timeOf),
	}
}

func downloadAttachmentOf(t *rapid.T) lyceum.DownloadAttachment {
	return lyceum.DownloadAttachment{
		ID: idOf[lyceum.DownloadAttachmentID](t, "id"), DigitalDownloadID: idOf[lyceum.DigitalDownloadID](t, "download"), Kind: rapid.SampledFrom(lyceum.DownloadAttachmentKinds()).Draw(t, "kind"), URL: textOf(t, "url"),
		Filename: optOf(t, "filename", textOf), SizeInBytes: optOf(t, "size", sizeOf), ButtonText: optOf(t, "button", textOf), CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"),
	}
}

func uploadOf(t *rapid.T) lyceum.UploadRow {
	return lyceum.UploadRow{File: textOf(t, "file"), Upload: lyceum.Upload{
		UUID: rapid.StringMatching(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).Draw(t, "uuid"), TargetType: rapid.SampledFrom(lyceum.UploadTargets()).Draw(t, "target"),
		TargetID: idOf[int32](t, "id"), Purpose: rapid.SampledFrom(lyceum.UploadPurposes()).Draw(t, "purpose"), Extension: rapid.StringMatching(`[a-z0-9]{1,10}`).Draw(t, "extension"),
		SizeInBytes: optOf(t, "size", sizeOf), Checksum: optOf(t, "sum", rapid.StringMatching(`[0-9a-f]{64}`).Draw), CreatedAt: timeOf(t, "created"),
	}}
}

func sizeOf(t *rapid.T, name string) int64 {
	return rapid.Int64Range(1, lyceum.MaxFileBytes).Draw(t, name)
}

func coachingOf(t *rapid.T) lyceum.Coaching {
	return lyceum.Coaching{
		ID: idOf[lyceum.CoachingID](t, "id"), Name: textOf(t, "name"), Description: optOf(t, "description", textOf), ImageURL: optOf(t, "image", textOf), IsPublished: boolOf(t, "published"),
		IsListed: boolOf(t, "listed"), AuthorID: optOf(t, "author", idOf[lyceum.AuthorID]), CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"), ArchivedAt: optOf(t, "archived", timeOf),
	}
}

func collectionOf(t *rapid.T) lyceum.ProductCollection {
	return lyceum.ProductCollection{
		ID: idOf[lyceum.ProductCollectionID](t, "id"), Name: textOf(t, "name"), Description: optOf(t, "description", textOf), ImageURL: optOf(t, "image", textOf), IsPublished: boolOf(t, "published"),
		IsListed: boolOf(t, "listed"), CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"), ArchivedAt: optOf(t, "archived", timeOf),
	}
}

func membershipOf(t *rapid.T) lyceum.Membership {
	return lyceum.Membership{
		ID: idOf[lyceum.MembershipID](t, "id"), Name: textOf(t, "name"), Description: optOf(t, "description", textOf), ImageURL: optOf(t, "image", textOf), IsPublished: boolOf(t, "published"),
		CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"), ArchivedAt: optOf(t, "archived", timeOf),
	}
}

func tierOf(t *rapid.T) lyceum.MembershipTier {
	return lyceum.MembershipTier{
		ID: idOf[lyceum.MembershipTierID](t, "id"), MembershipID: idOf[lyceum.MembershipID](t, "membership"), Name: textOf(t, "name"), Description: optOf(t, "description", textOf), Position: idOf[int32](t, "position"),
		IsPublished: boolOf(t, "published"), CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"), ArchivedAt: optOf(t, "archived", timeOf),
	}
}

func inclusionOf[ID, In ~int32](kinds []lyceum.ProductKind) func(*rapid.T) lyceum.Inclusion[ID, In] {
	return func(t *rapid.T) lyceum.Inclusion[ID, In] {
		return lyceum.Inclusion[ID, In]{
			ID: idOf[ID](t, "id"), In: idOf[In](t, "in"), Product: lyceum.Product{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), ID: idOf[int32](t, "product")}, CreatedAt: timeOf(t, "created"),
		}
	}
}

var someEarlierTerms = []lyceum.Opt[lyceum.EarlierTerms]{
	{},
	lyceum.Some(lyceum.EarlierTerms(`[{"until":"2026-01-03T12:00:00Z","frequency":"payment_plan","billing_interval":"year","billing_interval_count":null,"num_payments_required":3}]`)),
}

func planOf(t *rapid.T) lyceum.PricingPlan {
	interval := func(t *rapid.T, name string) string {
		return rapid.SampledFrom([]string{"day", "week", "month", "year"}).Draw(t, name)
	}
	plan := lyceum.PricingPlan{
		ID: idOf[lyceum.PricingPlanID](t, "id"), CourseID: optOf(t, "course", idOf[lyceum.CourseID]), Name: textOf(t, "name"),
		Price: amountOf[lyceum.Minor](t, "price"), Currency: currencyOf(t, "currency"),
		Frequency:       rapid.SampledFrom([]lyceum.Frequency{lyceum.Free, lyceum.OneTimePayment, lyceum.Subscription, lyceum.PaymentPlan}).Draw(t, "frequency"),
		BillingInterval: optOf(t, "interval", interval), BillingIntervalCount: optOf(t, "count", idOf[int32]),
		Description: optOf(t, "description", textOf), FreeTrialLength: optOf(t, "trial", countOf), EnrollmentCap: optOf(t, "cap", countOf),
		AccessLimitDate: optOf(t, "until", timeOf), AccessLimitInterval: optOf(t, "limit", interval), AccessLimitDuration: optOf(t, "duration", idOf[int32]),
		CreatedAt: timeOf(t, "created"), UpdatedAt: timeOf(t, "updated"), Payments: optOf(t, "payments", idOf[int32]), Published: optOf(t, "published", boolOf),
		Position: optOf(t, "position", countOf), DetailedDescription: optOf(t, "details", textOf), StatementText: optOf(t, "statement", textOf),
		CapExpiresAt: optOf(t, "cap until", timeOf), CapPriority: optOf(t, "cap priority", textOf), CapVisible: optOf(t, "cap visible", boolOf),
		AuthorShare: optOf(t, "share", partOf), EarlierTerms: rapid.SampledFrom(someEarlierTerms).Draw(t, "earlier"),
	}
	if other := optOf(t, "product", productOf); other.Present {
		plan.CourseID, plan.Other = lyceum.None[lyceum.CourseID](), other
	}
	return plan
}

// checkRoundTrip checks that rows of any values are the same after being written and read again.
func checkRoundTrip[T any](t *testing.T, kind intake.Kind[T], draw func(*rapid.T) T) {
	t.Run(kind.String(), func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			rows := rapid.SliceOfN(rapid.Custom(draw), 1, 5).Draw(rt, "rows")
			for _, format := range []intake.Format{intake.CSV, intake.JSONLines} {
				file := written(t, kind, format, rows)
				read, ignored, err := readAll(kind, strings.NewReader(file))
				if err != nil || len(ignored) > 0 || len(read) != len(rows) {
					rt.Fatalf("%d of %d rows, ignored %q, %v\n%s", len(read), len(rows), ignored, err, file)
				}
				for i, row := range read {
					if len(row.Problems) > 0 || !reflect.DeepEqual(row.Value, rows[i]) {
						rt.Fatalf("%v\n%+v\nwant\n%+v\n%s", row.Problems, row.Value, rows[i], file)
					}
				}
			}
		})
	})
}

func TestR13RoundTrip(t *testing.T) {
	checkRoundTrip(t, intake.Transactions(), transactionOf)
	checkRoundTrip(t, intake.Users(), userOf)
	checkRoundTrip(t, intake.Courses(), courseOf)
	checkRoundTrip(t, intake.PricingPlans(), planOf)
	checkRoundTrip(t, intake.Authors(), authorOf)
	checkRoundTrip(t, intake.Affiliates(), affiliateOf)
	checkRoundTrip(t, intake.Coupons(), couponOf)
	checkRoundTrip(t, intake.LectureSections(), sectionOf)
	checkRoundTrip(t, intake.Lectures(), lectureOf)
	checkRoundTrip(t, intake.Attachments(), attachmentOf)
	checkRoundTrip(t, intake.Enrollments(), enrollmentOf)
	checkRoundTrip(t, intake.CourseProgress(), progressOf)
	checkRoundTrip(t, intake.LectureProgress(), lectureProgressOf)
	checkRoundTrip(t, intake.QuizResponses(), responseOf)
	checkRoundTrip(t, intake.Comments(), commentOf)
	checkRoundTrip(t, intake.Tags(), tagsOf)
	checkRoundTrip(t, intake.Webhooks(), webhookOf)
	checkRoundTrip(t, intake.WebhookEvents(), webhookEventOf)
	checkRoundTrip(t, intake.DigitalDownloads(), downloadOf)
	checkRoundTrip(t, intake.DownloadAttachments(), downloadAttachmentOf)
	checkRoundTrip(t, intake.Uploads(), uploadOf)
	checkRoundTrip(t, intake.Coaching(), coachingOf)
	checkRoundTrip(t, intake.ProductCollections(), collectionOf)
	checkRoundTrip(t, intake.CollectionProducts(), inclusionOf[lyceum.CollectionProductID, lyceum.ProductCollectionID](lyceum.CollectionKinds()))
	checkRoundTrip(t, intake.Memberships(), membershipOf)
	checkRoundTrip(t, intake.MembershipTiers(), tierOf)
	checkRoundTrip(t, intake.TierProducts(), inclusionOf[lyceum.TierProductID, lyceum.MembershipTierID](lyceum.TierKinds()))
}

// TestR13Formulas checks that no exported text begins like a formula, and that numbers stay
// numbers.
func TestR13Formulas(t *testing.T) {
	for cell, want := range map[string]string{
		"=1+1": `"'=1+1"`, "+1": `"'+1"`, "-1": `"'-1"`, "@x": `"'@x"`, "\tx": "\"'\tx\"", "\rx": "\"'\rx\"", "\nx": "\"'\nx\"",
		"＝1": `"'＝1"`, "＋1": `"'＋1"`, "－1": `"'－1"`, "＠1": `"'＠1"`,
		"'=1": `"''=1"`, "''": "''", "'a": "'a", "a=1": "a=1", "": `""`, `say "=1"`: `"say ""=1"""`, `="x"`: `"'=""x"""`,
		// parts that become cells where the separator is a semicolon or quotes are not supported
		"Ann;=1+1": `"Ann;'=1+1"`, "a;b": "a;b", "a; =1": "a; =1", "a\n=1": "\"a\n'=1\"", "a\r\n@x": "\"a\r\n'@x\"", "a\t+1": "\"a\t'+1\"",
		`a;"=1"`: `"a;'""=1"""`, "a;'=1": `"a;''=1"`, "a;;-1": `"a;;'-1"`, "=1;=1": `"'=1;'=1"`, "a;＝1": `"a;'＝1"`, "a;'b": "a;'b", ";": ";",
	} {
		course := lyceum.CourseRow{Course: lyceum.Course{ID: 1, Name: cell, Heading: lyceum.Some(cell), Description: lyceum.Some(cell), ImageURL: lyceum.Some(cell)}}
		got := written(t, intake.Courses(), intake.CSV, []lyceum.CourseRow{course})
		row := fmt.Sprintf("1,%s,%[1]s,%[1]s,false,%[1]s,0001-01-01T00:00:00Z,0001-01-01T00:00:00Z,,,,,,,,,,,\n", want)
		if got != "id,name,heading,description,is_published,image_url,created_at,updated_at,author_bio_id,is_listed,lecture_order,certificate_page_id,"+
			"certificate_auto_issue,video_completion_enforced,quiz_pass_required,quiz_minimum_score,quiz_maximum_retakes,archived_at,friendly_url\n"+row {
			t.Errorf("%q: %q", cell, got)
		}
		user := lyceum.User{ID: 1, Email: cell, Name: lyceum.Some(cell), Role: lyceum.Role(cell), Src: lyceum.Some(cell)}
		got = written(t, intake.Users(), intake.CSV, []lyceum.User{user})
		if row := fmt.Sprintf("1,%s,%[1]s,%[1]s,%[1]s,0001-01-01T00:00:00Z,,,,,,\n", want); !strings.HasSuffix(got, row) {
			t.Errorf("%q: %q", cell, got)
		}
	}
	sale := sale(1)
	sale.Charge, sale.TaxCharge, sale.ChargebackFee = -5, math.MinInt32, lyceum.Some[lyceum.Minor](-7)
	got := written(t, intake.Transactions(), intake.CSV, []lyceum.Transaction{sale})
	for _, cell := range []string{",-5,", ",-2147483648,", ",-7,"} {
		if !strings.Contains(got, cell) {
			t.Errorf("%q is not in %q", cell, got)
		}
	}
}

func TestR13ForeignApostrophe(t *testing.T) {
	rows := mustRead(t, intake.Courses(), "id,is_published,name\n1,0,'=x\n2,0,''+x\n3,0,'x\n4,0,=x\n5,0,\"'\n\"\n6,0,'＝\n7,0,'\n8,0,a;'=1\n9,0,a;'b")
	var names []string
	for _, row := range rows {
		names = append(names, row.Value.Name)
	}
	if want := []string{"=x", "'+x", "'x", "=x", "\n", "＝", "'", "a;=1", "a;'b"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	lines := mustRead(t, intake.Courses(), `{"id":1,"is_published":true,"name":"'=x"}`)
	if lines[0].Value.Name != "'=x" {
		t.Errorf("JSON: %q", lines[0].Value.Name)
	}
}

func TestWriter(t *testing.T) {
	if got := written(t, intake.Users(), intake.CSV, nil); got != "id,email,name,role,src,created_at,last_sign_in_at,last_sign_in_ip,phone_number,allow_marketing_emails,notes,disabled_at\n" {
		t.Errorf("no rows: %q", got)
	}
	if got := written(t, intake.Users(), intake.JSONLines, nil); got != "" {
		t.Errorf("no rows: %q", got)
	}
	plan := lyceum.PricingPlan{ID: 1, Name: "A&B", Price: 5, Currency: "USD", Frequency: lyceum.Subscription, BillingInterval: lyceum.Some("month")}
	const want = `{"id":1,"course_id":null,"name":"A\u0026B","price":5,"currency":"USD","frequency":{"type":"subscription","billing_interval":"month","billing_interval_count":null,"access_limit_date":null,"access_limit_interval":null,"access_limit_duration":null},"description":null,"free_trial_length":null,"enrollment_cap":null,"created_at":"0001-01-01T00:00:00Z","updated_at":"0001-01-01T00:00:00Z","product_type":null,"product_id":null,"num_payments_required":null,"is_published":null,"position":null,"detailed_description":null,"cc_statement_description":null,"enrollment_cap_expires_at":null,"enrollment_cap_display_priority":null,"enrollment_cap_visible":null,"author_revenue_share":null,"earlier_terms":null}` + "\n"
	if got := written(t, intake.PricingPlans(), intake.JSONLines, []lyceum.PricingPlan{plan}); got != want {
		t.Errorf("plan %s", got)
	}
	sales := []lyceum.Transaction{sale(1), sale(10)}
	for i, line := range strings.Split(strings.TrimSpace(written(t, intake.Transactions(), intake.JSONLines, sales)), "\n") {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil || len(members) != 21 {
			t.Errorf("%d members in %s: %v", len(members), line, err)
		}
		if (members["coupon_id"] == nil) != (i == 0) || members["status"] != "paid" {
			t.Errorf("members %v", members)
		}
	}
	header, _, _ := strings.Cut(written(t, intake.Transactions(), intake.CSV, sales), "\n")
	if want := "id,user_id,pricing_plan_id,sale_id,created_at,purchased_at,charge,final_price,currency,tax_charge,revenue,status,has_chargeback,chargeback_fee,affiliate_id,affiliate_fees,author_id,author_fees,coupon_id,refunded_at,amount_refunded"; header != want {
		t.Errorf("header %s", header)
	}
}

func TestWriteFails(t *testing.T) {
	w := intake.NewWriter(intake.Courses(), failing{}, intake.CSV)
	course := lyceum.CourseRow{Course: lyceum.Course{ID: 1, Name: strings.Repeat("x", 1000)}}
	var err error
	for range 100 {
		if err = w.Write(&course); err != nil {
			break
		}
	}
	if err == nil || w.Write(&course) == nil || w.Flush() == nil {
		t.Errorf("a failed write is forgotten: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("the pipe is closed") }
