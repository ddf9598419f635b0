package intake

import (
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Users returns the kind of a school's users. A file must have id and email; without the
// columns role and created_at those are zero, without name and src null. Files have no
// passwords.
func Users() Kind[lyceum.User] {
	type row = lyceum.User
	return Kind[row]{
		name: "users", list: "users",
		id: func(u *row) int32 { return int32(u.ID) },
		keys: []key[row]{hashed(inColumn("email"), func(u *row) (string, bool) {
			return strings.ToLower(u.Email), true
		})},
		columns: []column[row]{
			idColumn("id", func(u *row) *lyceum.UserID { return &u.ID }),
			emailColumn("email", func(u *row) *string { return &u.Email }),
			optTextColumn("name", func(u *row) *lyceum.Opt[string] { return &u.Name }),
			roleColumn(),
			optTextColumn("src", func(u *row) *lyceum.Opt[string] { return &u.Src }),
			timeColumn("created_at", func(u *row) *time.Time { return &u.CreatedAt }).optional(),
			optTimeColumn("last_sign_in_at", func(u *row) *lyceum.Opt[time.Time] { return &u.LastSignInAt }),
			optTextColumn("last_sign_in_ip", func(u *row) *lyceum.Opt[string] { return &u.LastSignInIP }),
			optTextColumn("phone_number", func(u *row) *lyceum.Opt[string] { return &u.PhoneNumber }),
			optBooleanColumn("allow_marketing_emails", func(u *row) *lyceum.Opt[bool] { return &u.Marketing }),
			optTextColumn("notes", func(u *row) *lyceum.Opt[string] { return &u.Notes }).long(),
			optTimeColumn("disabled_at", func(u *row) *lyceum.Opt[time.Time] { return &u.DisabledAt }),
		},
	}
}

// roleColumn accepts any role that is not empty: a school can have its own.
func roleColumn() column[lyceum.User] {
	return column[lyceum.User]{
		name: "role", text: true,
		read: func(_ *memo, c cell, u *lyceum.User) string {
			if string(c.text) == string(lyceum.Student) {
				u.Role = lyceum.Student
				return ""
			}
			role, problem := c.string()
			if problem == "" && role == "" {
				problem = "must not be empty"
			}
			u.Role = lyceum.Role(role)
			return problem
		},
		write: func(e *encoder, u *lyceum.User) { e.text(string(u.Role)) },
	}
}

// Courses returns the kind of a school's courses. A file must have id, name and is_published;
// without created_at and updated_at those are zero, the other fields are null.
func Courses() Kind[lyceum.CourseRow] {
	type row = lyceum.CourseRow
	return Kind[row]{
		name: "courses", list: "courses",
		id: func(c *row) int32 { return int32(c.ID) },
		keys: []key[row]{hashed(inColumn("friendly_url"), func(c *row) (string, bool) {
			return strings.ToLower(c.FriendlyURL.Value), c.FriendlyURL.Present
		})},
		columns: []column[row]{
			idColumn("id", func(c *row) *lyceum.CourseID { return &c.ID }),
			textColumn("name", func(c *row) *string { return &c.Name }),
			optTextColumn("heading", func(c *row) *lyceum.Opt[string] { return &c.Heading }),
			optTextColumn("description", func(c *row) *lyceum.Opt[string] { return &c.Description }).long(),
			booleanColumn("is_published", func(c *row) *bool { return &c.IsPublished }),
			optTextColumn("image_url", func(c *row) *lyceum.Opt[string] { return &c.ImageURL }),
			timeColumn("created_at", func(c *row) *time.Time { return &c.CreatedAt }).optional(),
			timeColumn("updated_at", func(c *row) *time.Time { return &c.UpdatedAt }).optional(),
			optIDColumn("author_bio_id", func(c *row) *lyceum.Opt[lyceum.AuthorID] { return &c.AuthorID }),
			optBooleanColumn("is_listed", func(c *row) *lyceum.Opt[bool] { return &c.Listed }),
			optBooleanColumn("lecture_order", func(c *row) *lyceum.Opt[bool] { return &c.Ordered }),
			optIDColumn("certificate_page_id", func(c *row) *lyceum.Opt[int32] { return &c.Certificate }),
			optBooleanColumn("certificate_auto_issue", func(c *row) *lyceum.Opt[bool] { return &c.Compliance.Issues }),
			optBooleanColumn("video_completion_enforced", func(c *row) *lyceum.Opt[bool] { return &c.Compliance.Videos }),
			optBooleanColumn("quiz_pass_required", func(c *row) *lyceum.Opt[bool] { return &c.Compliance.Quizzes }),
			optPercentColumn("quiz_minimum_score", func(c *row) *lyceum.Opt[float64] { return &c.Compliance.Score }),
			optCountColumn("quiz_maximum_retakes", func(c *row) *lyceum.Opt[int32] { return &c.Compliance.Retakes }),
			optTimeColumn("archived_at", func(c *row) *lyceum.Opt[time.Time] { return &c.ArchivedAt }),
			optTextColumn("friendly_url", func(c *row) *lyceum.Opt[string] { return &c.FriendlyURL }),
		},
	}
}

// PricingPlans returns the kind of a school's pricing plans. A file must have id, course_id,
// name, price and currency; course_id may be empty. Without the columns frequency,
// created_at and updated_at those are zero; the other fields are null. A course can also
// be given by product_type and product_id. In JSON the frequency can also be the
// contract's object, which contains the interval and the limits of access; it is written
// in that form.
func PricingPlans() Kind[lyceum.PricingPlan] {
	type row = lyceum.PricingPlan
	frequency := []column[row]{
		optWordColumn(
			"billing_interval", []string{"day", "week", "month", "year"},
			func(p *row) *lyceum.Opt[string] { return &p.BillingInterval },
		),
		optIDColumn("billing_interval_count", func(p *row) *lyceum.Opt[int32] { return &p.BillingIntervalCount }),
		optTimeColumn("access_limit_date", func(p *row) *lyceum.Opt[time.Time] { return &p.AccessLimitDate }),
		optWordColumn(
			"access_limit_interval", []string{"day", "week", "month", "year"},
			func(p *row) *lyceum.Opt[string] { return &p.AccessLimitInterval },
		),
		optIDColumn("access_limit_duration", func(p *row) *lyceum.Opt[int32] { return &p.AccessLimitDuration }),
	}
	for i := range frequency {
		frequency[i].csvOnly = true
	}
	var kinds []string
	for _, kind := range lyceum.ProductKinds() {
		kinds = append(kinds, string(kind))
	}
	return Kind[row]{
		name: "pricing-plans", list: "pricing_plans",
		id: func(p *row) int32 { return int32(p.ID) },
		columns: slices.Concat([]column[row]{
			idColumn("id", func(p *row) *lyceum.PricingPlanID { return &p.ID }),
			optIDColumn("course_id", func(p *row) *lyceum.Opt[lyceum.CourseID] { return &p.CourseID }).always(),
			textColumn("name", func(p *row) *string { return &p.Name }),
			amountColumn("price", func(p *row) *lyceum.Minor { return &p.Price }),
			currencyColumn("currency", func(p *row) *lyceum.Currency { return &p.Currency }),
			frequencyColumn(frequency...),
		}, frequency, []column[row]{
			optTextColumn("description", func(p *row) *lyceum.Opt[string] { return &p.Description }).long(),
			optCountColumn("free_trial_length", func(p *row) *lyceum.Opt[int32] { return &p.FreeTrialLength }),
			optCountColumn("enrollment_cap", func(p *row) *lyceum.Opt[int32] { return &p.EnrollmentCap }),
			timeColumn("created_at", func(p *row) *time.Time { return &p.CreatedAt }).optional(),
			timeColumn("updated_at", func(p *row) *time.Time { return &p.UpdatedAt }).optional(),
		}, productColumns(kinds, func(word string) lyceum.ProductKind { return lyceum.ProductKind(word) },
			func(p *row) *lyceum.Opt[lyceum.Product] { return &p.Other }), []column[row]{
			optIDColumn("num_payments_required", func(p *row) *lyceum.Opt[int32] { return &p.Payments }),
			optBooleanColumn("is_published", func(p *row) *lyceum.Opt[bool] { return &p.Published }),
			optCountColumn("position", func(p *row) *lyceum.Opt[int32] { return &p.Position }),
			optTextColumn("detailed_description", func(p *row) *lyceum.Opt[string] { return &p.DetailedDescription }).long(),
			optTextColumn("cc_statement_description", func(p *row) *lyceum.Opt[string] { return &p.StatementText }),
			optTimeColumn("enrollment_cap_expires_at", func(p *row) *lyceum.Opt[time.Time] { return &p.CapExpiresAt }),
			optTextColumn("enrollment_cap_display_priority", func(p *row) *lyceum.Opt[string] { return &p.CapPriority }),
			optBooleanColumn("enrollment_cap_visible", func(p *row) *lyceum.Opt[bool] { return &p.CapVisible }),
			optPartColumn("author_revenue_share", func(p *row) *lyceum.Opt[float64] { return &p.AuthorShare }),
			earlierTermsColumn("earlier_terms"),
		}),
	}
}

// frequencyColumn returns the column of a plan's frequency. It is one word in CSV; in JSON it is
// written as an object that contains the given columns, too.
func frequencyColumn(beside ...column[lyceum.PricingPlan]) column[lyceum.PricingPlan] {
	inner := map[string]string{"type": "frequency"}
	for _, k := range beside {
		inner[k.name] = k.name
	}
	return column[lyceum.PricingPlan]{
		name: "frequency", inner: inner,
		read: func(_ *memo, c cell, p *lyceum.PricingPlan) string {
			for _, f := range [...]lyceum.Frequency{
				lyceum.Free, lyceum.OneTimePayment, lyceum.Subscription, lyceum.PaymentPlan,
			} {
				if string(c.text) == string(f) {
					p.Frequency = f
					return ""
				}
			}
			return frequencyTaken
		},
		write: func(e *encoder, p *lyceum.PricingPlan) {
			if e.format == CSV {
				e.word(string(p.Frequency))
				return
			}
			e.raw(`{"type":`)
			e.word(string(p.Frequency))
			for _, k := range beside {
				e.raw(`,"` + k.name + `":`)
				k.write(e, p)
			}
			e.raw(`}`)
		},
	}
}
