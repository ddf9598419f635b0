package console_test

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

var listedPerson = regexp.MustCompile(`scope="row"><a href="/admin/people/(\d+)"`)

// peopleAt returns the users that the list shows, in its order.
func (p *place) peopleAt(query string) string {
	p.t.Helper()
	w := p.send(p.owner, "GET", people+query, nil)
	want(p.t, w, 200)
	var ids []string
	for _, found := range listedPerson.FindAllStringSubmatch(w.Body.String(), -1) {
		ids = append(ids, found[1])
	}
	return strings.Join(ids, " ")
}

func TestPeopleAreListedAndFound(t *testing.T) {
	p := open(t, site)
	p.market()
	var crowd []lyceum.User
	for id := lyceum.UserID(100); id < 120; id++ {
		crowd = append(crowd, lyceum.User{ID: id, Email: "crowd" + strings.Repeat("x", int(id)-99) + "@example.com", Role: lyceum.Student, CreatedAt: p.clock.Now().AddDate(-1, 0, 0)})
	}
	p.write(func(tx lyceum.Tx) error {
		_, err := tx.Users.Save(tx, crowd...)
		return err
	})
	want(t, p.send(p.owner, "GET", people, nil), 200, "25 people, page 1 of 2", "Ada Lovelace", "ada@example.com", "14 Mar 2026", "No password yet", "Can sign in", "Owner", "Bought but never began")
	for query, ids := range map[string]string{
		"":                               "13 12 11 2 1 119 118 117 116 115 114 113 112 111 110 109 108 107 106 105",
		"?page=2":                        "104 103 102 101 100",
		"?q=ADA":                         "11",
		"?q=ada+love":                    "11",
		"?q=love":                        "",
		"?q=grace@":                      "12",
		"?q=12":                          "12",
		"?q=crowd":                       "119 118 117 116 115 114 113 112 111 110 109 108 107 106 105 104 103 102 101 100",
		"?q=crowdx%25":                   "",
		"?q=ad_":                         "",
		"?q=" + strings.Repeat("é", 100): "",
	} {
		if got := p.peopleAt(query); got != ids {
			t.Errorf("%s: %q, want %q", query, got, ids)
		}
	}
	want(t, p.send(p.owner, "GET", people+"?q=love", nil), 200, "Nobody matches", `href="/admin/search?q=love"`, "Search for love")
	want(t, p.send(p.owner, "GET", "/admin/search?q=love", nil), 200, "Ada Lovelace")
	if page := p.send(p.owner, "GET", people+"?began=never", nil).Body.String(); strings.Contains(page, "/admin/search?") {
		t.Error("without a text it leads to a search")
	}
	want(t, p.send(p.owner, "GET", people+"?page=3", nil), 200, "There is no page 3", "25 people in total")
	for text, says := range map[string]string{
		"a": "Find must have at least two characters, or be a number", "%": "Find must contain a letter or a digit",
		strings.Repeat("a", 10_000): "Find must be at most 320 bytes of text", "a\x00b": "must be at most 320 bytes of text",
	} {
		want(t, p.send(p.owner, "GET", people+"?q="+url.QueryEscape(text), nil), 422, says, `id="q-error"`)
	}
	want(t, p.send(p.owner, "GET", people+"?began=yes", nil), 422, `The parameter began must be "never", or absent.`)
	want(t, p.send(p.owner, "GET", people+"?page=x", nil), 422, "Page must be a whole number from 1 to 2147483647")
}

func TestWhoBoughtButNeverBegan(t *testing.T) {
	p := open(t, site)
	p.bundled()
	const never = "?began=never"
	if got := p.peopleAt(never); got != "" {
		t.Errorf("nobody has bought: %s", got)
	}
	p.sell(1, 11)
	p.sell(5, 12)
	p.sell(3, 13) // not a course
	leads(t, p.send(p.owner, "POST", accessPath(2), p.give(2, "product_type", "course", "product", "1", "ends_on", "")), accessPath(2)+"?done=given")
	if got := p.peopleAt(never); got != "12 11" {
		t.Errorf("bought: %q, want 12 and 11, not who was given it or bought something else", got)
	}
	if got := p.peopleAt(never + "&q=ada"); got != "11" {
		t.Errorf("of those who begin with ada: %q", got)
	}
	w := p.send(p.owner, "GET", people+never+"&q=zoe", nil)
	want(t, w, 200, "Nobody matches", "None of those who never began has a name or an email address that begins like this.")
	if strings.Contains(w.Body.String(), "Everybody who bought") {
		t.Error("a text that matches nobody says that everybody has begun")
	}
	want(t, p.send(p.owner, "GET", people+never, nil), 200, "2 people", "completed none of its lectures and answered none of its quizzes", `aria-current="true"`)
	p.write(func(tx lyceum.Tx) error { // one lecture of very many
		_, err := tx.LectureSections.Save(tx, lyceum.LectureSection{ID: 1, Course: 1, CreatedAt: p.clock.Now()})
		if err == nil {
			_, err = tx.Lectures.Save(tx, lyceum.Lecture{ID: 1, Course: 1, Section: 1, CreatedAt: p.clock.Now()})
		}
		if err == nil {
			_, err = tx.LectureProgress.Save(tx, lyceum.LectureProgress{ID: 1, User: 11, Course: 1, Lecture: 1, CompletedAt: p.clock.Now()})
		}
		return err
	})
	if got := p.peopleAt(never); got != "12" {
		t.Errorf("11 has begun: %q", got)
	}
	leads(t, p.agree(p.owner, accessPath(12)+"/course/2/end", url.Values{}), accessPath(12)+"?done=access-ended")
	want(t, p.send(p.owner, "GET", people+never, nil), 200, "Nobody matches", "Everybody who bought a course has begun it.")
}

// Names in a script that is written from right to left do not change the order of the amount and
// the day next to them.
func TestNamesFromRightToLeft(t *testing.T) {
	p := open(t, site)
	p.busyMonth()
	p.write(func(tx lyceum.Tx) error {
		user, err := tx.Users.Get(tx, 11)
		if err != nil {
			return err
		}
		user.Name = lyceum.Some("سارة")
		plan, err := tx.PricingPlans.Get(tx, 1)
		if err != nil {
			return err
		}
		plan.Name = "خزف"
		_, err1 := tx.Users.Save(tx, user)
		_, err2 := tx.PricingPlans.Save(tx, plan)
		return errors.Join(err1, err2)
	})
	want(t, p.send(p.owner, "GET", "/admin/search?q=19.99", nil), 200, `<a href="/admin/sales/1"><span>$19.99, <bdi>سارة</bdi></span></a> <span class="quiet"><bdi>خزف</bdi>, 28 Feb 2026</span>`)
}

// A person whose name cannot be seen is shown by their address, so that the links to them have a
// text.
func TestInvisibleNames(t *testing.T) {
	for _, name := range []string{"  ", "\u200b", "\u200b \ufeff", "\u3164", "\u2800"} {
		t.Run(fmt.Sprintf("%+q", name), func(t *testing.T) {
			p := open(t, site)
			p.busyMonth()
			p.write(func(tx lyceum.Tx) error {
				user, err := tx.Users.Get(tx, 12)
				if user.Name = lyceum.Some(name); err == nil {
					_, err = tx.Users.Save(tx, user)
				}
				return err
			})
			p.send(p.owner, "POST", people+"/12/enable", nil)
			for path, says := range map[string]string{
				people:                             `<a href="/admin/people/12"><bdi>grace@example.com</bdi></a>`,
				people + "/12":                     "<h1><bdi>grace@example.com</bdi></h1>",
				people + "/12/access":              `<a href="/admin/people/12"><bdi>grace@example.com</bdi></a>`,
				people + "/12/access/course/1/end": "End the access of grace@example.com to Pottery",
				people + "/12/erase":               `<a href="/admin/people/12"><bdi>grace@example.com</bdi></a>`,
				"/admin/search?q=grace":            `<a href="/admin/people/12"><bdi>grace@example.com</bdi></a>`,
				"/admin/sales/2":                   `<a href="/admin/people/12"><bdi>grace@example.com</bdi></a></dd>`,
				transactions + "?user_id=12":       "Buyer: grace@example.com",
				"/admin/settings/audit-log":        `<a href="/admin/people/12"><bdi>grace@example.com</bdi></a>`,
			} {
				want(t, p.send(p.owner, "GET", path, nil), 200, says)
			}
		})
	}
}
