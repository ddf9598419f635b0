package server_test

// sold makes rows of an operation on purchases or transactions.
func sold(op string, rows ...asking) []asking {
	for i := range rows {
		rows[i].face, rows[i].op = "v2", op
	}
	return rows
}

// purchaseRows are derived from contract/v2. User 4 has bought nothing before.
var purchaseRows = slicesOf(
	sold("listUserPurchases", asking{name: "nothing yet", values: "user_id=4", says: `{"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}}`}),
	own("createSale",
		asking{name: "for version 2", body: `{"user_id":4,"pricing_plan_id":1,"tax_charge":380,"affiliate_id":1,"affiliate_fees":200,"reference":"ch_v2_1"}`, says: `"sale":{"id":`},
		asking{name: "a subscription, for version 2", body: `{"user_id":4,"pricing_plan_id":2,"charge":540,"reference":"ch_v2_2"}`, says: `"sale":{"id":`},
		asking{name: "for nothing, for version 2", body: `{"user_id":4,"pricing_plan_id":1,"final_price":0,"charge":0,"reference":"ch_v2_3"}`, says: `"sale":{"id":`},
	),
	sold("listUserPurchases",
		asking{name: "newest first", values: "user_id=4", golden: "v2/user_purchases.json"},
		asking{name: "subscriptions", values: "user_id=4", query: "is_recurring=true", says: `"total_count":1}`},
		asking{name: "paid once", values: "user_id=4", query: "is_recurring=0", says: `"total_count":2}`},
		asking{name: "free", values: "user_id=4", query: "payment_method=free", says: `"total_count":1}`},
		asking{name: "paid elsewhere", values: "user_id=4", query: "payment_method=external", says: `"total_count":2}`},
		asking{name: "paid by card", values: "user_id=4", query: "payment_method=stripe", says: `"total_count":0}`},
		asking{name: "of courses", values: "user_id=4", query: "product_type=course", says: `"total_count":3}`},
		asking{name: "of a course", values: "user_id=4", query: "product_type=course&product_id=1", says: `"total_count":3}`},
		asking{name: "of another product", values: "user_id=4", query: "product_type=course&product_id=999", says: `"total_count":0}`},
		asking{name: "of bundles", values: "user_id=4", query: "product_type=bundle", says: `"total_count":0}`},
		asking{name: "purchased after", values: "user_id=4", query: "purchased_after=2024-01-10T12:00:00Z", says: `"total_count":0}`},
		asking{name: "purchased until", values: "user_id=4", query: "purchased_before=2024-01-10T12:00:00Z", says: `"total_count":3}`},
		asking{name: "the second page", values: "user_id=4", query: "page=2&per_page=2", says: `"meta":{"page":2,"per_page":2,"total_pages":2,"total_count":3}`},
		asking{name: "mistakes", values: "user_id=4", query: "page=0&per_page=101&product_type=file&payment_method=cash&is_active=maybe&is_recurring=2&purchased_after=yesterday&product_id=x", status: 400, golden: "v2/purchases_mistakes.json"},
		asking{name: "a product without its type", values: "user_id=4", query: "product_id=1", status: 400, says: `{"field":"product_id","message":"must be sent together with product_type"}`},
		asking{name: "an unknown user", values: "user_id=999", status: 404, says: "there is no user 999"},
	), badPaths("v2", "listUserPurchases", "user_id", ""),
	sold("showPurchase",
		asking{name: "one", values: "purchase_id=2", golden: "v2/purchase.json"},
		asking{name: "of its user", values: "purchase_id=2", query: "user_id=3", golden: "v2/purchase.json"},
		asking{name: "of another user", values: "purchase_id=2", query: "user_id=4", status: 404, says: "user 4 has no purchase 2"},
		asking{name: "a mistake", values: "purchase_id=2", query: "user_id=me", status: 400, says: `{"field":"user_id","message":"must be an integer from`},
		asking{name: "unknown", values: "purchase_id=999", status: 404, says: "there is no sale 999"},
	), badPaths("v2", "showPurchase", "purchase_id", ""),
	sold("showTransaction",
		asking{name: "one", values: "transaction_id=1", golden: "v2/transaction.json"},
		asking{name: "unknown", values: "transaction_id=999", status: 404, says: "there is no transaction 999"},
	), badPaths("v2", "showTransaction", "transaction_id", ""),
	sold("listPurchases",
		asking{name: "a page", query: "per_page=1", says: `"meta":{"page":1,"per_page":1,`},
		asking{name: "beyond the last", query: "page=1000", says: `{"data":[],"meta":{"page":1000,"per_page":25,`},
		asking{name: "mistakes", query: "page=0&product_id=1", status: 400, says: `must be sent together with product_type`},
	),
	sold("listTransactions",
		asking{name: "of a user", query: "user_id=4", golden: "v2/user_transactions.json"},
		asking{name: "of an affiliate and a user", query: "user_id=4&affiliate_id=1", says: `"total_count":1}`},
		asking{name: "of a course", query: "user_id=4&course_id=1", says: `"total_count":3}`},
		asking{name: "of a pricing plan", query: "user_id=4&pricing_plan_id=2", says: `"total_count":1}`},
		asking{name: "of a purchase", query: "purchase_id=2", says: `"purchase":{"id":2,"href":"/v2/purchases/2"}`},
		asking{name: "of a purchase of somebody else", query: "purchase_id=2&user_id=4", says: `"total_count":0}`},
		asking{name: "fully refunded", query: "user_id=4&is_fully_refunded=true", says: `"total_count":0}`},
		asking{name: "not charged back", query: "user_id=4&was_charged_back=false", says: `"total_count":3}`},
		asking{name: "created after", query: "user_id=4&created_after=2024-01-10T12:00:00Z", says: `"total_count":0}`},
		asking{name: "beyond the last", query: "user_id=4&page=9", says: `{"data":[],"meta":{"page":9,"per_page":25,"total_pages":1,"total_count":3}}`},
		asking{name: "mistakes", query: "user_id=x&affiliate_id=1.5&course_id=&pricing_plan_id=1e3&purchase_id=-&is_fully_refunded=maybe&was_charged_back=2&created_after=x&created_before=2024-02-30&page=-1&per_page=0", status: 400, golden: "v2/transactions_mistakes.json"},
	),
)
