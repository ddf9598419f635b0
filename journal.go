package lyceum

import "time"

// EntryType is what happened: a noun, a dot and a verb.
type EntryType string

// The entry types that a store appends by itself when it saves a row.
const (
	SchoolCreated      EntryType = "school.created"
	SchoolUpdated      EntryType = "school.updated"
	SchoolRestored     EntryType = "school.restored" // from a backup
	SchoolUpgraded     EntryType = "school.upgraded" // to a newer version of the database
	UserCreated        EntryType = "user.created"
	UserUpdated        EntryType = "user.updated"
	CourseCreated      EntryType = "course.created"
	CourseUpdated      EntryType = "course.updated"
	PricingPlanCreated EntryType = "pricing_plan.created"
	PricingPlanUpdated EntryType = "pricing_plan.updated"
	CouponCreated      EntryType = "coupon.created"
	CouponUpdated      EntryType = "coupon.updated"
	AffiliateCreated   EntryType = "affiliate.created"
	AffiliateUpdated   EntryType = "affiliate.updated"
	AuthorCreated      EntryType = "author.created"
	AuthorUpdated      EntryType = "author.updated"
	SaleCreated        EntryType = "sale.created"
	SaleUpdated        EntryType = "sale.updated"
	TransactionCreated EntryType = "transaction.created"
	TransactionUpdated EntryType = "transaction.updated"
	APIKeyCreated      EntryType = "api_key.created"
	APIKeyRevoked      EntryType = "api_key.revoked"
	OAuthAppCreated    EntryType = "oauth_app.created"
	OAuthAppUpdated    EntryType = "oauth_app.updated"
	GrantCreated       EntryType = "grant.created"
	GrantRevoked       EntryType = "grant.revoked"
	LinkCreated        EntryType = "user.link_created" // a one-time link to set a password
	UserDisabled       EntryType = "user.disabled"
	UserEnabled        EntryType = "user.enabled"
	UserSignedOut      EntryType = "user.signed_out"    // everywhere
	SessionEnded       EntryType = "user.session_ended" // one of the user's sessions, ended by the user
	SignedIn           EntryType = "user.signed_in"     // any user; see EntryDetail

	LectureSectionCreated  EntryType = "lecture_section.created"
	LectureSectionUpdated  EntryType = "lecture_section.updated"
	LectureCreated         EntryType = "lecture.created"
	LectureUpdated         EntryType = "lecture.updated"
	AttachmentCreated      EntryType = "attachment.created"
	AttachmentUpdated      EntryType = "attachment.updated"
	EnrollmentCreated      EntryType = "enrollment.created"
	EnrollmentUpdated      EntryType = "enrollment.updated"
	ProgressCreated        EntryType = "progress.created"
	ProgressUpdated        EntryType = "progress.updated"
	LectureProgressCreated EntryType = "lecture_progress.created"
	LectureProgressUpdated EntryType = "lecture_progress.updated"
	LectureProgressDeleted EntryType = "lecture_progress.deleted" // the completion was undone
	QuizResponseCreated    EntryType = "quiz_response.created"
	QuizResponseUpdated    EntryType = "quiz_response.updated"
	UserTagged             EntryType = "user.tagged" // the user's tags changed
	WebhookCreated         EntryType = "webhook.created"
	WebhookUpdated         EntryType = "webhook.updated"
	WebhookEventCreated    EntryType = "webhook_event.created"
	WebhookEventUpdated    EntryType = "webhook_event.updated"
	WebhookDeleted         EntryType = "webhook.deleted"
	WebhookEventResent     EntryType = "webhook_event.resent"
	WebhookSecretRotated   EntryType = "webhook.secret_rotated"
	MovementCreated        EntryType = "movement.created"
	DisputeCreated         EntryType = "dispute.created"
	DisputeUpdated         EntryType = "dispute.updated"
	AdmissionCreated       EntryType = "admission.created"
	AdmissionUpdated       EntryType = "admission.updated"
	CommentCreated         EntryType = "comment.created"
	CommentUpdated         EntryType = "comment.updated"
	CommentDeleted         EntryType = "comment.deleted"
	OrderCreated           EntryType = "order.created"
	OrderUpdated           EntryType = "order.updated"
	SaleWarningCreated     EntryType = "sale_warning.created"
	SaleWarningUpdated     EntryType = "sale_warning.updated"
	PaymentFailureCreated  EntryType = "payment_failure.created"

	EntitlementCreated EntryType = "entitlement.created"
	EntitlementUpdated EntryType = "entitlement.updated"
	EntitlementDeleted EntryType = "entitlement.deleted" // an import found a better reason
	BlockCreated       EntryType = "block.created"
	BlockDeleted       EntryType = "block.deleted"

	// Traces of attacks. They concern objects that did not change.
	SignInFailed   EntryType = "user.sign_in_failed"
	AccountLocked  EntryType = "user.sign_in_locked"
	SignInsRefused EntryType = "school.sign_ins_refused" // from an IP address that tried too many passwords
	CodeReplayed   EntryType = "grant.code_replayed"
	TokenReused    EntryType = "grant.token_reused"
	TargetRefused  EntryType = "webhook.target_refused"
)

// productEntries are the entry types that products have in common.
var productEntries []EntryType

// product registers the entry types of a product: created, updated and deleted.
func product(noun string) string { //nolint:unparam // var _ needs a result
	for _, verb := range []string{".created", ".updated", ".deleted"} {
		productEntries = append(productEntries, EntryType(noun+verb))
	}
	return noun
}

// EntryTypes lists every type of entry.
func EntryTypes() []EntryType {
	return append([]EntryType{
		SchoolCreated, SchoolUpdated, SchoolRestored, SchoolUpgraded, UserCreated, UserUpdated, CourseCreated,
		CourseUpdated,
		PricingPlanCreated, PricingPlanUpdated, CouponCreated, CouponUpdated, AffiliateCreated, AffiliateUpdated,
		AuthorCreated, AuthorUpdated, SaleCreated, SaleUpdated, TransactionCreated, TransactionUpdated, APIKeyCreated,
		APIKeyRevoked, OAuthAppCreated, OAuthAppUpdated, GrantCreated, GrantRevoked, LinkCreated, UserDisabled, UserEnabled,
		UserSignedOut, SessionEnded, SignedIn, LectureSectionCreated, LectureSectionUpdated, LectureCreated, LectureUpdated,
		AttachmentCreated, AttachmentUpdated, EnrollmentCreated, EnrollmentUpdated, ProgressCreated, ProgressUpdated,
		LectureProgressCreated, LectureProgressUpdated, LectureProgressDeleted, QuizResponseCreated, QuizResponseUpdated,
		UserTagged,
		WebhookCreated, WebhookUpdated, WebhookEventCreated, WebhookEventUpdated, WebhookDeleted, WebhookEventResent,
		WebhookSecretRotated, MovementCreated, DisputeCreated, DisputeUpdated, CommentCreated, CommentUpdated, CommentDeleted,
		AdmissionCreated, AdmissionUpdated,
		OrderCreated, OrderUpdated, EntitlementCreated, EntitlementUpdated, EntitlementDeleted, BlockCreated, BlockDeleted,
		SaleWarningCreated, SaleWarningUpdated, PaymentFailureCreated, SignInFailed, AccountLocked, SignInsRefused,
		CodeReplayed, TokenReused, TargetRefused,
		EmailTemplateUpdated, EmailTemplateDeleted, TemplateSecretCreated, TemplateSecretUpdated, TemplateSecretDeleted,
		StaffMemberCreated, StaffMemberUpdated, StaffMemberDeleted,
		EmailFailedEntry,
		UserErased, ErasurePlanned, ErasureUndone, ErasureRefused, DataHandedOver,
		SecondFactorSet, SecondFactorRemoved, RecoveryCodeUsed, RecoveryCodesMade, PasskeyAdded, PasskeyRemoved,
	}, productEntries...)
}

// EventName is the name of an event that webhooks are notified of, in the contract's words.
type EventName string

// The events that a school can produce (docs/own-interface.md, "Webhooks").
const (
	AdmissionCreatedEvent     EventName = "Admission.created"
	AdmissionDisabledEvent    EventName = "Admission.disabled"
	EnrollmentCreatedEvent    EventName = "Enrollment.created"
	EnrollmentCompletedEvent  EventName = "Enrollment.completed"
	EnrollmentDisabledEvent   EventName = "Enrollment.disabled"
	LectureProgressEvent      EventName = "LectureProgress.created"
	QuizResponseEvent         EventName = "Response.created"
	CommentCreatedEvent       EventName = "Comment.created"
	SaleCreatedEvent          EventName = "Sale.created"
	SubscriptionCanceledEvent EventName = "Sale.subscription_canceled"
	TransactionCreatedEvent   EventName = "Transaction.created"
	TransactionRefundedEvent  EventName = "Transaction.refunded"
	UserCreatedEvent          EventName = "User.created"
	UserUpdatedEvent          EventName = "User.updated"
	MarketingAllowedEvent     EventName = "User.subscribe_to_marketing_emails"
	MarketingRefusedEvent     EventName = "User.unsubscribe_from_marketing_emails"
	UserTagCreatedEvent       EventName = "UserTag.created"
	UserTagRemovedEvent       EventName = "UserTag.removed"
	AbandonedOrderEvent       EventName = "AbandonedOrder.created"
)

// EventNames lists every event that a school can produce, by name.
func EventNames() []EventName {
	return []EventName{
		AbandonedOrderEvent, AdmissionCreatedEvent, AdmissionDisabledEvent, CommentCreatedEvent, EnrollmentCompletedEvent,
		EnrollmentCreatedEvent, EnrollmentDisabledEvent,
		LectureProgressEvent, QuizResponseEvent, SaleCreatedEvent, SubscriptionCanceledEvent, TransactionCreatedEvent,
		TransactionRefundedEvent, UserCreatedEvent, MarketingAllowedEvent, MarketingRefusedEvent, UserUpdatedEvent,
		UserTagCreatedEvent, UserTagRemovedEvent,
	}
}

// Entry is one change of one school. Number is 1 for the school's first entry and rises by one
// in commit order, so a reader that has seen entry n has seen all entries before it.
type Entry struct {
	Number   int64
	At       time.Time // to the microsecond
	Actor    string
	Type     EntryType
	ObjectID int32
	Event    Opt[EventName] // the event that it announces
	Detail   Opt[string]    // JSON with what the object does not show afterwards; without an event, no personal data
}

// Stamp is the school a change belongs to, when it happens and who makes it. Actor is a word
// for the audit trail, such as "import" or "api_key:3"; it is not secret.
type Stamp struct {
	School SchoolID
	At     time.Time
	Actor  string
	// Once makes Change run the change only once.
	Once *Once
	// Many is set if the change writes a great many rows, as an import does.
	Many bool
}
