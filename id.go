package lyceum

import "math"

// Ids are unique within one school, positive, never reused, and fit the
// contract's int32; every number of that range is exact in JavaScript.
type (
	// SchoolID names a school on one server. It stands in addresses that
	// learners see.
	SchoolID int32
	// CourseID names a course.
	CourseID int32
	// PricingPlanID names one way of paying for a product.
	PricingPlanID int32
	// SaleID names a sale; a sale groups one or more transactions.
	SaleID int32
	// TransactionID names a movement of money.
	TransactionID int32
	// CouponID names a coupon.
	CouponID int32
	// AffiliateID names a partner who is paid for bringing a buyer.
	AffiliateID int32
	// AuthorID names an author who is paid for a product.
	AuthorID int32
	// LectureSectionID names a section of a course.
	LectureSectionID int32
	// LectureID names a lecture of a course.
	LectureID int32
	// AttachmentID names a part of a lecture. It stands for the video or the
	// quiz in it, too.
	AttachmentID int32
	// QuizID names the quiz inside an attachment.
	QuizID int32
	// QuizResponseID names one answer of a learner to a quiz.
	QuizResponseID int32
	// EnrollmentID names one stay of a learner in a course.
	EnrollmentID int32
	// ProgressID names what a learner has done of a course.
	ProgressID int32
	// LectureProgressID names that a learner completed a lecture.
	LectureProgressID int32
	// WebhookID names a receiver of events.
	WebhookID int32
	// WebhookEventID names one event on its way to one receiver.
	WebhookEventID int32
	// CommentID names what a user wrote under a lecture.
	CommentID int32
	// MovementID names a refund or a step of a chargeback.
	MovementID int32
	// DisputeID names a dispute of a transaction.
	DisputeID int32
	// OrderID names a checkout that somebody began.
	OrderID int32
)

// MaxID is the largest id the contract's int32 can carry.
const MaxID = math.MaxInt32

// Sequence names a counter that gives out new ids in one school.
type Sequence string

// The sequences of a school. Each is named like the column it numbers.
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
