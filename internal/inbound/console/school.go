package console

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/lyceum-school/lyceum"
)

const schoolPath = "/admin/settings/school"

// schoolPage is the data of the page of the school's settings.
type schoolPage struct {
	Form     *form
	Question *lapsing // what saving would end; nil for nothing
}

// Fields returns the names of the form's fields.
func (schoolPage) Fields() []string { return schoolFields }

// lapsing is what a change of the settings ends at once, as the page asks about it.
type lapsing struct {
	folded[lapsingLine]

	Sales   int
	Losing  int64 // people who lose access
	Keeping int64 // people who keep it for another reason
	Promise string
	Changed bool // the form promised something else
}

// lapsingLine is a product that a person loses access to.
type lapsingLine struct {
	person

	ID      lyceum.UserID
	Product string
}

var schoolFields = []string{
	"name", "time_zone", "on_refund", "on_chargeback", "on_cancellation", "on_lapse", "grace_days",
}

// endsOrStays is offered for money that came back.
var endsOrStays = []choice{
	{Value: string(lyceum.Unenroll), Label: "Access ends"},
	{Value: string(lyceum.Keep), Label: "Access stays"},
}

// consequences are what the fields of the policy offer.
var consequences = map[string][]choice{
	"on_refund":     endsOrStays,
	"on_chargeback": endsOrStays,
	"on_cancellation": {
		{Value: string(lyceum.AtPeriodEnd), Label: "Access ends with the paid period"},
		{Value: string(lyceum.Unenroll), Label: "Access ends at once"},
		{Value: string(lyceum.Keep), Label: "Access stays"},
	},
	"on_lapse": {
		{Value: string(lyceum.EndSale), Label: "It ends, and so does access"},
		{Value: string(lyceum.Keep), Label: "It continues, and access stays"},
	},
}

// Select returns a field of the form with the values that it offers, for its template.
func (f *form) Select(name, hint string) any {
	choices := slices.Clone(consequences[name])
	for i := range choices {
		choices[i].Chosen = choices[i].Value == f.Values[name]
	}
	return struct {
		field

		Choices []choice
	}{f.Field(name, "", hint), choices}
}

// offered returns the labels of the values that a field offers.
func offered(name string) map[string]string {
	labels := map[string]string{}
	for _, c := range consequences[name] {
		labels[c.Value] = c.Label
	}
	return labels
}

// schoolForm returns the form of the settings with their current values.
func schoolForm(s *lyceum.School) *form {
	return &form{Action: schoolPath, Shown: s.Shown(), Values: map[string]string{
		"name": s.Name, "time_zone": string(s.TimeZone), "on_refund": string(s.Policy.OnRefund),
		"on_chargeback": string(s.Policy.OnChargeback), "on_cancellation": string(s.Policy.OnCancellation),
		"on_lapse": string(s.Policy.OnLapse), "grace_days": strconv.Itoa(int(s.Policy.GraceDays)),
	}}
}

// showSchool serves GET /admin/settings/school.
func (c *console) showSchool(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.show(w, r, http.StatusOK, "school.gohtml", v, "School", schoolPage{Form: schoolForm(&v.School)})
}

// changeSchool serves POST /admin/settings/school. If the change ends sales at once, it is made
// only if the form promised exactly that; otherwise the page asks.
func (c *console) changeSchool(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: schoolPath, Shown: r.PostForm.Get("shown"), Values: map[string]string{}}
	f.keep(trimmed(r), schoolFields...)
	p := schoolPage{Form: f}
	apply := func(s *lyceum.School) {
		s.Name, s.TimeZone = f.Values["name"], lyceum.TimeZone(f.Values["time_zone"])
		s.Policy.OnRefund = lyceum.Consequence(f.Values["on_refund"])
		s.Policy.OnChargeback = lyceum.Consequence(f.Values["on_chargeback"])
		s.Policy.OnCancellation = lyceum.Consequence(f.Values["on_cancellation"])
		s.Policy.OnLapse = lyceum.Consequence(f.Values["on_lapse"])
		s.Policy.GraceDays = graceOf(f.Values["grace_days"])
	}
	var wrong error
	p.Question, wrong = c.lapsing(r.Context(), v, apply)
	if asks := p.Question; wrong == nil && asks != nil && asks.Promise != r.PostForm.Get("promise") {
		asks.Changed = r.PostForm.Get("promise") != ""
		return c.show(w, r, http.StatusOK, "school.gohtml", v, "School", p)
	}
	if wrong == nil {
		_, wrong = c.Sales.Configure(r.Context(), v.seeing(f), apply)
	}
	if wrong == nil {
		return done(w, r, schoolPath, "changed")
	}
	p.Question = nil
	if !f.overtaken(wrong, schoolForm(&v.School), schoolFields...) && !f.refuse(wrong) {
		return wrong
	}
	return c.show(w, r, statusFor(f), "school.gohtml", v, "School", p)
}

// graceOf parses the days of the grace. It returns -1, which no school has, for what is not a
// number.
func graceOf(text string) int32 {
	days, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return -1
	}
	return int32(days)
}

// lapsing returns what a change of the settings ends at once, or nil for nothing.
func (c *console) lapsing(ctx context.Context, v *visit, apply func(*lyceum.School)) (*lapsing, error) {
	changed := v.School
	apply(&changed)
	if err := changed.Check(); err != nil {
		return nil, err
	}
	found, err := c.Sales.PreviewLapse(ctx, v.by(), changed.Policy, outcomePage())
	if err != nil || len(found.Ends) == 0 {
		return nil, err
	}
	asks := &lapsing{Sales: len(found.Ends), Losing: found.People.Losing, Keeping: found.People.Keeping}
	said := []any{found.Ends, found.People}
	for i := range found.Changes.Rows {
		change := &found.Changes.Rows[i]
		if change.Effect() == lyceum.AccessStays {
			continue
		}
		of := found.Users[change.User]
		asks.Lines = append(asks.Lines, lapsingLine{
			person{of.Name.Value, of.Email}, change.User, found.Names[change.Product].Name,
		})
		said = append(said, change.User, change.Product)
	}
	for _, of := range found.Products {
		asks.More += of.Losing
	}
	asks.More -= int64(len(asks.Lines))
	asks.Promise = lyceum.Fingerprint(said...)
	return asks, nil
}
