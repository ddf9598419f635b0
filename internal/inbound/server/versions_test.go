package server_test

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestVersionsShowTheSameSales reads random sales through both versions: they are in the same
// order, and every field that both have is equal. LYCEUM_SALES is the number of sales, 1,000 by
// default.
func TestVersionsShowTheSameSales(t *testing.T) {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("LYCEUM_SALES"), "1000"))
	if err != nil || n%100 != 0 {
		t.Fatalf("LYCEUM_SALES is %q, want hundreds", os.Getenv("LYCEUM_SALES"))
	}
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		storetest.Ledger(t, k.store, k.theirs.id, 5, n)
		compared, referred := 0, map[any]int{}
		for page := 1; page <= n/100; page++ {
			first := k.list(t, fmt.Sprintf("/v1/transactions?per=100&page=%d", page), "transactions")
			second := k.list(t, fmt.Sprintf("/v2/transactions?per_page=100&page=%d", page), "data")
			if len(first) != 100 || len(second) != 100 {
				t.Fatalf("page %d: %d rows and %d, want 100", page, len(first), len(second))
			}
			for i := range first {
				want, got := first[i].(map[string]any), inVersion1(second[i].(map[string]any))
				reached := want["amount_refunded"].(float64) >= want["final_price"].(float64)
				want["is_fully_refunded"] = reached && want["amount_refunded"] != 0.0
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Fatalf("sale %v (-v1 +v2):\n%s", want["id"], diff)
				}
				compared += len(want)
				referred[got["affiliate_id"]]++
			}
		}
		delete(referred, nil)
		for affiliate, sales := range referred {
			found := k.list(t, fmt.Sprintf("/v2/transactions?per_page=100&affiliate_id=%.0f", affiliate), "data")
			if want := min(sales, 100); len(found) != want {
				t.Errorf("%d sales of affiliate %.0f, want %d", len(found), affiliate, want)
			}
		}
		t.Logf("%d sales, %d fields", n, compared)
	})
}

// list requests a page of the other school's list.
func (k *class) list(t *testing.T, address, member string) []any {
	t.Helper()
	w := k.do(request(http.MethodGet, address, nil, "apiKey: "+k.theirs.key))
	wantStatus(t, w, http.StatusOK)
	var body map[string]any
	decode(t, w.Body.Bytes(), &body)
	return body[member].([]any)
}

// inVersion1 renames the fields of a transaction of version 2 to those of version 1, and turns
// references into numbers. Only version 2 has the gateway.
func inVersion1(of map[string]any) map[string]any {
	for theirs, ours := range map[string]string{
		"user": "user_id", "purchase": "sale_id", "pricing_plan": "pricing_plan_id", "coupon": "coupon_id",
		"affiliate": "affiliate_id", "author": "author_id",
	} {
		of[ours] = nil
		if reference, there := of[theirs].(map[string]any); there {
			of[ours] = reference["id"]
		}
		delete(of, theirs)
	}
	delete(of, "payment_gateway")
	return of
}
