package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// shownOfPerson is how many objects of each kind the page of a user shows.
const shownOfPerson = 5

// personPage is the data of the page of a user: what they have, and what can be done about it.
type personPage struct {
	User   lyceum.User
	Path   string
	Access string // the path of the page of their access
	Give   *form
	Link   *form // for a password link; nil if they cannot sign in
	Bought bought
	Held   []held
	Holds  int64 // products, of which Held are the first
	Learns []lyceum.Enrolled
	More   int // more courses than in Learns
	Tags   []string
	Apps   []access.Granted
	Stays  []access.Stay
	// Sessions and Granted are the totals, of which Stays and Apps are the first.
	Sessions, Granted int
	LastSeen          lyceum.Opt[time.Time]
	Staff             lyceum.StaffRole // empty if they do not work here
	// Changeable: the visitor may change the account. Erasable: the visitor may erase it.
	Changeable, Erasable bool
	SecondFactor         bool // they have one
	// ErasedAt is when they are to be erased, if they are.
	ErasedAt lyceum.Opt[time.Time]
	Comments []comment
	Written  int64 // comments, of which Comments are the newest
}

// Marks returns the same badges as the list.
func (p personPage) Marks() []mark { return personMarks(&p.User, p.ErasedAt.Present) }

// HeldCount returns how many products are shown.
func (p personPage) HeldCount() int64 { return int64(len(p.Held)) }

// CommentCount returns how many comments are shown.
func (p personPage) CommentCount() int64 { return int64(len(p.Comments)) }

// bought are the newest transactions of a user.
type bought struct {
	Rows  []boughtRow
	Total int64
	All   string // the URL of the list of all
}

// boughtRow is a transaction of a user; Refund is the path of the form, empty if nothing can be
// refunded.
type boughtRow struct {
	row

	Refund string
}

func personPath(id lyceum.UserID) string { return fmt.Sprintf("%s/%d", peoplePath, id) }

// showPerson serves GET /admin/people/{id}.
func (c *console) showPerson(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, err := c.personAt(r, v)
	if err != nil {
		return err
	}
	return c.personPage(w, r, v, http.StatusOK, user, giveForm(user.ID))
}

func (c *console) personPage(
	w http.ResponseWriter, r *http.Request, v *visit, status int, user lyceum.User, give *form,
) error {
	page := personPage{User: user, Path: personPath(user.ID), Access: accessPath(user.ID), Give: give}
	if !user.DisabledAt.Present {
		page.Link = linkForm(newForm())
		page.Link.Values["email"] = user.Email
	}
	for _, fill := range []func(context.Context, *visit, *personPage) error{
		c.fillAccount, c.fillErasure, c.fillBought, c.fillLearning, c.fillComments, c.fillApps,
	} {
		if err := fill(r.Context(), v, &page); err != nil {
			return err
		}
	}
	return c.show(w, r, status, "person.gohtml", v, user.Email, page)
}

// fillAccount fills in how a user signs in, and whether the visitor may change that.
func (c *console) fillAccount(ctx context.Context, v *visit, p *personPage) (err error) {
	stays, err := c.Accounts.Stays(ctx, v.by(), p.User.ID, "")
	if err != nil {
		return err
	}
	p.Sessions, p.Stays = len(stays), stays[:min(len(stays), shownOfPerson)]
	if len(stays) > 0 {
		p.LastSeen = lyceum.Some(stays[0].SeenAt)
	}
	if p.Staff, err = c.Accounts.StaffRole(ctx, v.School.ID, &p.User); err != nil {
		return err
	}
	over := p.Staff == "" || v.Role == lyceum.OwnerRole
	p.Changeable = over && access.Holds(v.Role, access.ChangePeople)
	p.Erasable = p.Staff == "" && access.Holds(v.Role, access.ErasePeople)
	p.SecondFactor, err = c.Accounts.HasSecondFactor(ctx, v.School.ID, p.User.ID)
	return err
}

// fillBought fills in the newest transactions of a user, if the visitor may see sales.
func (c *console) fillBought(ctx context.Context, v *visit, p *personPage) error {
	if !access.Holds(v.Role, access.SeeSales) {
		return nil
	}
	theirs := lyceum.TransactionFilter{UserID: lyceum.Some(p.User.ID)}
	listing, err := c.Sales.List(ctx, v.by(), theirs, lyceum.NewestFirst, lyceum.Page{Number: 1, Size: shownOfPerson})
	if err != nil {
		return err
	}
	rows, err := c.rowsOf(ctx, v.School.ID, listing.All())
	if err != nil {
		return err
	}
	p.Bought.Total = listing.Total
	p.Bought.All = listAddress(url.Values{"user_id": {strconv.Itoa(int(p.User.ID))}})
	for i := range rows {
		shown := boughtRow{row: rows[i]}
		_, _, err := c.Sales.Returnable(ctx, v.by(), rows[i].ID)
		if err == nil {
			shown.Refund = refundPath(rows[i].ID)
		} else if lyceum.KindOf(err) != lyceum.Conflict {
			return err
		}
		p.Bought.Rows = append(p.Bought.Rows, shown)
	}
	return nil
}

// fillLearning fills in what a user has access to, their progress, and their tags.
func (c *console) fillLearning(ctx context.Context, v *visit, p *personPage) error {
	listing, err := c.Learning.Access(ctx, v.by(), p.User.ID, lyceum.Page{Number: 1, Size: shownOfPerson})
	if err != nil {
		return err
	}
	p.Holds = listing.Total
	for i := range listing.Rows {
		p.Held = append(p.Held, heldOf(p.User.ID, listing.Rows[i]))
	}
	detail, err := c.People.Show(ctx, v.by(), p.User.ID)
	if err != nil {
		return err
	}
	p.Tags, p.Learns = detail.Tags, detail.Enrollments[:min(len(detail.Enrollments), 2*shownOfPerson)]
	p.More = len(detail.Enrollments) - len(p.Learns)
	return nil
}

// fillErasure fills in when a user is to be erased.
func (c *console) fillErasure(ctx context.Context, v *visit, p *personPage) error {
	plans, err := c.People.PlannedErasures(ctx, v.by(), p.User.ID)
	if plan, planned := plans[p.User.ID]; planned {
		p.ErasedAt = lyceum.Some(plan.DueAt)
	}
	return err
}

// fillComments fills in the newest comments of a user, if the visitor may moderate.
func (c *console) fillComments(ctx context.Context, v *visit, p *personPage) error {
	if !access.Holds(v.Role, access.Moderate) {
		return nil
	}
	written, err := c.Learning.CommentsOf(ctx, v.by(), p.User.ID, lyceum.Page{Number: 1, Size: shownOfPerson})
	p.Written = written.Total
	for i := range written.Rows {
		p.Comments = append(p.Comments, commentOf(written.Rows[i]))
	}
	return err
}

// fillApps fills in which apps may act for a user.
func (c *console) fillApps(ctx context.Context, v *visit, p *personPage) error {
	apps, err := c.Apps.GrantedBy(ctx, v.by(), p.User.ID)
	p.Granted, p.Apps = len(apps), apps[:min(len(apps), 2*shownOfPerson)]
	return err
}

// personAt finds the user in the path.
func (c *console) personAt(r *http.Request, v *visit) (lyceum.User, error) {
	id, ok := parseID[lyceum.UserID](r.PathValue("id"))
	if !ok {
		return lyceum.User{}, errNoPage
	}
	user, err := c.Accounts.User(r.Context(), v.by(), id)
	if !isNotFound(err) {
		return user, err
	}
	in := c.Names.In(r.Context(), v.School.ID)
	gone, found, erring := in.Users.First(in, lyceum.UserFilter{IDs: []lyceum.UserID{id}, Erased: true})
	switch {
	case erring != nil:
		return user, erring
	case found && gone.Erased():
		err = &lyceum.Error{Kind: lyceum.NotFound, Code: erasedPerson, Detail: fmt.Sprintf("This person was erased. Their "+
			"sales and receipts are kept, with the address %s.", gone.Email)}
	}
	return user, err
}

// erasedPerson is the code of the error for a person who was erased. Their page is linked from
// sales, receipts and the audit log.
const erasedPerson = "erased"

// disablePerson serves POST /admin/people/{id}/disable.
func (c *console) disablePerson(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.deed(w, r, v, c.Accounts.SwitchOff, "person-off")
}

// enablePerson serves POST /admin/people/{id}/enable.
func (c *console) enablePerson(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.deed(w, r, v, c.Accounts.SwitchOn, "person-on")
}

// signPersonOut serves POST /admin/people/{id}/sign-out.
func (c *console) signPersonOut(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.deed(w, r, v, c.Accounts.SignOutEverywhere, "person-out")
}

// deed applies an action to the user in the path.
func (c *console) deed(
	w http.ResponseWriter,
	r *http.Request,
	v *visit,
	do func(context.Context, lyceum.By, lyceum.UserID) (lyceum.User, error),
	notice string,
) error {
	user, err := c.personAt(r, v)
	if err != nil {
		return err
	}
	if _, err := do(r.Context(), v.by(), user.ID); err != nil {
		return err
	}
	return done(w, r, personPath(user.ID), notice)
}
