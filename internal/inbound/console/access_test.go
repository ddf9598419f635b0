package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

func accessPath(user lyceum.UserID) string { return fmt.Sprintf("%s/%d/access", people, user) }

// bundled creates the market, with collection 1 of both courses.
func (p *place) bundled() {
	p.t.Helper()
	p.market()
	day := p.clock.Now()
	p.write(func(tx lyceum.Tx) error {
		if _, err := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "Whole studio", CreatedAt: day, UpdatedAt: day}); err != nil {
			return err
		}
		for course := range lyceum.CourseID(2) {
			row := lyceum.CollectionProduct{ID: lyceum.CollectionProductID(course + 1), In: 1, Product: (course + 1).Product(), CreatedAt: day}
			if _, err := tx.CollectionProducts.Save(tx, row); err != nil {
				return err
			}
		}
		return nil
	})
	p.session()
}

// give fills in the form on a user's page that gives them access.
func (p *place) give(user lyceum.UserID, pairs ...string) url.Values {
	return p.form(fmt.Sprintf("%s/%d", people, user), pairs...)
}

// An owner sees why a user has access, gives more and ends some.
func TestAccessOfAPerson(t *testing.T) {
	p := open(t, site)
	p.bundled()
	ada := accessPath(11)
	want(t, p.send(p.owner, "GET", ada, nil), 200, "No access to anything", "Why this person has access")
	sale, _ := p.sell(1, 11)
	form := p.give(11, "product_type", "product_collection", "product", "studio", "ends_on", "2026-03-31")
	leads(t, p.send(p.owner, "POST", ada, form), ada+"?done=given")
	leads(t, p.send(p.owner, "POST", ada, form), ada+"?done=given") // submitted twice
	want(t, p.send(p.owner, "GET", ada+"?done=given", nil), 200, "Access is given.", "3 products", "Pottery", fmt.Sprintf("Sale %d", sale),
		"Pricing plan Pottery in full", "Comes with Whole studio (product collection)", "Given by hand",
		"Product collection 1 · until 1 Apr 2026, 00:00 UTC", "Course 1 · no end date", "Course 2 · until 1 Apr 2026")

	end := ada + "/course/1/end"
	want(t, p.send(p.owner, "GET", end, nil), 200, "End the access of Ada Lovelace to Pottery (course 1)?", "Pottery: access ends at once.", fmt.Sprintf("Sale %d, Pottery in full", sale),
		"blocked from it until they are enrolled", "Whole studio")
	subscription, _ := p.sell(2, 12)
	for user, subscribed := range map[lyceum.UserID]bool{11: false, 12: true} {
		one, all := p.send(p.owner, "GET", accessPath(user)+"/course/1/end", nil).Body.String(), p.send(p.owner, "GET", accessPath(user), nil).Body.String()
		if strings.Contains(one, "which is cancelled") != subscribed || strings.Contains(all, "also ends the subscription or payment plan behind it") != subscribed {
			t.Errorf("user %d, subscribed %t: %s %s", user, subscribed, plain(one), plain(all))
		}
	}
	p.write(func(tx lyceum.Tx) error {
		sold, err := tx.Sales.Get(tx, subscription)
		sold.PaidInFull = true
		_, failed := tx.Sales.Save(tx, sold)
		return errors.Join(err, failed)
	})
	if one := p.send(p.owner, "GET", accessPath(12)+"/course/1/end", nil).Body.String(); strings.Contains(one, "which is cancelled") {
		t.Errorf("paid in full: %s", plain(one))
	}
	leads(t, p.agree(p.owner, end, url.Values{}), ada+"?done=access-ended")
	want(t, p.send(p.owner, "GET", ada, nil), 200, "Blocked since", "The person was unenrolled.")
	want(t, p.send(p.owner, "GET", end, nil), 200, "there is nothing to end")
	leads(t, p.send(p.owner, "POST", ada, p.give(11, "product_type", "course", "product", "1", "ends_on", "")), ada+"?done=given")
	if got := p.send(p.owner, "GET", ada, nil).Body.String(); strings.Contains(got, "Blocked since") {
		t.Errorf("a gift leaves the block: %s", plain(got))
	}
	want(t, p.send(p.owner, "GET", ada+"?page=2", nil), 200, "There is no page 2")
}

// Nothing happens that the confirmation page did not show.
func TestEndOfAccessChangedMeanwhile(t *testing.T) {
	p := open(t, site)
	p.bundled()
	end := accessPath(11) + "/course/1/end"
	once, _ := p.sell(1, 11)
	w := p.send(p.owner, "GET", end, nil)
	want(t, w, 200, fmt.Sprintf("Sale %d, Pottery in full", once))
	subscription, _ := p.sell(2, 11)
	before := p.state()
	want(t, p.send(p.owner, "POST", end, url.Values{}), 200, "Nothing has been ended yet.") // without a promise
	w = p.send(p.owner, "POST", end, promised(url.Values{}, w))
	want(t, w, 200, "Nothing has been ended yet.", fmt.Sprintf("Sale %d", subscription), "which is cancelled")
	p.untouched(before)
	leads(t, p.send(p.owner, "POST", end, promised(url.Values{}, w)), accessPath(11)+"?done=access-ended")
	leads(t, p.send(p.owner, "POST", end, promised(url.Values{}, w)), accessPath(11)+"?done=access-ended") // submitted twice
}

// Access until the last supported day can be shown.
func TestAccessUntilTheLastDay(t *testing.T) {
	p := open(t, site)
	p.bundled()
	ada := accessPath(11)
	leads(t, p.send(p.owner, "POST", ada, p.give(11, "product_type", "course", "product", "1", "ends_on", "9999-12-31")), ada+"?done=given")
	want(t, p.send(p.owner, "GET", ada, nil), 200, "until 31 Dec 9999, 23:59 UTC")
}

func TestAccessRefused(t *testing.T) {
	p := open(t, site)
	p.bundled()
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.Courses.Save(tx, lyceum.Course{ID: 3, Name: "Pottery two", CreatedAt: p.clock.Now(), UpdatedAt: p.clock.Now()},
			lyceum.Course{ID: 4, Name: "Old", CreatedAt: p.clock.Now(), UpdatedAt: p.clock.Now(), ArchivedAt: lyceum.Some(p.clock.Now())})
		return err
	})
	ada := accessPath(11)
	before := p.state()
	for _, row := range []struct{ kind, product, end, want string }{
		{"course", "", "", "Product is required"},
		{"book", "1", "", "Product is required; choose its kind"},
		{"course", "weaving", "", "Product matches nothing"},
		{"course", "old", "", "Product matches nothing"},
		{"course", "4", "", "Product 4 names a course that is archived"},
		{"course", "99", "", "Product 99 matches no course"},
		{"course", "pott", "", "Product matches several; type the number of one: Pottery (number 1), Pottery two (number 3)"},
		{"course", "1", "2026-03-01", "Last day must be in the future"},
		{"course", "1", "soon", "Last day must be a day such as 2026-12-31"},
	} {
		w := p.send(p.owner, "POST", ada, p.give(11, "product_type", row.kind, "product", row.product, "ends_on", row.end))
		want(t, w, http.StatusUnprocessableEntity, row.want)
	}
	for _, path := range []string{accessPath(99), people + "/x/access", ada + "/book/1/end", ada + "/course/99/end", ada + "/course/x/end"} {
		want(t, p.send(p.owner, "GET", path, nil), 404)
	}
	want(t, p.send(p.owner, "POST", ada+"/course/2/end", url.Values{}), 404)
	want(t, p.send(p.owner, "GET", ada+"?page=x", nil), 422, "Page must be a whole number")
	p.untouched(before)
	leads(t, p.send(p.owner, "POST", ada, p.give(11, "product_type", "course", "product", " POTTERY ")), ada+"?done=given")
}

// An owner looks at warnings, and dismisses one.
func TestNeedsALook(t *testing.T) {
	p := open(t, site)
	p.market()
	p.session()
	attention := "/admin/attention"
	want(t, p.send(p.owner, "GET", attention, nil), 200, "Nothing needs a look")
	price := func(n *sales.NewSale) {
		n.FinalPrice, n.Reference = lyceum.Some(lyceum.Minor(1)), lyceum.Some(fmt.Sprint("ch", n.User))
	}
	one, _ := p.sell(1, 11, price)
	other, _ := p.sell(1, 12, price)
	want(t, p.send(p.owner, "GET", attention, nil), 200, "2 warnings", "Ada Lovelace", fmt.Sprintf("Sale %d", one), fmt.Sprintf("Sale %d", other), "Dismiss warning 1")
	want(t, p.send(p.owner, "GET", salePath(one), nil), 200, "Needs a look", "Dismiss warning 1")
	leads(t, p.send(p.owner, "POST", attention+"/1/dismiss", url.Values{"back": {"sale"}}), salePath(one)+"?done=dismissed")
	want(t, p.send(p.owner, "GET", salePath(one), nil), 200, "Dismissed 14 Mar 2026")
	want(t, p.send(p.owner, "GET", attention, nil), 200, "1 warning")
	p.clock.Pass(time.Hour)
	leads(t, p.send(p.owner, "POST", attention+"/2/dismiss", url.Values{}), attention+"?done=dismissed")
	before := p.state()
	leads(t, p.send(p.owner, "POST", attention+"/2/dismiss", url.Values{}), attention+"?done=dismissed")
	want(t, p.send(p.owner, "POST", attention+"/9/dismiss", url.Values{}), 404)
	p.untouched(before)
}

// An owner stops a subscription in the payment system, and confirms it.
func TestToStopCharging(t *testing.T) {
	p := open(t, site)
	p.market()
	p.session()
	const list = "/admin/sales_to_stop"
	want(t, p.send(p.owner, "GET", list, nil), 200, "Nothing to stop")
	want(t, p.send(p.owner, "GET", list+"?page=2", nil), 200, "There is no page 2")
	want(t, p.send(p.owner, "GET", list+"?page=x", nil), 422, "Page must be a whole number")
	var ids []lyceum.SaleID
	for _, user := range []lyceum.UserID{11, 12} {
		id, _ := p.sell(2, user, func(n *sales.NewSale) { n.Reference = lyceum.Some(fmt.Sprint("ch_", user)) })
		p.clock.Pass(time.Hour)
		if _, err := p.sales.EndNow(t.Context(), p.by(), sales.Ending{Sale: id}); err != nil {
			p.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	want(t, p.send(p.owner, "GET", "/admin/attention", nil), 200, "2 subscriptions and payment plans have ended here", "may still charge them")
	want(t, p.send(p.owner, "GET", list, nil), 200, "2 sales", "Sale 1 Ada Lovelace", "ch_11", "Voided", "Charging was stopped for sale 2")
	want(t, p.send(p.owner, "GET", salePath(ids[0]), nil), 200, "Stop charging it")
	leads(t, p.send(p.owner, "POST", salePath(ids[0])+"/charging_stopped", url.Values{"back": {"sale"}}), salePath(ids[0])+"?done=stopped")
	if w := p.send(p.owner, "GET", salePath(ids[0]), nil); strings.Contains(w.Body.String(), "Stop charging it") {
		t.Error("what was confirmed is still to be stopped")
	}
	want(t, p.send(p.owner, "GET", "/admin/attention", nil), 200, "1 subscription or payment plan has ended here", "may still charge it")
	leads(t, p.send(p.owner, "POST", salePath(ids[1])+"/charging_stopped", nil), list+"?done=stopped")
	leads(t, p.send(p.owner, "POST", salePath(ids[1])+"/charging_stopped", nil), list+"?done=stopped")
	once, _ := p.sell(1, 11)
	runs, _ := p.sell(2, 11)
	before := p.state()
	want(t, p.send(p.owner, "POST", salePath(once)+"/charging_stopped", nil), 409, "a single payment")
	want(t, p.send(p.owner, "POST", salePath(runs)+"/charging_stopped", nil), 409, "has not ended")
	want(t, p.send(p.owner, "POST", salePath(99)+"/charging_stopped", nil), 404)
	want(t, p.send(p.owner, "POST", "/admin/sales/x/charging_stopped", nil), 404)
	p.untouched(before)
}
