package server_test

import "strings"

// ownBodies are what a program sends to the operations of Lyceum's own face.
var ownBodies = map[string]string{
	"createSale": `{"user_id":2,"pricing_plan_id":1}`, "createRenewal": `{"charge":500}`, "createRefund": `{}`, "openChargeback": `{}`, "closeChargeback": `{"outcome":"won"}`,
	"createOrder": `{"email":"new@example.com","pricing_plan_id":1}`, "completeOrder": `{}`, "updateSchool": `{}`, "setUserTags": `{"tags":[]}`, "cancelSale": "", "abandonOrder": "",
}

// own makes rows of Lyceum's own face.
func own(op string, rows ...asking) []asking {
	for i := range rows {
		rows[i].face, rows[i].op = "lyceum", op
	}
	return rows
}

const keyed = "Idempotency-Key: first"

// ownRows are derived from contract/lyceum.yaml, one after the other in one
// school: the first sale is 1, and so is its transaction.
var ownRows = slicesOf(
	own("createSale",
		asking{name: "with fees and tax", body: `{"user_id":2,"pricing_plan_id":1,"tax_charge":380,"reference":"ch_1"}`, headers: []string{keyed}, golden: "lyceum/sale.json"},
		asking{name: "the same key", body: `{"user_id":2,"pricing_plan_id":1,"tax_charge":380,"reference":"ch_1"}`, headers: []string{keyed}, golden: "lyceum/sale.json"},
		asking{name: "the same key for something else", body: `{"user_id":3,"pricing_plan_id":1}`, headers: []string{keyed}, status: 422, says: `"code":"idempotency_key_reused"`},
		asking{name: "the same payment", body: `{"user_id":2,"pricing_plan_id":1,"reference":"ch_1"}`, status: 409, says: `"message":"the payment with this reference is recorded already, as transaction 1"`},
		asking{name: "every mistake is named", body: `{"user_id":0,"pricing_plan_id":"x","final_price":-1,"currency":"dollars","charge":2147483648,"price":1}`, status: 400, golden: "lyceum/sale_mistakes.json"},
		asking{name: "nobody and nothing", body: `{"user_id":99,"pricing_plan_id":98,"coupon_id":97}`, status: 400, says: `{"field":"user_id","message":"99 is no user of this school"}`},
		asking{name: "no body", status: 400, says: "Content-Type must be application/json"},
		asking{name: "no object", body: `[]`, status: 400, says: "the body must be one JSON object"},
		asking{name: "a key that is too long", body: ownBodies["createSale"], headers: []string{"Idempotency-Key: " + strings.Repeat("k", 256)}, status: 400, says: "Idempotency-Key must be a text of 1 to 255 characters"},
		asking{name: "a subscription", body: `{"user_id":"3","pricing_plan_id":"2","charge":545}`, says: `"paid_until":"2024-02-10T12:00:00Z"`},
		asking{name: "a currency without the charge", body: `{"user_id":3,"pricing_plan_id":2}`, status: 400, says: "charge is missing: it is what the buyer paid in US cents, which does not follow from EUR"},
	),
	own("showSale",
		asking{name: "with its history", values: "sale_id=1", golden: "lyceum/sale_shown.json"},
		asking{name: "unknown", values: "sale_id=999", status: 404, says: `{"code":"not_found","message":"there is no sale 999","errors":[]}`},
	), badPaths("lyceum", "showSale", "sale_id", ""),
	own("createRenewal",
		asking{name: "the next month", values: "sale_id=2", body: `{"charge":540}`, says: `"final_price":500,"currency":"EUR","tax_charge":0,"revenue":540`},
		asking{name: "of what is paid once", values: "sale_id=1", body: `{}`, status: 409, says: `"code":"not_recurring"`},
		asking{name: "unknown", values: "sale_id=999", body: `{}`, status: 404, says: "there is no sale 999"},
	),
	own("createRefund",
		asking{name: "a part", values: "transaction_id=1", body: `{"amount":1000,"reason":"late","reference":"re_1"}`, golden: "lyceum/refund.json"},
		asking{name: "above what is left", values: "transaction_id=1", body: `{"amount":1380}`, status: 400, says: `{"field":"amount","message":"must be from 1 to 1379, what is left of transaction 1 in the smallest unit of USD"}`},
		asking{name: "nothing", values: "transaction_id=1", body: `{"amount":0}`, status: 400, says: "amount must be an integer from 1 to 2147483647"},
		asking{name: "all that is left", values: "transaction_id=1", body: `{}`, says: `"amount_refunded":2379`},
		asking{name: "once more", values: "transaction_id=1", body: `{}`, status: 409, says: `"code":"refunded"`},
		asking{name: "unknown", values: "transaction_id=999", body: `{}`, status: 404, says: "there is no transaction 999"},
	),
	own("openChargeback",
		asking{name: "with a fee", values: "transaction_id=2", body: `{"fee":1500,"reason":"fraud","reference":"dp_1"}`, says: `"has_chargeback":true,"chargeback_fee":1500`},
		asking{name: "twice", values: "transaction_id=2", body: `{}`, status: 409, says: `"code":"charged_back"`},
		asking{name: "of what is refunded", values: "transaction_id=1", body: `{}`, status: 409, says: `"code":"refunded"`},
	),
	own("createRefund", asking{name: "of what is with the bank", values: "transaction_id=2", body: `{}`, status: 409, says: `"code":"chargeback_open"`}),
	own("closeChargeback",
		asking{name: "without an outcome", values: "transaction_id=2", body: `{}`, status: 400, says: "outcome is missing; it must be won or lost"},
		asking{name: "another outcome", values: "transaction_id=2", body: `{"outcome":"drawn"}`, status: 400, says: "outcome must be won or lost"},
		asking{name: "won", values: "transaction_id=2", body: `{"outcome":"won"}`, says: `"has_chargeback":false,"chargeback_fee":null`},
		asking{name: "that is not open", values: "transaction_id=2", body: `{"outcome":"won"}`, status: 409, says: `"code":"no_open_chargeback"`},
	),
	own("showTransaction",
		asking{name: "refunded", values: "transaction_id=1", golden: "lyceum/transaction.json"},
		asking{name: "unknown", values: "transaction_id=999", status: 404, says: "there is no transaction 999"},
	),
	own("cancelSale",
		asking{name: "with a body", values: "sale_id=2", body: `{"why":"x"}`, status: 400, says: "this operation takes no body"},
		asking{name: "a subscription", values: "sale_id=2", says: `"is_active":false,"paid_until":"2024-03-10T12:00:00Z","ended_at":"2024-01-10T12:00:00Z","end_reason":"canceled"`},
		asking{name: "twice", values: "sale_id=2", status: 409, says: `"code":"sale_ended"`},
	),
	own("createOrder",
		asking{name: "of somebody new", body: `{"email":"new@example.com","name":"Nia","pricing_plan_id":1}`, golden: "lyceum/order.json"},
		asking{name: "of a user", body: `{"email":"MIRA@example.com","pricing_plan_id":6,"final_price":100}`, says: `"user_id":2,"pricing_plan_id":6,"coupon_id":null,"affiliate_id":null,"final_price":100`},
		asking{name: "without an address", body: `{"email":"nobody","pricing_plan_id":1}`, status: 400, says: "email must be an email address"},
	),
	own("completeOrder",
		asking{name: "of somebody new", values: "order_id=1", body: `{"reference":"ch_9"}`, says: `"final_price":1999,"currency":"USD","is_active":true`},
		asking{name: "twice", values: "order_id=1", body: `{}`, status: 409, says: `"code":"order_completed"`},
	),
	own("abandonOrder",
		asking{name: "an open one", values: "order_id=2", says: `"state":"abandoned"`},
		asking{name: "twice", values: "order_id=2", status: 409, says: `"code":"order_closed"`},
	),
	own("showOrder",
		asking{name: "completed", values: "order_id=1", says: `"state":"completed"`},
		asking{name: "unknown", values: "order_id=999", status: 404, says: "there is no order 999"},
	),
	own("showSchool", asking{name: "as it began", says: `"on_refund":"unenroll","on_chargeback":"unenroll","on_cancellation":"at_period_end","abandon_after_minutes":60`}),
	own("updateSchool",
		asking{name: "a part", body: `{"on_cancellation":"keep"}`, says: `"on_refund":"unenroll","on_chargeback":"unenroll","on_cancellation":"keep"`},
		asking{name: "mistakes", body: `{"on_refund":"at_period_end","on_cancellation":"later"}`, status: 400, says: "on_refund must be unenroll or keep; on_cancellation must be unenroll, at_period_end or keep"},
		asking{name: "out of bounds", body: `{"abandon_after_minutes":0}`, status: 400, says: "abandon_after_minutes must be an integer from 1 to 129600"},
	),
	own("setUserTags",
		asking{name: "others than before", values: "user_id=4", body: `{"tags":["zeta","alpha","zeta"]}`, says: `{"tags":["alpha","zeta"]}`},
		asking{name: "an empty one", values: "user_id=4", body: `{"tags":[""]}`, status: 400, says: "tags must be texts of 1 to 255 bytes"},
		asking{name: "no list", values: "user_id=4", body: `{"tags":"vip"}`, status: 400, says: "tags must be a list of texts"},
		asking{name: "unknown user", values: "user_id=999", body: `{"tags":[]}`, status: 404, says: "there is no user 999"},
	),
	own("listChanges",
		asking{name: "of sales and their money", query: "types=sale,transaction,movement,order&limit=100", golden: "lyceum/changes.json"},
		asking{name: "one after another", query: "types=sale.created&limit=1", says: `"more":true}`},
		asking{name: "beyond the last", query: "after=9000000000", says: `{"changes":[],"next":9000000000,"more":false}`},
		asking{name: "every mistake is named", query: "after=-1&limit=10001&wait=31&types=sales", status: 400, golden: "lyceum/changes_mistakes.json"},
	),
)
