package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// heldPerPage is how many products are on a page.
const heldPerPage = 20

// accessPage is the data of the page that says which products a user has access to, and why.
type accessPage struct {
	User lyceum.User
	Path string
	Held []held
	Form *form
	Turn turn
}

// held is a product that a user has, or had, a reason to use.
type held struct {
	learning.HeldProduct

	Kind    string
	Name    string
	State   mark
	Reasons []reason
	More    int    // reasons that are not shown
	End     string // the path of the page that confirms ending access; empty without access
}

// reason is why a user may, or might, use a product.
type reason struct {
	learning.AccessReason

	State mark
	What  string // such as "Sale 41"
	Path  string // of the sale; empty without one
	Note  string
}

func accessPath(id lyceum.UserID) string { return personPath(id) + "/access" }

func endPath(id lyceum.UserID, p lyceum.Product) string {
	return fmt.Sprintf("%s/%s/%d/end", accessPath(id), p.Kind, p.ID)
}

// showAccess serves GET /admin/people/{id}/access.
func (c *console) showAccess(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, err := c.personAt(r, v)
	if err != nil {
		return err
	}
	f := newFilter(accessPath(user.ID))
	f.keep(r.URL.Query().Get, "page")
	number := pageOf(f)
	listing, err := c.Learning.Access(r.Context(), v.by(), user.ID, lyceum.Page{Number: number, Size: heldPerPage})
	if err != nil {
		return err
	}
	p := accessPage{
		User: user, Path: personPath(user.ID), Form: f,
		Turn: newTurn(f, nil, heldPerPage, int64(number), listing.Total),
	}
	for i := range listing.Rows {
		p.Held = append(p.Held, heldOf(user.ID, listing.Rows[i]))
	}
	return c.show(w, r, statusFor(f), "access.gohtml", v, "Why this person has access", p)
}

// pageOf reads the page number in a form. An invalid number is reported at its field, and the
// first page is shown.
func pageOf(f *form) int32 {
	r := &reading{form: f}
	page := id[int32](r, "page").Else(1)
	if len(r.wrong) > 0 {
		f.refuse(lyceum.InvalidFields(r.wrong...))
	}
	return page
}

func heldOf(user lyceum.UserID, h learning.HeldProduct) held {
	shown := held{
		HeldProduct: h, Kind: kindLabels[h.Product.Kind], Name: productLabel(h.ProductInfo),
		State: mark{"badge-off", "No access"}, More: h.Count - len(h.Reasons),
	}
	switch {
	case h.HasAccess:
		shown.State, shown.End = mark{"badge-on", "Has access"}, endPath(user, h.Product)
	case h.BlockedAt.Present:
		shown.State = mark{"badge-bad", "Blocked"}
	}
	for i := range h.Reasons {
		shown.Reasons = append(shown.Reasons, reasonOf(h.Reasons[i]))
	}
	return shown
}

// reasonEnds explains why a reason ended, by the way it ended.
var reasonEnds = map[lyceum.EntitlementEnd]string{
	lyceum.EndedByRefund: "The sale was refunded.", lyceum.EndedByChargeback: "The payment was charged back.",
	lyceum.EndedByCancellation: "The sale was cancelled.", lyceum.EndedByVoiding: "The sale was voided.",
	lyceum.EndedByChange:       "The sale was changed to another plan.",
	lyceum.EndedByLapse:        "The sale lapsed: nobody paid for it.",
	lyceum.EndedByUnenrollment: "The person was unenrolled.",
	lyceum.EndedByImport:       "It had ended when it was imported.",
}

func reasonOf(r learning.AccessReason) reason {
	shown := reason{AccessReason: r, State: mark{"badge-on", "Active"}, Note: reasonEnds[r.EndReason.Value]}
	switch {
	case !r.Active:
		shown.State = mark{"badge-off", "Ended"}
	case r.Blocked:
		shown.State = mark{"badge-bad", "Blocked"}
	}
	switch r.Kind() {
	case lyceum.FromSale:
		shown.What, shown.Path = fmt.Sprintf("Sale %d", r.Sale.Value), salePath(r.Sale.Value)
	case lyceum.FromImport:
		shown.What = "Imported enrollment"
	case lyceum.FromHand:
		shown.What = "Given by hand"
	}
	return shown
}

// Subscribed reports whether ending access also ends a subscription or a payment plan.
func (h held) Subscribed() bool {
	return slices.ContainsFunc(h.Reasons, func(r reason) bool { return r.Active && r.Charged && !r.Through.Present })
}

// PlanName returns the name of the sale's pricing plan, or "" without one.
func (r reason) PlanName() string {
	if !r.Plan.Present {
		return ""
	}
	return planName(r.Plan.Value.Name, r.Plan.Value.ID)
}

// ThroughName returns the name of the collection or tier that the product comes with, or "" if
// it does not come with one.
func (r reason) ThroughName() string { return nameWithKind(r.Through) }

// LeftName returns the name of the collection that the product came with until it left it, or
// "".
func (r reason) LeftName() string { return nameWithKind(r.Left) }

func nameWithKind(p lyceum.Opt[lyceum.ProductInfo]) string {
	if !p.Present {
		return ""
	}
	return fmt.Sprintf("%s (%s)", productLabel(p.Value), p.Value.Product.Kind.Name())
}

var giftFields = []string{"product_type", "product", "ends_on"}

// giveForm returns an empty form to give a user access.
func giveForm(id lyceum.UserID) *form {
	return &form{
		Action: accessPath(id), Once: newForm(), Values: map[string]string{"product_type": string(lyceum.CourseKind)},
	}
}

// giveAccess serves POST /admin/people/{id}/access.
func (c *console) giveAccess(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, err := c.personAt(r, v)
	if err != nil {
		return err
	}
	f := &form{Action: accessPath(user.ID), Once: r.PostForm.Get("form"), Values: map[string]string{}}
	if !isForm(f.Once) {
		f.Once = newForm()
	}
	f.keep(trimmed(r), giftFields...)
	gift, err := c.giftOf(r.Context(), v, user.ID, f)
	if err == nil {
		by := v.once(f.Once, "give", fmt.Sprint(user.ID), f.Values["product_type"], f.Values["product"], f.Values["ends_on"])
		_, err = c.Learning.Give(r.Context(), by, gift)
	}
	switch {
	case err == nil || repeated(err):
		return done(w, r, accessPath(user.ID), "given")
	case f.refuse(inWords(err)):
		return c.personPage(w, r, v, http.StatusUnprocessableEntity, user, f)
	}
	return err
}

// giftOf parses the form that gives access.
func (c *console) giftOf(ctx context.Context, v *visit, user lyceum.UserID, f *form) (learning.Gift, error) {
	var wrong []lyceum.FieldError
	product, problem, err := c.product(ctx, v, f.Values["product_type"], f.Values["product"])
	if err != nil {
		return learning.Gift{}, err
	}
	if problem != "" {
		wrong = append(wrong, lyceum.FieldError{Field: "product", Message: problem})
	}
	end, problem := lastDay(f.Values["ends_on"], v.zone)
	if problem != "" {
		wrong = append(wrong, lyceum.FieldError{Field: "ends_on", Message: problem})
	}
	if len(wrong) > 0 {
		return learning.Gift{}, lyceum.InvalidFields(wrong...)
	}
	return learning.Gift{UserProduct: learning.UserProduct{User: user, Product: product}, EndsAt: end}, nil
}

// formFields maps field names of the rules to those of forms.
var formFields = map[string]string{"product_id": "product", "ends_at": "ends_on"}

// inWords renames the fields in an error of a rule to those of the form.
func inWords(err error) error {
	e := lyceum.Public(err)
	if e.Kind != lyceum.Invalid || len(e.Fields) == 0 {
		return err
	}
	fields := slices.Clone(e.Fields)
	for i := range fields {
		if own, known := formFields[fields[i].Field]; known {
			fields[i].Field = own
		}
	}
	return lyceum.InvalidFields(fields...)
}

// endPage is the data of the page that confirms ending access.
type endPage struct {
	held

	What    string // the product with its kind and number
	User    lyceum.User
	Path    string
	Outcome outcome
	Promise string
	Changed bool // since the page was shown
}

// confirmEnd serves GET /admin/people/{id}/access/{type}/{product}/end.
func (c *console) confirmEnd(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, product, err := c.heldAt(r, v)
	if err != nil {
		return err
	}
	p, err := c.ending(r, v, user, product)
	if err != nil {
		return err
	}
	return c.show(w, r, http.StatusOK, "access_end.gohtml", v, "End access?", p)
}

// ending returns the data of the page that confirms ending access.
func (c *console) ending(r *http.Request, v *visit, user lyceum.User, product learning.UserProduct) (endPage, error) {
	one, err := c.Learning.AccessTo(r.Context(), v.by(), product)
	if err != nil {
		return endPage{}, err
	}
	p := endPage{What: exactly(one.ProductInfo), User: user, Path: accessPath(user.ID), held: heldOf(user.ID, one)}
	if !one.HasAccess {
		return p, nil
	}
	preview, err := c.Learning.PreviewUnenroll(r.Context(), v.by(), product, outcomePage())
	if err != nil {
		return p, err
	}
	p.Outcome = outcomeOf(&preview)
	var said []string
	for _, one := range p.EndsDirectly() {
		said = append(said, one.What, one.PlanName(), strconv.FormatBool(one.Charged))
	}
	for _, one := range p.Outranked() {
		said = append(said, one.ThroughName())
	}
	p.Promise = p.Outcome.promise(said...)
	return p, nil
}

// endAccess serves POST /admin/people/{id}/access/{type}/{product}/end. It ends access if this
// has the effect that the page promised; otherwise it shows the current effect.
func (c *console) endAccess(w http.ResponseWriter, r *http.Request, v *visit) error {
	user, product, err := c.heldAt(r, v)
	if err != nil {
		return err
	}
	p, err := c.ending(r, v, user, product)
	if err != nil {
		return err
	}
	if p.HasAccess && p.Promise != r.PostForm.Get("promise") {
		p.Changed = true
		return c.show(w, r, http.StatusOK, "access_end.gohtml", v, "End access?", p)
	}
	if err := c.Learning.Unenroll(r.Context(), v.by(), product); err != nil {
		return err
	}
	return done(w, r, accessPath(user.ID), "access-ended")
}

// heldAt finds the user and the product in the path.
func (c *console) heldAt(r *http.Request, v *visit) (user lyceum.User, product learning.UserProduct, err error) {
	kind := lyceum.ProductKind(r.PathValue("type"))
	id, ok := parseID[lyceum.CourseID](r.PathValue("product"))
	if !ok || !kind.Known() {
		return user, product, errNoPage
	}
	user, err = c.personAt(r, v)
	return user, learning.UserProduct{User: user.ID, Product: lyceum.Product{Kind: kind, ID: int32(id)}}, err
}

// EndsDirectly returns the active reasons that end: those for the product itself.
func (p endPage) EndsDirectly() []reason {
	return p.active(func(r reason) bool { return !r.Through.Present })
}

// Outranked returns the active reasons that a block overrides.
func (p endPage) Outranked() []reason {
	return p.active(func(r reason) bool { return r.Through.Present && !r.Blocked })
}

func (p endPage) active(keep func(reason) bool) (list []reason) {
	for _, r := range p.Reasons {
		if r.Active && keep(r) {
			list = append(list, r)
		}
	}
	return list
}
