package lyceum

// Tables are the nouns of a school, each with its rows. They hold no state:
// what is read or changed depends on the View or the Tx that is handed to them.
type Tables struct {
	AccessTokens       Table[KeyHash, AccessToken, struct{}]
	Affiliates         Table[AffiliateID, AffiliatePartner, struct{}]
	APIKeys            Table[APIKeyID, APIKey, struct{}]
	Attachments        Table[AttachmentID, Attachment, AttachmentFilter]
	AuthorizationCodes Table[KeyHash, AuthorizationCode, struct{}]
	Authors            Table[AuthorID, AuthorProfile, struct{}]
	Comments           Table[CommentID, Comment, CommentFilter]
	Coupons            Table[CouponID, Coupon, struct{}]
	Courses            Table[CourseID, Course, CourseFilter]
	Deliveries         Table[WebhookEventID, WebhookEvent, WebhookEventFilter]
	Enrollments        Table[EnrollmentID, Enrollment, EnrollmentFilter]
	Grants             Table[GrantID, Grant, GrantFilter]
	LectureProgress    Table[LectureProgressID, LectureProgress, LectureProgressFilter]
	LectureSections    Table[LectureSectionID, LectureSection, LectureSectionFilter]
	Lectures           Table[LectureID, Lecture, LectureFilter]
	Links              Table[KeyHash, Link, struct{}]
	Movements          Table[MovementID, Movement, struct{}]
	OAuthApps          Table[OAuthAppID, OAuthApp, struct{}]
	Orders             Table[OrderID, PurchaseOrder, struct{}]
	PricingPlans       Table[PricingPlanID, PricingPlan, PricingPlanFilter]
	Progress           Table[ProgressID, Progress, ProgressFilter]
	QuizResponses      Table[QuizResponseID, QuizResponse, QuizResponseFilter]
	RefreshTokens      Table[KeyHash, RefreshToken, struct{}]
	Sales              Table[SaleID, Sale, struct{}]
	Sessions           Table[KeyHash, Session, struct{}]
	Transactions       Table[TransactionID, Transaction, TransactionQuery]
	Users              Table[UserID, User, UserFilter]
	Webhooks           Table[WebhookID, Webhook, struct{}]
}
