package demo

import (
	"reflect"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func TestCourses(t *testing.T) {
	s := New(1, 0)
	var unpublished, noHeading, noDescription, noImage, noAuthor int
	names := map[string]bool{}
	for i, c := range s.Courses {
		if c.ID != lyceum.CourseID(i+1) || c.Name == "" || names[c.Name] {
			t.Errorf("row %d is %v", i+1, c)
		}
		names[c.Name] = true
		if i > 0 && c.CreatedAt.Before(s.Courses[i-1].CreatedAt) || c.CreatedAt != lyceum.Second(c.CreatedAt) {
			t.Errorf("course %d is of %v", c.ID, c.CreatedAt)
		}
		for _, is := range []struct {
			so    bool
			count *int
		}{
			{!c.IsPublished, &unpublished},
			{!c.Heading.Present, &noHeading},
			{!c.Description.Present, &noDescription},
			{!c.ImageURL.Present, &noImage},
			{courses[i].author == 0, &noAuthor},
		} {
			if is.so {
				*is.count++
			}
		}
	}
	if len(s.Courses) < 12 || unpublished < 2 || unpublished > 4 {
		t.Errorf("%d courses, %d of them unpublished; want 12 and about 3", len(s.Courses), unpublished)
	}
	for what, n := range map[string]int{
		"heading": noHeading, "description": noDescription, "image": noImage, "author": noAuthor,
	} {
		if n == 0 || n > len(s.Courses)/2 {
			t.Errorf("%d of %d courses have no %s", n, len(s.Courses), what)
		}
	}
}

func TestPricingPlans(t *testing.T) {
	s := New(1, 0)
	var dollars int
	sold := map[lyceum.ProductKind]int{}
	frequencies, intervals := map[lyceum.Frequency]int{}, map[string]int{}
	for i, p := range s.PricingPlans {
		if p.ID != lyceum.PricingPlanID(i+1) || p.Name == "" {
			t.Errorf("row %d is %v", i+1, p)
		}
		if _, err := lyceum.ParseCurrency(string(p.Currency)); err != nil {
			t.Errorf("plan %d: currency %q %v", p.ID, p.Currency, err)
		}
		recurs := p.Frequency == lyceum.Subscription || p.Frequency == lyceum.PaymentPlan
		if p.BillingInterval.Present != recurs || p.BillingIntervalCount.Present != recurs {
			t.Errorf("plan %d is %s and billed every %v %v", p.ID, p.Frequency, p.BillingIntervalCount, p.BillingInterval)
		}
		if (p.Price == 0) != (p.Frequency == lyceum.Free) || p.Price < 0 {
			t.Errorf("plan %d is %s and costs %d", p.ID, p.Frequency, p.Price)
		}
		if p.CourseID.Present && !p.CreatedAt.After(s.Courses[p.CourseID.Value-1].CreatedAt) || p.UpdatedAt.Before(p.CreatedAt) {
			t.Errorf("plan %d is of %v, updated %v", p.ID, p.CreatedAt, p.UpdatedAt)
		}
		if p.CourseID.Present == p.Other.Present {
			t.Errorf("plan %d sells course %v and %v", p.ID, p.CourseID, p.Other)
		}
		sold[p.Product().Value.Kind]++
		if p.Currency == "USD" {
			dollars++
		}
		frequencies[p.Frequency]++
		intervals[p.BillingInterval.Value]++
	}
	for _, kind := range lyceum.ProductKinds() {
		if sold[kind] < 2 {
			t.Errorf("%d plans sell a %s; want at least 2", sold[kind], kind.Name())
		}
	}
	if len(s.PricingPlans) < 30 {
		t.Errorf("%d plans; want at least 30", len(s.PricingPlans))
	}
	if len(frequencies) != 4 || intervals["month"] == 0 || intervals["year"] == 0 || len(intervals) != 3 {
		t.Errorf("frequencies %v, intervals %v", frequencies, intervals)
	}
}

// TestPricesArePlausibleInTheirCurrency checks that the plans of each currency cost roughly
// 10 to 500 US dollars.
func TestPricesArePlausibleInTheirCurrency(t *testing.T) {
	plausible := map[lyceum.Currency]struct{ min, max lyceum.Minor }{
		"USD": {10_00, 500_00}, "EUR": {10_00, 500_00}, "GBP": {10_00, 400_00}, "CAD": {15_00, 600_00},
		"AUD": {15_00, 600_00}, "JPY": {1_000, 60_000}, "INR": {500_00, 40_000_00},
	}
	seen := map[lyceum.Currency]bool{}
	for _, p := range New(1, 0).PricingPlans {
		seen[p.Currency] = true
		if want := plausible[p.Currency]; p.Frequency != lyceum.Free && (p.Price < want.min || p.Price > want.max) {
			t.Errorf("plan %d costs %d %s, want %d to %d", p.ID, p.Price, p.Currency, want.min, want.max)
		}
	}
	if len(seen) != len(plausible) {
		t.Errorf("currencies %v, want %d", seen, len(plausible))
	}
}

func TestOffersFollowTheRulesOfTheirTable(t *testing.T) {
	for i, o := range offers {
		if o.prices[0].currency != "USD" {
			t.Errorf("the first price of offer %d is in %s", i, o.prices[0].currency)
		}
		if (o.payments > 1) != (o.frequency == lyceum.PaymentPlan) || o.payments == 1 {
			t.Errorf("offer %d is %s with %d payments", i, o.frequency, o.payments)
		}
	}
	if best := &offers[0]; best.opens() != 0 || best.closes() != closing || best.frequency != once {
		t.Error("the best offer is not sold at all times")
	}
	if coupons[0].until != 0 {
		t.Error("the first coupon is not taken at all times")
	}
}

func TestConversionToDollars(t *testing.T) {
	for _, tc := range []struct {
		currency lyceum.Currency
		amount   lyceum.Minor
		min, max lyceum.USDCents
	}{
		{"USD", 1999, 1999, 1999},
		{"USD", 0, 0, 0},
		{"EUR", 100_00, 100_00, 125_00},
		{"GBP", 100_00, 115_00, 145_00},
		{"JPY", 10_000, 55_00, 80_00},
		{"INR", 1_000_00, 10_00, 14_00},
	} {
		if got := rates[rateIndex(tc.currency)].usd(tc.amount); got < tc.min || got > tc.max {
			t.Errorf("%d %s is %d cents, want %d to %d", tc.amount, tc.currency, got, tc.min, tc.max)
		}
	}
}

// What the samples of the reference name of the catalogue is in the school of any seed.
func TestCatalogueOfEverySeed(t *testing.T) {
	one, other := New(1, 2000), New(7, 2000)
	first, second := one.makeLessons(), other.makeLessons()
	for name, same := range map[string]bool{
		"courses":       reflect.DeepEqual(one.Courses, other.Courses),
		"pricing plans": reflect.DeepEqual(one.PricingPlans, other.PricingPlans),
		"coupons":       reflect.DeepEqual(one.Coupons, other.Coupons),
		"sections":      reflect.DeepEqual(first.sections, second.sections),
		"lectures":      reflect.DeepEqual(first.lectures, second.lectures),
		"attachments":   reflect.DeepEqual(first.attachments, second.attachments),
	} {
		if !same {
			t.Errorf("the %s differ", name)
		}
	}
}
