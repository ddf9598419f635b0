package server_test

import "fmt"

// changeRows are derived from contract/lyceum/sales.yaml, after archivedRows in their school: a
// membership with two tiers, and a subscription to one of them.
var changeRows = slicesOf(
	own("createMembership", requestCase{name: "of two tiers", body: `{"name":"Circle"}`, says: `{"membership":{"id":3,`}),
	own("createMembershipTier",
		requestCase{name: "the inner circle", values: "membership_id=3", body: `{"name":"Inner"}`, says: `{"membership_tier":{"id":4,`},
		requestCase{name: "the outer circle", values: "membership_id=3", body: `{"name":"Outer"}`, says: `{"membership_tier":{"id":5,`},
	),
	own("createPricingPlan",
		requestCase{name: "of the inner circle", body: tierPlan(4, 900), says: `{"pricing_plan":{"id":12,`},
		requestCase{name: "of the outer circle", body: tierPlan(5, 500), says: `{"pricing_plan":{"id":13,`},
		requestCase{name: "another one of it", body: tierPlan(5, 450), says: `{"pricing_plan":{"id":14,`},
	),
	own("createSale", requestCase{name: "of the outer circle", body: `{"user_id":2,"pricing_plan_id":13,"reference":"ch_outer"}`, says: `"sale":{"id":24,`}),
	misfits("a second tier", `"user_id":2,"pricing_plan_id":12`, "second_tier", "user 2 already has membership tier 5 of the same membership, by sale 24; to replace it, change its plan"),
	own("endSale", requestCase{name: "the second tier", values: "sale_id=25", says: `"end_reason":"voided"`}),
	own("changePlan",
		requestCase{name: "without a plan", values: "sale_id=24", body: `{}`, status: 400, says: "pricing_plan_id is required"},
		requestCase{name: "to an unknown one", values: "sale_id=24", body: `{"pricing_plan_id":99}`, status: 400, says: "pricing_plan_id 99 matches no pricing plan of this school"},
		requestCase{name: "to the one that it has", values: "sale_id=24", body: `{"pricing_plan_id":13}`, status: 409, says: `"code":"same_plan"`},
		requestCase{name: "to another product", values: "sale_id=24", body: `{"pricing_plan_id":1,"reference":"ch_x"}`, status: 409, says: `{"code":"other_product","message":"pricing plan 1 sells course 1, and sale 24 is of membership tier 5: `},
		requestCase{name: "at another price", values: "sale_id=24", body: `{"pricing_plan_id":12,"final_price":1}`, status: 409, says: `"code":"price_differs"`},
		requestCase{name: "what is malformed", values: "sale_id=24", body: `{"pricing_plan_id":12,"at_period_end":"soon","final_price":-1,"user_id":3}`, status: 400, says: "at_period_end must be true or false"},
		requestCase{name: "paid, but later", values: "sale_id=24", body: `{"pricing_plan_id":12,"at_period_end":true,"reference":"ch_x"}`, status: 400, says: "reference must not be sent with at_period_end"},
		requestCase{name: "stopped, but later", values: "sale_id=24", body: `{"pricing_plan_id":12,"at_period_end":true,"charging_stopped":true}`, status: 400, says: "charging_stopped must not be sent with at_period_end"},
		requestCase{name: "of what is paid once", values: "sale_id=1", body: `{"pricing_plan_id":12}`, status: 409, says: `"code":"not_recurring"`},
		requestCase{name: "of no sale", values: "sale_id=999", body: `{"pricing_plan_id":12}`, status: 404, says: "there is no sale 999"},
		requestCase{name: "later", values: "sale_id=24", body: `{"pricing_plan_id":14,"at_period_end":true}`, says: `"next_pricing_plan_id":14,"status":"active","lapses_at":null,"transactions":[{"id":`},
		requestCase{name: "later, another one", values: "sale_id=24", body: `{"pricing_plan_id":12,"at_period_end":true}`, says: `"next_pricing_plan_id":12,`},
	),
	own("dropPlanChange",
		requestCase{name: "that was to come", values: "sale_id=24", status: 204},
		requestCase{name: "again", values: "sale_id=24", status: 204},
		requestCase{name: "of no sale", values: "sale_id=999", status: 404, says: "there is no sale 999"},
	), badPaths("lyceum", "dropPlanChange", "sale_id", ""),
	own("showSale", requestCase{name: "its plan stays", values: "sale_id=24", says: `"replaces_sale_id":null,"replaced_by_sale_id":null,"next_pricing_plan_id":null`}),
	own("endUserAccess", requestCase{name: "preview of a sale that ends", values: "user_id=2 product_type=membership_tier product_id=5", query: "preview=true", status: 200, says: `"ended_sale_ids":[24]}`}),
	own("changePlan",
		requestCase{name: "preview", values: "sale_id=24", query: "preview=true", body: `{"pricing_plan_id":14,"reference":"ch_14"}`, says: `"ends_sale":true,"reopens_sale_id":null,"sale":{"id":24,`},
		requestCase{name: "preview of a payment by null", values: "sale_id=24", query: "preview=true", body: `{"pricing_plan_id":14,"payment_method":null,"payment_gateway":null}`, says: `"ends_sale":true,`},
		requestCase{name: "preview of a warning", values: "sale_id=24", query: "preview=true", body: `{"pricing_plan_id":14,"final_price":1,"reference":"ch_14"}`, says: `"money":null,"warnings":[{"code":"price_differs","message":"the payment is 0.01, and the price is 4.50 USD"}]`},
		requestCase{name: "preview of what is refused", values: "sale_id=24", query: "preview=true", body: `{"pricing_plan_id":13}`, status: 409, says: `"code":"same_plan"`},
		requestCase{name: "now", values: "sale_id=24", body: `{"pricing_plan_id":14,"reference":"ch_14"}`, golden: "lyceum/sale_changed.json"},
		requestCase{name: "the same payment", values: "sale_id=24", body: `{"pricing_plan_id":14,"reference":"ch_14"}`, golden: "lyceum/sale_changed.json"},
		requestCase{name: "another change with its reference", values: "sale_id=24", body: `{"pricing_plan_id":12,"reference":"ch_14"}`, status: 409, says: `as transaction 27, with another pricing_plan_id (14)`},
		requestCase{name: "what goes on", values: "sale_id=26", query: "preview=true", body: `{"pricing_plan_id":12,"charging_stopped":true}`, says: `"end_reason":"changed","charging_to_stop_since":null,`},
		requestCase{name: "of what was changed", values: "sale_id=24", body: `{"pricing_plan_id":12}`, status: 409, says: `"code":"sale_ended","message":"sale 24 has ended: changed, and sale 26 followed"`},
	),
	own("dropPlanChange", requestCase{name: "that was made", values: "sale_id=24", status: 409, says: `"code":"sale_ended","message":"sale 24 has ended: changed, and sale 26 followed"`}),
	own("showSale", requestCase{name: "what was changed", values: "sale_id=24", says: `"end_reason":"changed","charging_to_stop_since":"2024-01-10T12:00:00Z","replaces_sale_id":null,"replaced_by_sale_id":26,`}),
	own("confirmChargingStopped", requestCase{name: "one that has not ended", values: "sale_id=26", status: 409, says: `"code":"not_ended","message":"sale 26 has not ended`}),
)

func tierPlan(tier, price int) string {
	return fmt.Sprintf(`{"product_type":"membership_tier","product_id":%d,"name":"Circle","price":%d,"currency":"USD","frequency":"subscription","billing_interval":"month"}`, tier, price)
}
