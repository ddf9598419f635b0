package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// peoplePage is the data of the list of users.
type peoplePage struct {
	Form   *form // the search
	Link   *form // for a password link
	Began  chip
	Chosen bool // the list is filtered
	Rows   []listedPerson
	Total  int64
	Turn   turn
	// Bounded: there may be further matches that were not searched.
	Bounded bool
	Never   bool // only those who never began
	// Elsewhere is where names are searched for the same words anywhere in them; empty for a
	// visitor who may not search, and without a search text.
	Elsewhere string
}

// listedPerson is one user in the list.
type listedPerson struct {
	lyceum.User

	Path  string
	Shown person
	Marks []mark
}

// Searched returns the maximum number of users that are checked for having never begun.
func (p *peoplePage) Searched() int64 { return lyceum.NamesSearched }

// Most returns the maximum number of addresses, and of names, that begin with a text and are
// looked at.
func (p *peoplePage) Most() int64 { return lyceum.MaxBeginning }

// neverBegan is the value of the parameter began for users who never began.
const neverBegan = "never"

// listPeople serves GET /admin/people.
func (c *console) listPeople(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.peoplePage(w, r, v, http.StatusOK, linkForm(newForm()))
}

func linkForm(once string) *form {
	return &form{Action: peoplePath, Once: once, Values: map[string]string{}}
}

func (c *console) peoplePage(w http.ResponseWriter, r *http.Request, v *visit, status int, link *form) error {
	f := newFilter(peoplePath)
	query := r.URL.Query()
	f.keep(func(name string) string { return strings.TrimSpace(query.Get(name)) }, "q", "began", "page")
	p := &peoplePage{Form: f, Link: link, Never: f.Values["began"] == neverBegan}
	err := checkSearch(f)
	p.Chosen, p.Began = f.Values["q"] != "" || p.Never, neverChip(f)
	if err == nil {
		err = c.fillPeople(r.Context(), v, p, pageOf(f))
	} else if f.refuse(err) {
		err = nil
	}
	if err != nil {
		return err
	}
	if len(f.Order) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return c.show(w, r, status, "people.gohtml", v, "People", p)
}

// checkSearch rejects what cannot be searched for.
func checkSearch(f *form) error {
	text := f.Values["q"]
	if wrong := unsearchable(text); wrong != "" {
		f.Values["q"] = shortened(text)
		return lyceum.InvalidFields(lyceum.FieldError{Field: "q", Message: wrong})
	}
	if began := f.Values["began"]; began != "" && began != neverBegan {
		return lyceum.Invalidf("The parameter began must be %q, or absent.", neverBegan)
	}
	return nil
}

// neverChip returns the filter for users who never began.
func neverChip(f *form) chip {
	made, query := chip{Text: "Bought but never began", On: f.Values["began"] == neverBegan}, url.Values{}
	if q := f.Values["q"]; q != "" {
		query.Set("q", q)
	}
	if !made.On {
		query.Set("began", neverBegan)
	}
	if made.Address = peoplePath; len(query) > 0 {
		made.Address += "?" + query.Encode()
	}
	return made
}

func (c *console) fillPeople(ctx context.Context, v *visit, p *peoplePage, number int32) error {
	of := lyceum.UserFilter{Order: lyceum.UserOrder{By: lyceum.UserByCreated, Descending: true}}
	if text := p.Form.Values["q"]; text != "" {
		of.Begins = lyceum.Some(text)
	}
	if p.Never {
		of.NeverBegan, of.AccessAt = true, c.Clock()
	}
	listing, err := c.People.Profiles(ctx, v.by(), of, lyceum.Page{Number: number, Size: pageSize})
	if err != nil {
		return err
	}
	p.Total = listing.Total
	p.Turn = newTurn(p.Form, []string{"q", "began"}, pageSize, int64(number), listing.Total)
	if of.Begins.Present && !p.Never && access.May(v.Role, "GET "+searchPath) {
		p.Elsewhere = searchPath + "?" + url.Values{"q": {of.Begins.Value}}.Encode()
	}
	p.Bounded = of.Begins.Present && listing.Total >= lyceum.MaxBeginning
	ids := make([]lyceum.UserID, len(listing.Rows))
	for i := range listing.Rows {
		ids[i] = listing.Rows[i].ID
	}
	plans, err := c.People.PlannedErasures(ctx, v.by(), ids...)
	if err != nil {
		return err
	}
	for i := range listing.Rows {
		user := &listing.Rows[i]
		_, planned := plans[user.ID]
		p.Rows = append(p.Rows, listedPerson{
			User: user.User, Path: personPath(user.ID), Marks: personMarks(&user.User, planned),
			Shown: person{Name: seen(user.Name.Value), Email: user.Email},
		})
	}
	return nil
}

// personMarks returns badges for whether a user can sign in, or is to be erased.
func personMarks(user *lyceum.User, erased bool) []mark {
	switch {
	case erased:
		return []mark{{"badge-bad", "To be erased"}}
	case user.DisabledAt.Present:
		return []mark{{"badge-off", "Disabled"}}
	case !user.PasswordHash.Present:
		return []mark{{"", "No password yet"}}
	}
	return []mark{{"badge-on", "Can sign in"}}
}
