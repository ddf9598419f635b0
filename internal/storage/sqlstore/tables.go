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
	counter string // of the table's rows in one school; empty when nobody asks for it
	// byIndex: the rows are not in the order of their ids.
	byIndex bool
	id      func(*T) int32
	bind    func(*T) []any // in the order of columns
	scan    func(*T) []any // in the order of columns
	created lyceum.EntryType
	updated lyceum.EntryType
}

func (t *table[T]) list() string { return strings.Join(t.columns, ", ") }

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

var users = table[lyceum.User]{
	name: "users", counter: "users", seq: lyceum.UserSequence, created: lyceum.UserCreated, updated: lyceum.UserUpdated,
	columns: []string{"user_id", "email", "email_key", "name", "role", "src", "password_hash", "created_at", "disabled_at", "last_sign_in_at", "last_sign_in_ip", "must_change_password"},
	id:      func(u *lyceum.User) int32 { return int32(u.ID) },
	bind: func(u *lyceum.User) []any {
		return []any{int64(u.ID), u.Email, emailKey(u.Email), optText(u.Name), string(u.Role), optText(u.Src), optText(u.PasswordHash), micros(u.CreatedAt), optMicros(u.DisabledAt), optMicros(u.LastSignInAt), optText(u.LastSignInIP), flag(u.MustChangePassword)}
	},
	scan: func(u *lyceum.User) []any {
		return []any{scanInt(&u.ID), scanText(&u.Email), discard, scanOptText(&u.Name), scanText(&u.Role), scanOptText(&u.Src), scanOptText(&u.PasswordHash), scanTime(&u.CreatedAt), scanOptTime(&u.DisabledAt), scanOptTime(&u.LastSignInAt), scanOptText(&u.LastSignInIP), scanBool(&u.MustChangePassword)}
	},
}

var courses = table[lyceum.Course]{
	name: "courses", seq: lyceum.CourseSequence, created: lyceum.CourseCreated, updated: lyceum.CourseUpdated,
	columns: []string{"course_id", "name", "heading", "description", "is_published", "image_url", "created_at", "updated_at", "author_id", "is_listed", "lecture_order", "certificate"},
	id:      func(c *lyceum.Course) int32 { return int32(c.ID) },
	bind: func(c *lyceum.Course) []any {
		return []any{int64(c.ID), c.Name, optText(c.Heading), optText(c.Description), flag(c.IsPublished), optText(c.ImageURL), micros(c.CreatedAt), micros(c.UpdatedAt), optInt(c.AuthorID), flag(c.IsListed), flag(c.LectureOrder), optInt(c.Certificate)}
	},
	scan: func(c *lyceum.Course) []any {
		return []any{scanInt(&c.ID), scanText(&c.Name), scanOptText(&c.Heading), scanOptText(&c.Description), scanBool(&c.IsPublished), scanOptText(&c.ImageURL), scanTime(&c.CreatedAt), scanTime(&c.UpdatedAt), scanOptInt(&c.AuthorID), scanBool(&c.IsListed), scanBool(&c.LectureOrder), scanOptInt(&c.Certificate)}
	},
}

var pricingPlans = table[lyceum.PricingPlan]{
	name: "pricing_plans", seq: lyceum.PricingPlanSequence, created: lyceum.PricingPlanCreated, updated: lyceum.PricingPlanUpdated,
	columns: []string{"pricing_plan_id", "course_id", "name", "price", "currency", "frequency", "billing_interval", "billing_interval_count", "created_at", "updated_at", "description", "free_trial_length", "enrollment_cap", "access_limit_date", "access_limit_interval", "access_limit_duration"},
	id:      func(p *lyceum.PricingPlan) int32 { return int32(p.ID) },
	bind: func(p *lyceum.PricingPlan) []any {
		return []any{int64(p.ID), optInt(p.CourseID), p.Name, int64(p.Price), string(p.Currency), string(p.Frequency), optText(p.BillingInterval), optInt(p.BillingIntervalCount), micros(p.CreatedAt), micros(p.UpdatedAt), optText(p.Description), optInt(p.FreeTrialLength), optInt(p.EnrollmentCap), optMicros(p.AccessLimitDate), optText(p.AccessLimitInterval), optInt(p.AccessLimitDuration)}
	},
	scan: func(p *lyceum.PricingPlan) []any {
		return []any{scanInt(&p.ID), scanOptInt(&p.CourseID), scanText(&p.Name), scanInt(&p.Price), scanText(&p.Currency), scanText(&p.Frequency), scanOptText(&p.BillingInterval), scanOptInt(&p.BillingIntervalCount), scanTime(&p.CreatedAt), scanTime(&p.UpdatedAt), scanOptText(&p.Description), scanOptInt(&p.FreeTrialLength), scanOptInt(&p.EnrollmentCap), scanOptTime(&p.AccessLimitDate), scanOptText(&p.AccessLimitInterval), scanOptInt(&p.AccessLimitDuration)}
	},
}

var coupons = table[lyceum.Coupon]{
	name: "coupons", seq: lyceum.CouponSequence, created: lyceum.CouponCreated, updated: lyceum.CouponUpdated,
	columns: []string{"coupon_id", "code"},
	id:      func(c *lyceum.Coupon) int32 { return int32(c.ID) },
	bind:    func(c *lyceum.Coupon) []any { return []any{int64(c.ID), optText(c.Code)} },
	scan:    func(c *lyceum.Coupon) []any { return []any{scanInt(&c.ID), scanOptText(&c.Code)} },
}

var affiliates = table[lyceum.AffiliatePartner]{
	name: "affiliates", seq: lyceum.AffiliateSequence, created: lyceum.AffiliateCreated, updated: lyceum.AffiliateUpdated,
	columns: []string{"affiliate_id", "name"},
	id:      func(a *lyceum.AffiliatePartner) int32 { return int32(a.ID) },
	bind:    func(a *lyceum.AffiliatePartner) []any { return []any{int64(a.ID), optText(a.Name)} },
	scan:    func(a *lyceum.AffiliatePartner) []any { return []any{scanInt(&a.ID), scanOptText(&a.Name)} },
}

var authors = table[lyceum.AuthorProfile]{
	name: "authors", seq: lyceum.AuthorSequence, created: lyceum.AuthorCreated, updated: lyceum.AuthorUpdated,
	columns: []string{"author_id", "name", "bio", "profile_image_url", "user_id"},
	id:      func(a *lyceum.AuthorProfile) int32 { return int32(a.ID) },
	bind: func(a *lyceum.AuthorProfile) []any {
		return []any{int64(a.ID), optText(a.Name), optText(a.Bio), optText(a.ProfileImageURL), optInt(a.UserID)}
	},
	scan: func(a *lyceum.AuthorProfile) []any {
		return []any{scanInt(&a.ID), scanOptText(&a.Name), scanOptText(&a.Bio), scanOptText(&a.ProfileImageURL), scanOptInt(&a.UserID)}
	},
}

var sales = table[lyceum.Sale]{
	name: "sales", seq: lyceum.SaleSequence, created: lyceum.SaleCreated, updated: lyceum.SaleUpdated,
	columns: []string{"sale_id", "created_at", "user_id", "pricing_plan_id", "coupon_id", "affiliate_id", "author_id", "final_price", "currency", "paid_until", "ended_at", "end_reason"},
	id:      func(s *lyceum.Sale) int32 { return int32(s.ID) },
	bind: func(s *lyceum.Sale) []any {
		return []any{
			int64(s.ID), micros(s.CreatedAt), optInt(s.UserID), optInt(s.PricingPlanID), optInt(s.CouponID), optInt(s.AffiliateID), optInt(s.AuthorID),
			optInt(s.FinalPrice), optText(s.Currency), optMicros(s.PaidUntil), optMicros(s.EndedAt), optText(s.EndReason),
		}
	},
	scan: func(s *lyceum.Sale) []any {
		return []any{
			scanInt(&s.ID), scanTime(&s.CreatedAt), scanOptInt(&s.UserID), scanOptInt(&s.PricingPlanID), scanOptInt(&s.CouponID), scanOptInt(&s.AffiliateID), scanOptInt(&s.AuthorID),
			scanOptInt(&s.FinalPrice), scanOptText(&s.Currency), scanOptTime(&s.PaidUntil), scanOptTime(&s.EndedAt), scanOptText(&s.EndReason),
		}
	},
}

var transactions = table[lyceum.Transaction]{
	name: "transactions", seq: lyceum.TransactionSequence, counter: "transactions",
	created: lyceum.TransactionCreated, updated: lyceum.TransactionUpdated,
	columns: []string{
		"transaction_id", "user_id", "pricing_plan_id", "sale_id", "created_at", "purchased_at",
		"charge", "final_price", "currency", "tax_charge", "revenue", "paid", "has_chargeback", "chargeback_fee",
		"affiliate_id", "affiliate_fees", "author_id", "author_fees", "coupon_id", "refunded_at", "amount_refunded",
	},
	id: func(t *lyceum.Transaction) int32 { return int32(t.ID) },
	bind: func(t *lyceum.Transaction) []any {
		return []any{
			int64(t.ID), int64(t.UserID), int64(t.PricingPlanID), int64(t.SaleID), micros(t.CreatedAt), micros(t.PurchasedAt),
			int64(t.Charge), int64(t.FinalPrice), string(t.Currency), int64(t.TaxCharge), int64(t.Revenue), flag(t.Paid), optFlag(t.HasChargeback), optInt(t.ChargebackFee),
			optInt(t.AffiliateID), int64(t.AffiliateFees), optInt(t.AuthorID), int64(t.AuthorFees), optInt(t.CouponID), optMicros(t.RefundedAt), int64(t.AmountRefunded),
		}
	},
	scan: func(t *lyceum.Transaction) []any {
		return []any{
			scanInt(&t.ID), scanInt(&t.UserID), scanInt(&t.PricingPlanID), scanInt(&t.SaleID), scanTime(&t.CreatedAt), scanTime(&t.PurchasedAt),
			scanInt(&t.Charge), scanInt(&t.FinalPrice), scanText(&t.Currency), scanInt(&t.TaxCharge), scanInt(&t.Revenue), scanBool(&t.Paid), scanOptBool(&t.HasChargeback), scanOptInt(&t.ChargebackFee),
			scanOptInt(&t.AffiliateID), scanInt(&t.AffiliateFees), scanOptInt(&t.AuthorID), scanInt(&t.AuthorFees), scanOptInt(&t.CouponID), scanOptTime(&t.RefundedAt), scanInt(&t.AmountRefunded),
		}
	},
}

var oauthApps = table[lyceum.OAuthApp]{
	name: "oauth_apps", seq: lyceum.OAuthAppSequence, created: lyceum.OAuthAppCreated, updated: lyceum.OAuthAppUpdated,
	columns: []string{
		"oauth_app_id", "name", "version", "redirect_url", "client_id", "secret_hash", "created_at", "require_pkce",
		"rotate_refresh_tokens", "old_secret_hash", "old_secret_until", "last_used_at", "disabled_at", "deleted_at",
	},
	id: func(a *lyceum.OAuthApp) int32 { return int32(a.ID) },
	bind: func(a *lyceum.OAuthApp) []any {
		return []any{
			int64(a.ID), a.Name, int64(a.Version), a.RedirectURL, a.ClientID, a.SecretHash[:], micros(a.CreatedAt), flag(a.RequirePKCE),
			flag(a.RotateRefreshTokens), optHash(a.OldSecretHash), optMicros(a.OldSecretUntil), optMicros(a.LastUsedAt), optMicros(a.DisabledAt), optMicros(a.DeletedAt),
		}
	},
	scan: func(a *lyceum.OAuthApp) []any {
		return []any{
			scanInt(&a.ID), scanText(&a.Name), scanInt(&a.Version), scanText(&a.RedirectURL), scanText(&a.ClientID), scanHash(&a.SecretHash), scanTime(&a.CreatedAt), scanBool(&a.RequirePKCE),
			scanBool(&a.RotateRefreshTokens), scanOptHash(&a.OldSecretHash), scanOptTime(&a.OldSecretUntil), scanOptTime(&a.LastUsedAt), scanOptTime(&a.DisabledAt), scanOptTime(&a.DeletedAt),
		}
	},
}

var apiKeys = table[lyceum.APIKey]{
	name: "api_keys", seq: lyceum.APIKeySequence, created: lyceum.APIKeyCreated,
	columns: []string{"api_key_id", "name", "permissions", "hash", "last_four", "created_at", "last_used_at", "revoked_at"},
	id:      func(k *lyceum.APIKey) int32 { return int32(k.ID) },
	bind: func(k *lyceum.APIKey) []any {
		return []any{int64(k.ID), k.Name, int64(k.Permissions), k.Hash[:], k.LastFour, micros(k.CreatedAt), optMicros(k.LastUsedAt), optMicros(k.RevokedAt)}
	},
	scan: func(k *lyceum.APIKey) []any {
		return []any{scanInt(&k.ID), scanText(&k.Name), scanInt(&k.Permissions), scanHash(&k.Hash), scanText(&k.LastFour), scanTime(&k.CreatedAt), scanOptTime(&k.LastUsedAt), scanOptTime(&k.RevokedAt)}
	},
}

var grants = table[lyceum.Grant]{
	name: "grants", seq: lyceum.GrantSequence, created: lyceum.GrantCreated, updated: lyceum.GrantRevoked,
	columns: []string{"grant_id", "oauth_app_id", "user_id", "scopes", "created_at", "last_used_at", "revoked_at"},
	id:      func(g *lyceum.Grant) int32 { return int32(g.ID) },
	bind: func(g *lyceum.Grant) []any {
		return []any{int64(g.ID), int64(g.App), int64(g.User), g.Scopes.String(), micros(g.CreatedAt), optMicros(g.LastUsedAt), optMicros(g.RevokedAt)}
	},
	scan: func(g *lyceum.Grant) []any {
		return []any{scanInt(&g.ID), scanInt(&g.App), scanInt(&g.User), scanScopes(&g.Scopes), scanTime(&g.CreatedAt), scanOptTime(&g.LastUsedAt), scanOptTime(&g.RevokedAt)}
	},
}
