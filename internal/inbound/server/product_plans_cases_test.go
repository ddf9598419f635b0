package server_test

import "strings"

// productPlans returns rows of an operation on the pricing plans of a product in version 2.
func productPlans(op string, rows ...requestCase) []requestCase {
	return versionTwo(op+"ProductPricingPlan", rows...)
}

func versionTwo(op string, rows ...requestCase) []requestCase {
	for i := range rows {
		rows[i].face, rows[i].op = "v2", op
	}
	return rows
}

const (
	everyTerm = `"name":"Circle","currency":"usd","price":123456,"description":"All","detailed_description":"All of it","free_trial_length":14,` +
		`"access_limit_interval":"month","access_limit_duration":6,"enrollment_cap":3,"enrollment_cap_expires_at":"2024-02-01T00:00:00Z",` +
		`"enrollment_cap_display_priority":"uses","enrollment_cap_fulfillment_count":9,"enrollment_cap_visible":true,"position":7,"is_published":false`
	theCourse = "product_types=courses product_id=4"
	thePlan   = theCourse + " pricing_plan_id=15"
)

// productPlanRows are derived from contract/v2/pricing_plans.yaml, last in the school of
// requestCases, whose course 4 has five plans, one of them archived.
var productPlanRows = slicesOf(
	versionTwo("listProductPricingPlans",
		requestCase{name: "one", values: theCourse, golden: "v2/pricing_plans.json"},
		requestCase{name: "of an unknown product", values: "product_types=courses product_id=999", status: 404, says: "there is no course 999"},
		requestCase{name: "of another kind", values: "product_types=digital-downloads product_id=4", status: 404, says: "there is no digital download 4"},
		requestCase{name: "of no kind", values: "product_types=course product_id=4", status: 400, says: `"field":"product_types","message":"must be courses, digital-downloads, product-collections, membership-tiers or coaching"`},
		requestCase{name: "mistakes", values: theCourse, query: "page=0&per_page=101&sort_by=name&sort_direction=up&is_published=x", status: 400, golden: "v2/pricing_plans_mistakes.json"},
	), badPaths("v2", "listProductPricingPlans", "product_id", "product_types=courses"),
	productPlans("create",
		requestCase{name: "with every field", values: theCourse, body: "{" + everyTerm + `,"is_recurring":true,"billing_interval":"week","billing_interval_count":2,"num_payments_required":4}`, golden: "v2/pricing_plan.json"},
		requestCase{name: "with what it must have", values: theCourse, body: `{"name":"Once","currency":"JPY","price":500}`, golden: "v2/pricing_plan_bare.json"},
		requestCase{
			name: "with nulls", values: theCourse, says: `"formatted_price":"Free","formatted_period_full_words":null,"formatted_price_no_period":"CHF 0.00"`,
			body: `{"name":"Gift","currency":"CHF","price":0,"is_recurring":false,"billing_interval":null,"billing_interval_count":null,"description":null,"detailed_description":null,` +
				`"free_trial_length":null,"access_limit_date":null,"access_limit_interval":null,"access_limit_duration":null,"enrollment_cap":null,"enrollment_cap_expires_at":null,` +
				`"enrollment_cap_display_priority":null,"enrollment_cap_fulfillment_count":null,"enrollment_cap_visible":null,"num_payments_required":null,"position":null}`,
		},
		requestCase{name: "recurring", values: theCourse, body: `{"name":"Monthly","currency":"EUR","price":500,"is_recurring":true,"billing_interval":"month"}`, says: `"formatted_price":"€5.00 per month","formatted_period_full_words":"per month","formatted_price_no_period":"€5.00"`},
		requestCase{name: "of a tier", values: "product_types=membership-tiers product_id=5", body: `{"name":"Yearly","currency":"USD","price":9000,"is_recurring":true,"billing_interval":"year"}`, says: `"product":{"type":"membership_tier","id":5,"href":"/lyceum/v1/membership_tiers/5"}`},
		requestCase{name: "of a tier by the week", values: "product_types=membership-tiers product_id=5", body: `{"name":"X","currency":"USD","price":9,"is_recurring":true,"billing_interval":"week","billing_interval_count":2}`, status: 400, says: "billing_interval must be month or year; billing_interval_count must be 1"},
		requestCase{name: "recurring without an interval", values: theCourse, body: `{"name":"X","currency":"USD","price":9,"is_recurring":true}`, status: 400, says: `"field":"billing_interval","message":"is required; it must be day, week, month or year"`},
		requestCase{name: "an interval of what is paid once", values: theCourse, body: `{"name":"X","currency":"USD","price":9,"billing_interval":"week","billing_interval_count":1,"num_payments_required":2}`, status: 400, says: "billing_interval must be null unless is_recurring is true; billing_interval_count must be null unless is_recurring is true; num_payments_required must be null unless is_recurring is true"},
		requestCase{name: "limits that do not go together", values: theCourse, body: `{"name":"X","currency":"USD","price":9,"access_limit_interval":"week","access_limit_date":"2024-03-01"}`, status: 422, says: `{"code":"validation_failed","message":"access_limit_duration must be used together with access_limit_interval"`},
		requestCase{name: "of an unknown product", values: "product_types=courses product_id=999", body: `{"name":"X","currency":"USD","price":9}`, status: 404, says: "there is no course 999"},
		requestCase{name: "without anything", values: theCourse, body: `{}`, status: 400, golden: "v2/pricing_plan_missing.json"},
		requestCase{name: "no body", values: theCourse, status: 400, golden: "v2/pricing_plan_missing.json"},
		requestCase{
			name: "every mistake is named", values: theCourse, status: 400, golden: "v2/pricing_plan_mistakes.json",
			body: `{"name":"","currency":"dollars","price":-1,"is_recurring":"maybe","billing_interval":"hour","billing_interval_count":1001,"description":1,"detailed_description":[],` +
				`"free_trial_length":36501,"access_limit_date":"soon","access_limit_interval":"hour","access_limit_duration":0,"enrollment_cap":-1,"enrollment_cap_expires_at":7,` +
				`"enrollment_cap_display_priority":7,"enrollment_cap_fulfillment_count":"x","enrollment_cap_visible":1,"num_payments_required":0,"position":-1,"is_published":0,` +
				`"frequency":"free","cc_statement_description":"x","author_revenue_share":0.5}`,
		},
		requestCase{name: "a name that is too long", values: theCourse, body: `{"name":"` + strings.Repeat("n", 256) + `","currency":"USD","price":2147483648}`, status: 400, says: `name must be 1 to 255 characters long; price must be an integer from 0 to 2147483647`},
	),
	versionTwo("listProductPricingPlans",
		requestCase{name: "newest first", values: theCourse, query: "per_page=1", says: `"data":[{"id":18,`},
		requestCase{name: "oldest first", values: theCourse, query: "per_page=1&sort_direction=asc", says: `"data":[{"id":4,`},
		requestCase{name: "published", values: theCourse, query: "is_published=true", says: `"total_count":7`},
		requestCase{name: "not published", values: theCourse, query: "is_published=0", says: `"data":[{"id":15,`},
		requestCase{name: "beyond the last", values: theCourse, query: "page=9", says: `"data":[],"meta":{"page":9,"per_page":25,"total_pages":1,"total_count":9}`},
	),
	productPlans("show",
		requestCase{name: "one", values: thePlan, golden: "v2/pricing_plan.json"},
		requestCase{name: "of another course", values: "product_types=courses product_id=1 pricing_plan_id=15", status: 404, says: "course 1 has no pricing plan 15"},
		requestCase{name: "of another kind", values: "product_types=coaching product_id=4 pricing_plan_id=15", status: 404, says: "coaching 4 has no pricing plan 15"},
		requestCase{name: "unknown", values: theCourse + " pricing_plan_id=999", status: 404, says: "there is no pricing plan 999"},
	), badPaths("v2", "showProductPricingPlan", "pricing_plan_id", theCourse),
	productPlans("update",
		requestCase{name: "no body", values: thePlan, golden: "v2/pricing_plan.json"},
		requestCase{name: "nothing", values: thePlan, body: `{"name":null,"enrollment_cap_visible":null,"enrollment_cap_fulfillment_count":3}`, golden: "v2/pricing_plan.json"},
		requestCase{
			name: "every field", values: thePlan, golden: "v2/pricing_plan_changed.json",
			body: `{"name":"Ring","description":null,"detailed_description":"Less","cc_statement_description":"RING","is_published":true,"access_limit_date":"2024-03-01T00:00:00Z",` +
				`"access_limit_interval":null,"access_limit_duration":null,"enrollment_cap":null,"enrollment_cap_expires_at":null,"enrollment_cap_display_priority":"time","enrollment_cap_visible":false}`,
		},
		requestCase{
			name: "what is fixed", values: thePlan, status: 400, golden: "v2/pricing_plan_fixed.json",
			body: `{"currency":"USD","price":1,"is_recurring":true,"billing_interval":"day","billing_interval_count":1,"free_trial_length":1,"num_payments_required":2,"position":1}`,
		},
		requestCase{name: "limits that do not go together", values: thePlan, body: `{"access_limit_interval":"week","access_limit_duration":2}`, status: 422, says: "access_limit_date must not be used together with access_limit_duration"},
		requestCase{name: "of another course", values: "product_types=courses product_id=1 pricing_plan_id=15", body: `{"name":"X"}`, status: 404, says: "course 1 has no pricing plan 15"},
		requestCase{name: "unknown", values: theCourse + " pricing_plan_id=999", body: `{}`, status: 404, says: "there is no pricing plan 999"},
	),
	productPlans("delete",
		requestCase{name: "one", values: thePlan, says: `"is_published":false`},
		requestCase{name: "again", values: thePlan, says: `"is_published":false`},
		requestCase{name: "of another course", values: "product_types=courses product_id=1 pricing_plan_id=15", status: 404, says: "course 1 has no pricing plan 15"},
		requestCase{name: "unknown", values: theCourse + " pricing_plan_id=999", status: 404, says: "there is no pricing plan 999"},
	),
	own("showPricingPlan", requestCase{name: "as version 2 left it", values: "pricing_plan_id=15", says: `"name":"Ring","price":123456,"currency":"USD","frequency":"payment_plan"`}),
	[]requestCase{{face: "v1", op: "ShowPricingPlans", name: "as version 2 left it", values: "pricing_plan_id=15", says: `"name":"Ring"`}},
)
