package lyceum

import "math"

// Ids are unique within one school, positive, never reused, and fit the contract's int32, all
// of which JavaScript represents exactly.
type (
	// SchoolID identifies a school on one server. It is part of URLs that learners see.
	SchoolID int32
	// CourseID identifies a course.
	CourseID int32
	// PricingPlanID identifies a pricing plan.
	PricingPlanID int32
	// SaleID identifies a sale, which groups one or more transactions.
	SaleID int32
	// TransactionID identifies a transaction.
	TransactionID int32
	// CouponID identifies a coupon.
	CouponID int32
	// AffiliateID identifies an affiliate, who is paid for referring a buyer.
	AffiliateID int32
	// AuthorID identifies an author, who is paid for a product.
	AuthorID int32
	// LectureSectionID identifies a section of a course.
	LectureSectionID int32
	// LectureID identifies a lecture of a course.
	LectureID int32
	// AttachmentID identifies a part of a lecture, and the video or quiz in it.
	AttachmentID int32
	// QuizID identifies the quiz in an attachment.
	QuizID int32
	// QuizResponseID identifies a learner's response to a quiz.
	QuizResponseID int32
	// EnrollmentID identifies an enrollment of a learner in a course.
	EnrollmentID int32
	// ProgressID identifies a learner's progress in a course.
	ProgressID int32
	// LectureProgressID identifies the record that a learner completed a lecture.
	LectureProgressID int32
	// WebhookID identifies a webhook.
	WebhookID int32
	// WebhookEventID identifies the delivery of one event to one webhook.
	WebhookEventID int32
	// CommentID identifies a comment under a lecture.
	CommentID int32
	// MovementID identifies a refund or a step of a chargeback.
	MovementID int32
	// DisputeID identifies a dispute of a transaction.
	DisputeID int32
	// OrderID identifies an order.
	OrderID int32
)

// MaxID is the largest id that fits the contract's int32.
const MaxID = math.MaxInt32

// Sequence is a counter that issues new ids in one school.
type Sequence string

// The sequences of a school. Each is named after the column that it numbers.
const (
	CourseSequence      Sequence = "course_id"
	PricingPlanSequence Sequence = "pricing_plan_id"
	SaleSequence        Sequence = "sale_id"
	TransactionSequence Sequence = "transaction_id"
	CouponSequence      Sequence = "coupon_id"
	AffiliateSequence   Sequence = "affiliate_id"
	AuthorSequence      Sequence = "author_id"

	LectureSectionSequence  Sequence = "lecture_section_id"
	LectureSequence         Sequence = "lecture_id"
	AttachmentSequence      Sequence = "attachment_id"
	QuizSequence            Sequence = "quiz_id"
	QuizResponseSequence    Sequence = "quiz_response_id"
	EnrollmentSequence      Sequence = "enrollment_id"
	ProgressSequence        Sequence = "progress_id"
	LectureProgressSequence Sequence = "lecture_progress_id"
	WebhookSequence         Sequence = "webhook_id"
	WebhookEventSequence    Sequence = "webhook_event_id"
	CommentSequence         Sequence = "comment_id"
	MovementSequence        Sequence = "movement_id"
	DisputeSequence         Sequence = "dispute_id"
	OrderSequence           Sequence = "order_id"
)
