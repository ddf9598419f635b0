package server_test

import "strings"

// productCoupons returns rows of an operation on a coupon in version 2.
func productCoupons(op string, rows ...requestCase) []requestCase {
	return versionTwo(op+"ProductCoupon", rows...)
}

// refusedCoupon returns a row for a coupon that is rejected with the given message.
func refusedCoupon(name, says, terms string) requestCase {
	return requestCase{name: name, body: `{"code":"NEW","name":"New",` + terms + `}`, status: 422, says: says}
}

// productCouponRows are derived from contract/v2/coupons.yaml, in a school with coupons of the
// Lyceum face.
var productCouponRows = slicesOf(
	productCoupons("create",
		requestCase{
			name: "with every field", golden: "v2/coupon.json",
			body: `{"code":"Circle","name":"Ring","expiration_date":"2024-02-01T00:00:00Z","number_available":5,"discount_amount":3456,"discount_currency":"usd","discount_percent":null,` +
				`"discount_in_months":3,"pricing_plan_id":15,"product_type":null,"product_id":null,"duration_kind":"repeating","scope_type":null,"cap_visible":true,"display_priority":"uses"}`,
		},
		requestCase{name: "with what it must have", body: `{"code":"HALF","name":"Half","discount_percent":0.5,"duration_kind":"once","scope_type":"courses"}`, golden: "v2/coupon_bare.json"},
		requestCase{
			name: "of a product", body: `{"code":"EMPTY","name":"Empty","discount_percent":0.3333,"duration_kind":"forever","product_type":"course","product_id":4}`,
			says: `"formatted_discount":"33.33%","formatted_price":null,"currency":null,"scope_type":null,"duration_kind":"forever","cap_visible":false,"display_priority":"time","friendly_url":null,"product":{"id":4,"name":"Empty ours","is_recurring":null,"formatted_price":null,"is_published":true}`,
		},
		refusedCoupon("without a scope", `{"code":"validation_failed","message":"scope_type must be sent, or pricing_plan_id, or product_type with product_id, and no two of them"`, `"discount_percent":1,"duration_kind":"once"`),
		refusedCoupon("two scopes", "scope_type must be sent, or pricing_plan_id", `"discount_percent":1,"duration_kind":"once","scope_type":"courses","pricing_plan_id":1`),
		refusedCoupon("three scopes", "scope_type must be sent, or pricing_plan_id", `"discount_percent":1,"duration_kind":"once","scope_type":"courses","pricing_plan_id":1,"product_type":"course","product_id":1`),
		refusedCoupon("half a product", "product_id is required when product_type is used", `"discount_percent":1,"duration_kind":"once","product_type":"course"`),
		refusedCoupon("the other half", "product_type is required when product_id is used", `"discount_percent":1,"duration_kind":"once","product_id":1`),
		refusedCoupon("an unknown product", "product_id 99 matches no product collection of this school", `"discount_percent":1,"duration_kind":"once","product_type":"bundle","product_id":99`),
		refusedCoupon("an unknown plan", "pricing_plan_id 99 matches no pricing plan of this school", `"discount_percent":1,"duration_kind":"once","pricing_plan_id":99`),
		refusedCoupon("repeating without months", "discount_in_months is required when duration_kind is repeating", `"discount_percent":1,"duration_kind":"repeating","scope_type":"courses"`),
		refusedCoupon("months once", "discount_in_months must be null unless duration_kind is repeating", `"discount_percent":1,"duration_kind":"once","discount_in_months":1,"scope_type":"courses"`),
		refusedCoupon("months forever", "discount_in_months must be null unless duration_kind is repeating", `"discount_percent":1,"duration_kind":"forever","discount_in_months":1,"scope_type":"courses"`),
		refusedCoupon("without a discount", "discount_percent or discount_amount with discount_currency is required", `"duration_kind":"once","scope_type":"courses"`),
		refusedCoupon("nothing off", "discount_percent must be a number from 0.0001 to 1", `"discount_percent":0,"duration_kind":"once","scope_type":"courses"`),
		refusedCoupon("both discounts", "discount_amount must not be used together with discount_percent", `"discount_percent":1,"discount_amount":1,"discount_currency":"USD","duration_kind":"once","scope_type":"courses"`),
		refusedCoupon("a part with a currency", "discount_currency must not be used together with discount_percent", `"discount_percent":1,"discount_currency":"USD","duration_kind":"once","scope_type":"courses"`),
		refusedCoupon("an amount without a currency", "discount_currency must be used together with discount_amount", `"discount_amount":1,"duration_kind":"once","scope_type":"courses"`),
		requestCase{name: "a code with a space", body: `{"code":"A B","name":"x","discount_percent":1,"duration_kind":"once","scope_type":"courses"}`, status: 422, says: "code must be 1 to 64 characters long, without white space"},
		requestCase{name: "a code that is taken", body: `{"code":"half","name":"x","discount_percent":1,"duration_kind":"once","scope_type":"courses"}`, status: 409, says: `"code":"coupon_code_taken"`},
		requestCase{name: "without anything", body: `{}`, status: 400, golden: "v2/coupon_missing.json"},
		requestCase{name: "no body", status: 400, golden: "v2/coupon_missing.json"},
		requestCase{
			name: "every mistake is named", status: 400, golden: "v2/coupon_mistakes.json",
			body: `{"code":"","name":7,"expiration_date":"soon","number_available":0,"discount_amount":0,"discount_currency":"dollars","discount_percent":1.1,"discount_in_months":1201,"pricing_plan_id":"x",` +
				`"product_type":"book","product_id":0,"duration_kind":"daily","scope_type":"everything","cap_visible":1,"display_priority":"soon","friendly_url":"x"}`,
		},
		requestCase{name: "texts that are too long", body: `{"code":"` + strings.Repeat("c", 65) + `","name":"` + strings.Repeat("n", 256) + `","duration_kind":"once"}`, status: 400, says: `code must be 1 to 64 characters long; name must be 1 to 255 characters long`},
	),
	versionTwo("listProductCoupons",
		requestCase{name: "of kinds of products", query: "per_page=1", says: `"data":[{"id":8,"discount_percent":0.5,`},
		requestCase{name: "of a plan", query: "pricing_plan_id=15", golden: "v2/coupons.json"},
		requestCase{name: "of a product", query: "product_type=course&product_id=4", says: `"code":"EMPTY"`},
		requestCase{name: "of another product", query: "product_type=creator_product&product_id=4", says: `"total_count":0`},
		requestCase{name: "archived", query: "is_published=false", says: `"code":"BUNDLES"`},
		requestCase{name: "created after", query: "created_after=2024-01-10T12:00:00Z", says: `"total_count":0`},
		requestCase{name: "oldest first", query: "sort_direction=asc&sort_by=updated_at&per_page=1&is_published=1", says: `"code":"SPRING25"`},
		requestCase{name: "beyond the last", query: "page=9&pricing_plan_id=15", says: `"data":[],"meta":{"page":9,"per_page":25,"total_pages":1,"total_count":1}`},
		requestCase{name: "half a product", query: "product_type=course", status: 400, says: "product_id is required when product_type is used"},
		requestCase{name: "of no kind of product", query: "product_type=book&product_id=1", status: 400, says: `membership_tier or coaching","errors":[{"field":"product_type",`},
		requestCase{name: "of a product that is no number", query: "product_type=course&product_id=x", status: 400, says: `{"code":"invalid_request","message":"product_id must be an integer from 1 to 2147483647","errors":`},
		requestCase{name: "the other half", query: "product_id=4", status: 400, says: "product_type is required when product_id is used"},
		requestCase{
			name: "mistakes", status: 400, golden: "v2/coupons_mistakes.json",
			query: "is_published=x&pricing_plan_id=x&product_type=book&product_id=0&created_after=x&created_before=y&page=0&per_page=101&sort_by=code&sort_direction=up",
		},
	),
	productCoupons("show",
		requestCase{name: "one", values: "coupon_id=7", golden: "v2/coupon.json"},
		requestCase{name: "unknown", values: "coupon_id=999", status: 404, says: "there is no coupon 999"},
	), badPaths("v2", "showProductCoupon", "coupon_id", ""),
	productCoupons("update",
		requestCase{name: "no body", values: "coupon_id=7", golden: "v2/coupon.json"},
		requestCase{name: "nothing", values: "coupon_id=7", body: `{"name":null}`, golden: "v2/coupon.json"},
		requestCase{
			name: "every field", values: "coupon_id=7", body: `{"name":"Rings","expiration_date":null,"number_available":null,"cap_visible":false,"display_priority":"time"}`,
			says: `"name":"Rings","number_available":null,"number_of_uses":0,"code":"Circle","expiration_date":null,`,
		},
		requestCase{
			name: "what is fixed", values: "coupon_id=7", status: 400, golden: "v2/coupon_fixed.json",
			body: `{"code":"X","pricing_plan_id":1,"scope_type":"courses","duration_kind":"once","discount_amount":1,"discount_percent":1,"discount_currency":"USD"}`,
		},
		requestCase{name: "mistakes", values: "coupon_id=7", body: `{"name":"","number_available":0}`, status: 400, says: "number_available must be an integer from 1 to 2147483647; name must be 1 to 255 characters long"},
		requestCase{name: "unknown", values: "coupon_id=999", body: `{}`, status: 404, says: "there is no coupon 999"},
	),
	productCoupons("delete", requestCase{name: "one", values: "coupon_id=7"}, requestCase{name: "again", values: "coupon_id=7"}, requestCase{name: "unknown", values: "coupon_id=999"}),
	own("showCoupon", requestCase{name: "as version 2 left it", values: "coupon_id=7", says: `"code":"Circle","name":"Rings","discount_percent":null,"discount_amount":3456,`}),
	versionTwo("listProductCoupons", requestCase{name: "archived of a plan", query: "pricing_plan_id=15&is_published=true", says: `"total_count":0`}),
)
