package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// renewed is what a payment that the provider of a sandbox made up has of its amounts.
type renewed struct {
	Price  int `json:"final_price"`
	Tax    int `json:"tax_charge"`
	Charge int `json:"charge"`
	Author int `json:"author_fees"`
}

// TestMadeUpRenewals checks what the provider of a sandbox charges after the first payment: in
// every currency the plan's price after a trial and after the last payment that a coupon lowers,
// otherwise the same as before, with the author's part.
func TestMadeUpRenewals(t *testing.T) {
	t.Parallel()
	s := startStanding(t, filepath.Join(t.TempDir(), "data"))
	var coupon struct {
		Coupon struct {
			ID int `json:"id"`
		} `json:"coupon"`
	}
	s.call(t, http.MethodPost, "/lyceum/v1/coupons",
		`{"code":"HALF","discount_percent":0.5,"duration_kind":"once","scope_type":"all_products"}`, &coupon)
	plan := func(currency string, trial int) int {
		var made struct {
			Plan struct {
				ID int `json:"id"`
			} `json:"pricing_plan"`
		}
		s.call(t, http.MethodPost, "/lyceum/v1/pricing_plans", fmt.Sprintf(`{"product_type":"course","product_id":1,`+
			`"name":"Monthly","price":1000,"currency":%q,"frequency":"subscription","billing_interval":"month",`+
			`"billing_interval_count":1,"free_trial_length":%d}`, currency, trial), &made)
		return made.Plan.ID
	}
	halved := fmt.Sprintf(`,"coupon_id":%d`, coupon.Coupon.ID)
	euro, franc := plan("EUR", 0), plan("CHF", 0)
	tests := []struct {
		name, terms string
		plan        int
		want        renewed
	}{
		{"dollars", `,"author_id":1,"author_fees":300,"tax_charge":70`, plan("USD", 0), renewed{1000, 70, 1070, 300}},
		{"euros", `,"author_id":1,"author_fees":300,"tax_charge":70,"charge":1177`, euro, renewed{1000, 70, 1177, 300}},
		{"euros, after a trial", `,"final_price":0`, plan("EUR", 7), renewed{Price: 1000, Charge: 1080}},
		{"euros, after a discount", halved + `,"charge":550`, euro, renewed{Price: 1000, Charge: 1100}},
		{"dollars, after a trial", `,"final_price":0`, plan("USD", 7), renewed{Price: 1000, Charge: 1000}},
		{"dollars, after a discount", halved, plan("USD", 0), renewed{Price: 1000, Charge: 1000}},
		{"francs", `,"charge":1100`, franc, renewed{Price: 1000, Charge: 1100}},
		{"francs, after a trial", `,"final_price":0`, plan("CHF", 7), renewed{Price: 1000, Charge: 1000}},
	}
	const firstUser = 30
	for i, tc := range tests {
		s.call(t, http.MethodPost, "/lyceum/v1/sales",
			fmt.Sprintf(`{"user_id":%d,"pricing_plan_id":%d%s}`, firstUser+i, tc.plan, tc.terms), nil)
	}
	s.call(t, http.MethodPost, "/lyceum/v1/clock", `{"advance":"50d"}`, nil)
	for i, tc := range tests {
		var list struct {
			Transactions []renewed `json:"transactions"`
		}
		s.call(t, http.MethodGet, fmt.Sprintf("/v1/transactions?user_id=%d&pricing_plan_id=%d", firstUser+i, tc.plan), "", &list)
		if len(list.Transactions) < 2 {
			t.Errorf("%s: %d payments", tc.name, len(list.Transactions))
			continue
		}
		if diff := cmp.Diff(tc.want, list.Transactions[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// TestRefundedRenewal checks that a payment that was fully refunded is not made again, nor counted
// as if it were.
func TestRefundedRenewal(t *testing.T) {
	t.Parallel()
	s := startStanding(t, filepath.Join(t.TempDir(), "data"))
	s.call(t, http.MethodPatch, "/lyceum/v1/school", `{"on_refund":"keep"}`, nil)
	var made struct {
		Plan struct {
			ID int `json:"id"`
		} `json:"pricing_plan"`
		Transactions []struct {
			ID int `json:"id"`
		} `json:"transactions"`
		Move struct {
			Payments int `json:"payment_count"`
			Events   []struct {
				Name  string `json:"name"`
				Count int    `json:"count"`
			} `json:"events"`
		} `json:"move"`
	}
	s.call(t, http.MethodPost, "/lyceum/v1/pricing_plans", `{"product_type":"course","product_id":1,"name":"Monthly",`+
		`"price":1000,"currency":"USD","frequency":"subscription","billing_interval":"month","billing_interval_count":1}`, &made)
	s.call(t, http.MethodPost, "/lyceum/v1/sales", fmt.Sprintf(`{"user_id":30,"pricing_plan_id":%d}`, made.Plan.ID), nil)
	s.call(t, http.MethodPost, "/lyceum/v1/clock", `{"advance":"29d"}`, nil)
	s.call(t, http.MethodGet, fmt.Sprintf("/v1/transactions?pricing_plan_id=%d", made.Plan.ID), "", &made)
	if len(made.Transactions) != 2 {
		t.Fatalf("%d payments", len(made.Transactions))
	}
	s.call(t, http.MethodPost, fmt.Sprintf("/lyceum/v1/transactions/%d/refunds", made.Transactions[0].ID), `{}`, nil)
	s.call(t, http.MethodPost, "/lyceum/v1/clock", `{"advance":"8d"}`, &made)
	payments := 0
	for _, e := range made.Move.Events {
		if e.Name == "Transaction.created" {
			payments = e.Count
		}
	}
	if made.Move.Payments != payments {
		t.Errorf("%d payments are reported, and %d were made", made.Move.Payments, payments)
	}
}
