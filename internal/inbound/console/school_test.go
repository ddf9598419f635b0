package console_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

const schoolPath = "/admin/settings/school"

// schoolSettings returns the form of the school's settings, with some fields changed.
func schoolSettings(pairs ...string) url.Values {
	values := url.Values{
		"name": {"Northwind Academy"}, "time_zone": {"UTC"}, "on_refund": {"unenroll"}, "on_chargeback": {"unenroll"},
		"on_cancellation": {"at_period_end"}, "on_lapse": {"end"}, "grace_days": {"15"},
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return values
}

// Owners and managers change the settings of their school. What is wrong is said at its field, and
// nothing is lost.
func TestSchoolSettings(t *testing.T) {
	p := open(t, site)
	manager, _ := p.hire("manager@example.com", lyceum.ManagerRole)
	want(t, p.send(p.owner, "GET", schoolPath, nil), 200, `value="Northwind Academy"`, `value="UTC"`, `<option value="end" selected>`, `value="15"`)
	for _, tc := range []struct{ field, value, says string }{
		{"name", " ", "Name must be 1 to 200 characters long"},
		{"name", strings.Repeat("é", 201), "Name must be 1 to 200 characters long"},
		{"time_zone", "Middle/Earth", "Time zone must be"},
		{"time_zone", "", "Time zone must be"},
		{"on_refund", "maybe", "When a sale is fully refunded must be unenroll or keep"},
		{"grace_days", "61", "Days of grace must be from 0 to 60"},
		{"grace_days", "-1", "Days of grace must be from 0 to 60"},
		{"grace_days", "", "Days of grace must be from 0 to 60"},
	} {
		before := p.journal()
		w := p.send(p.owner, "POST", schoolPath, schoolSettings("on_cancellation", "keep", tc.field, tc.value))
		want(t, w, 422, tc.says, `<option value="keep" selected>`, "Nothing was changed")
		if p.journal() != before {
			t.Errorf("%s %q changed something", tc.field, tc.value)
		}
	}
	leads(t, p.send(manager, "POST", schoolPath, schoolSettings("name", " Northwind Crafts ", "time_zone", "Europe/Berlin", "on_refund", "keep")), schoolPath+"?done=changed")
	school, err := p.store.In(t.Context(), 1).GetSchool()
	if err != nil || school.Name != "Northwind Crafts" || school.TimeZone != "Europe/Berlin" || school.Policy.OnRefund != lyceum.Keep || school.Policy.OnLapse != lyceum.EndSale {
		t.Errorf("%+v, %v", school, err)
	}
	support, _ := p.hire("support@example.com", lyceum.SupportRole)
	want(t, p.send(support, "GET", schoolPath, nil), 403)
	want(t, p.send(support, "POST", schoolPath, schoolSettings()), 403)
}

var askedFor = regexp.MustCompile(`name="promise" value="([^"]+)"`)

// A change that ends subscriptions at once names who loses access, and is made only after that.
func TestSchoolSettingsThatEndSubscriptions(t *testing.T) {
	p := open(t, site)
	p.market()
	id, _ := p.sell(2, 11)
	p.sell(2, 12)
	gift := learning.Gift{UserProduct: learning.UserProduct{User: 12, Product: lyceum.CourseID(1).Product()}}
	if _, err := p.learning.Give(t.Context(), p.by(), gift); err != nil {
		t.Fatal(err)
	}
	p.clock.Pass(40 * 24 * time.Hour) // the payments are nine days late
	p.owner = p.signIn(1, "second@example.com", lyceum.Owner)
	before := p.journal()
	form := schoolSettings("grace_days", "5", "name", "Northwind Crafts")
	w := p.send(p.owner, "POST", schoolPath, form)
	want(t, w, 200, "Saving this ends 2 subscriptions at once. 1 person loses access, and 1 person keeps it for another reason.", "Ada Lovelace", "Save, and end 2 subscriptions", `value="Northwind Crafts"`)
	found := askedFor.FindStringSubmatch(w.Body.String())
	if found == nil || p.journal() != before {
		t.Fatalf("it asks nothing, or has changed something: %s", plain(w.Body.String()))
	}
	p.sell(2, 13)
	leads(t, p.send(p.owner, "POST", schoolPath, schoolSettings()), schoolPath+"?done=changed") // nothing to ask
	w = p.send(p.owner, "POST", schoolPath, with(form, "promise", "another"))
	want(t, w, 200, "Nothing has been saved yet.", "Save, and end 2 subscriptions")
	leads(t, p.send(p.owner, "POST", schoolPath, with(form, "promise", found[1])), schoolPath+"?done=changed")
	if err := p.sales.Lapse(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	sale, err := p.sales.Show(t.Context(), p.by(), id)
	if err != nil || sale.EndReason != lyceum.Some(lyceum.SaleLapsed) {
		t.Errorf("the sale has not lapsed: %+v, %v", sale.Sale, err)
	}
}
