package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

const (
	auditPath     = "/admin/settings/audit-log"
	auditFilePath = auditPath + ".csv"

	// auditRows is how many changes are on a page.
	auditRows = 50
	// maxAuditFile is how many changes the period of a file may have, regardless of the other
	// filters.
	maxAuditFile = 1_000_000
)

// auditFields are the fields of the audit log's filter.
var auditFields = []string{"kind", "actor", "id", "from", "until"}

// auditKinds are the labels of the kinds of changes.
var auditKinds = map[lyceum.EntryKind]string{
	lyceum.SignInEntries: "Sign-ins", lyceum.SettingsEntries: "Settings", lyceum.KeyEntries: "Keys and apps",
	lyceum.StaffEntries: "Staff", lyceum.MoneyEntries: "Money", lyceum.PeopleEntries: "People",
}

// auditPage is the data of the audit log.
type auditPage struct {
	Form          *form
	Kinds         []chip
	Actors        []choice
	Chosen        bool   // the log is filtered
	Actor, Object string // the chosen ones, in words; empty for none
	Days          string
	WithoutActor  string
	WithoutObject string
	WithoutDays   string
	Pick          *picking
	Rows          []auditRow
	Export        string

	Newest, Newer, Older string // URLs of these pages, if they exist
	Further              bool   // this page is not full, and Older searches further back
	Scanned              string // which changes were searched, if this page is not full
}

// audit serves GET /admin/settings/audit-log.
func (c *console) audit(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := newFilter(auditPath)
	f.keep(r.URL.Query().Get, append(auditFields, "find", "before", "after")...)
	q, wrong := readAudit(f, v.zone)
	p := &auditPage{Form: f}
	if address, err := c.findInAudit(r.Context(), v, p, &wrong); err != nil {
		return err
	} else if address != "" {
		http.Redirect(w, r, address, http.StatusSeeOther) // #nosec G710 -- always a page of this server
		return nil
	}
	return c.showAudit(w, r, v, p, q, wrong)
}

func (c *console) showAudit(
	w http.ResponseWriter, r *http.Request, v *visit, p *auditPage, q lyceum.EntryQuery, wrong []lyceum.FieldError,
) error {
	status := http.StatusOK
	if len(wrong) > 0 {
		status = http.StatusUnprocessableEntity
		p.Form.refuse(lyceum.InvalidFields(wrong...))
	}
	in := c.Names.In(r.Context(), v.School.ID)
	if err := c.auditChips(r.Context(), in, v, p); err != nil {
		return err
	}
	if len(wrong) == 0 && p.Pick == nil {
		listing, err := in.FindEntries(q)
		if err != nil {
			return err
		}
		if p.Rows, err = auditRowsOf(in, listing.Entries); err != nil {
			return err
		}
		p.turn(&q, &listing)
	}
	return c.show(w, r, status, "audit.gohtml", v, "Audit log", p)
}

// readAudit parses the filter of the audit log.
func readAudit(f *form, zone *time.Location) (lyceum.EntryQuery, []lyceum.FieldError) {
	r := &reading{form: f, zone: zone}
	q := lyceum.EntryQuery{Kind: lyceum.EntryKind(f.Values["kind"]), Limit: auditRows, Made: r.days()}
	if _, known := auditKinds[q.Kind]; q.Kind != "" && !known {
		r.refuse("kind", "must be sign_ins, settings, keys, staff, money or people, or be left empty")
	}
	if actor := strings.TrimSpace(f.Values["actor"]); actor != "" {
		q.Actor = lyceum.Some(actor)
		if len(actor) > maxActor || !lyceum.IsText(actor) {
			r.refuse("actor", "must be one of the choices, or be left empty")
		}
	}
	q.Object = id[int32](r, "id")
	q.Before, q.After = r.number("before"), r.number("after")
	if q.Before > 0 && q.After > 0 {
		r.refuse("after", "cannot be combined with before")
	}
	return q, r.wrong
}

// maxActor is the length of the longest actor, in bytes.
const maxActor = 64

// number parses the number of a change; 0 if the field is empty.
func (r *reading) number(field string) int64 {
	text := r.form.Values[field]
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || !figures(text) {
		r.refuse(field, "must be the number of a change")
		return 0
	}
	return n
}

// findInAudit looks for what was typed into the search field: the number of an object, or a
// user. If there is exactly one match, it returns the URL of the log filtered by it.
func (c *console) findInAudit(
	ctx context.Context, v *visit, p *auditPage, wrong *[]lyceum.FieldError,
) (address string, err error) {
	text := strings.TrimSpace(p.Form.Values["find"])
	if text == "" || len(*wrong) > 0 {
		return "", nil
	}
	query := auditQuery(p.Form)
	if figures(text) {
		query.Set("id", text)
		return auditAddress(query), nil
	}
	people, err := c.options(ctx, v, lyceum.UserSequence, text)
	switch {
	case err != nil:
		return "", err
	case len(people) == 0:
		*wrong = append(*wrong, lyceum.FieldError{
			Field: "find", Message: "matches nobody; type part of a person’s name or email address, or the number of what " +
				"was changed",
		})
		return "", nil
	}
	p.Pick = &picking{Label: "Person", Text: text, More: len(people) > maxOptions}
	for _, person := range people[:min(len(people), maxOptions)] {
		query.Set("actor", userActor(person.ID))
		address = auditAddress(query)
		p.Pick.Options = append(p.Pick.Options, optionOf(person, address))
	}
	if len(people) > 1 {
		return "", nil
	}
	return address, nil
}

// auditQuery returns the parameters of the filter that are set.
func auditQuery(f *form) url.Values {
	query := url.Values{}
	for _, name := range auditFields {
		if value := strings.TrimSpace(f.Values[name]); value != "" {
			query.Set(name, value)
		}
	}
	return query
}

func auditAddress(query url.Values) string {
	if len(query) == 0 {
		return auditPath
	}
	return auditPath + "?" + query.Encode()
}

// auditWith returns the URL of the log with a different value of one field.
func auditWith(f *form, field, value string) string {
	query := auditQuery(f)
	query.Set(field, value)
	return auditAddress(query)
}

// auditWithout returns the URL of the log without some fields of its filter.
func auditWithout(f *form, fields ...string) string {
	query := auditQuery(f)
	for _, field := range fields {
		query.Del(field)
	}
	return auditAddress(query)
}

// auditChips fills in the filter of the log.
func (c *console) auditChips(ctx context.Context, in lyceum.View, v *visit, p *auditPage) error {
	f := p.Form
	for _, kind := range lyceum.EntryKinds() {
		one := chip{Text: auditKinds[kind], Address: auditWith(f, "kind", string(kind))}
		if one.On = f.Values["kind"] == string(kind); one.On {
			one.Address = auditWithout(f, "kind")
		}
		p.Kinds = append(p.Kinds, one)
	}
	p.Chosen = len(auditQuery(f)) > 0
	p.WithoutActor, p.WithoutObject = auditWithout(f, "actor"), auditWithout(f, "id")
	p.WithoutDays = auditWithout(f, "from", "until")
	p.Export = auditFilePath + strings.TrimPrefix(auditWithout(f), auditPath)
	if number := f.Values["id"]; number != "" {
		p.Object = "Number " + number
	}
	var days []string
	for _, name := range []string{"from", "until"} {
		if day := f.Values[name]; day != "" {
			days = append(days, labels[name]+" "+day)
		}
	}
	p.Days = strings.Join(days, ", ")
	return c.auditActors(ctx, in, v, p)
}

// auditActors fills in the actors to choose from.
func (c *console) auditActors(ctx context.Context, in lyceum.View, v *visit, p *auditPage) error {
	staff, err := c.Staff.List(ctx, v.by())
	if err != nil {
		return err
	}
	for i := range staff {
		p.Actors = append(p.Actors, choice{
			Value: userActor(int32(staff[i].User.ID)),
			Label: personName(&staff[i].User) + ", " + string(staff[i].Role),
		})
	}
	keys, err := c.Keys.List(ctx, v.by())
	if err != nil {
		return err
	}
	for _, key := range keys {
		p.Actors = append(p.Actors, choice{Value: keyPrefix + strconv.Itoa(int(key.ID)), Label: "API key " + key.Name})
	}
	apps, err := c.Apps.List(ctx, v.by())
	if err != nil {
		return err
	}
	for i := range apps {
		p.Actors = append(p.Actors, choice{Value: appPrefix + strconv.Itoa(int(apps[i].ID)), Label: "App " + apps[i].Name})
	}
	for _, program := range []string{"command", "import", "clock", "server"} {
		p.Actors = append(p.Actors, choice{Value: program, Label: programs[program]})
	}
	return p.chooseActor(in)
}

// chooseActor marks the chosen actor, and adds it if it is not in the list.
func (p *auditPage) chooseActor(in lyceum.View) error {
	chosen := strings.TrimSpace(p.Form.Values["actor"])
	if chosen == "" {
		return nil
	}
	for i := range p.Actors {
		if p.Actors[i].Value == chosen {
			p.Actors[i].Chosen, p.Actor = true, p.Actors[i].Label
			return nil
		}
	}
	names, err := auditNamesOf(in, []lyceum.Entry{{Actor: chosen}})
	if err != nil {
		return err
	}
	who := names.actor(chosen)
	p.Actor = who.By
	p.Actors = append(p.Actors, choice{chosen, p.Actor, true})
	return nil
}

func personName(u *lyceum.User) string {
	if name := seen(u.Name.Value); name != "" {
		return name
	}
	return u.Email
}

// turn sets the links to newer and older pages.
func (p *auditPage) turn(q *lyceum.EntryQuery, listing *lyceum.EntryListing) {
	number := func(field string, n int64) string { return auditWith(p.Form, field, strconv.FormatInt(n, 10)) }
	n := len(listing.Entries)
	upwards := q.After > 0
	if q.Before > 0 || upwards {
		p.Newest = auditWithout(p.Form)
	}
	switch {
	case q.Before > 0 && n > 0:
		p.Newer = number("after", listing.Entries[0].Number)
	case q.Before > 1:
		p.Newer = number("after", q.Before-1)
	case upwards && listing.More:
		p.Newer = number("after", listing.Through)
	}
	switch {
	case upwards && n > 0:
		p.Older = number("before", listing.Entries[n-1].Number)
	case upwards:
		p.Older = number("before", q.After+1)
	case listing.More:
		p.Older = number("before", listing.Through)
		if p.Further = n < q.Limit; p.Further {
			p.Scanned = numberBetween(q.Before, listing.Through)
		}
	}
}

// numberBetween returns the range of changes that a page searched, in words.
func numberBetween(before, through int64) string {
	if before > 0 {
		return "changes " + number(through) + " to " + number(before-1)
	}
	return "changes from number " + number(through) + " on"
}

// exportAudit serves GET /admin/settings/audit-log.csv.
func (c *console) exportAudit(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := newFilter(auditPath)
	f.keep(r.URL.Query().Get, auditFields...)
	q, wrong := readAudit(f, v.zone)
	if len(wrong) > 0 { // the page shows what is wrong
		http.Redirect(w, r, auditWithout(f), http.StatusSeeOther) // #nosec G710 -- always a page of this server
		return nil
	}
	q.Limit = exportRows
	first, err := c.Names.In(r.Context(), v.School.ID).FindEntries(q)
	if err != nil {
		return err
	}
	if first.Span > maxAuditFile {
		return c.showAudit(w, r, v, &auditPage{Form: f}, q, []lyceum.FieldError{{
			Field: "from", Message: "must be later: a file covers at most " + number(maxAuditFile) +
				" changes, and the school made " + number(first.Span) + " in this period",
		}})
	}
	header := w.Header()
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="audit-log.csv"`)
	ctx := context.WithoutCancel(r.Context()) // as with sales, the file ends when the client disconnects
	if err := c.writeAudit(ctx, w, v, q, first); err != nil {
		web.Logger(c.Log, w, r).Log(ctx, wire.RefusalLevel(r), "export of the audit log was cut off", "err", err)
		panic(http.ErrAbortHandler) // the browser must notice that the file is incomplete
	}
	return nil
}

// auditNames are the columns of the CSV file of changes.
const auditNames = "number,made_at,type,change,object_id,object,by,how\n"

func (c *console) writeAudit(
	ctx context.Context, w http.ResponseWriter, v *visit, q lyceum.EntryQuery, part lyceum.EntryListing,
) error {
	sending := http.NewResponseController(w)
	for lines := []byte(byteOrderMark + auditNames); ; lines = lines[:0] {
		in := c.Names.In(ctx, v.School.ID)
		rows, err := auditRowsOf(in, part.Entries)
		if err != nil {
			return err
		}
		for i := range rows {
			lines = appendAudit(lines, &rows[i], v.zone)
		}
		_ = sending.SetWriteDeadline(time.Now().Add(exportPause)) // if it cannot be set, there is none
		if _, err := w.Write(lines); err != nil || !part.More {   // #nosec G705 -- a CSV file
			return err
		}
		q.Before = part.Through
		if part, err = in.FindEntries(q); err != nil {
			return err
		}
	}
}

func appendAudit(b []byte, row *auditRow, zone *time.Location) []byte {
	b = strconv.AppendInt(b, row.Number, 10)
	b = row.At.In(zone).AppendFormat(append(b, ','), time.RFC3339)
	what := row.What
	if row.Detail != "" {
		what += ": " + row.Detail
	}
	b = wire.AppendCSVText(append(b, ','), string(row.Type))
	b = wire.AppendCSVText(append(b, ','), what)
	b = strconv.AppendInt(append(b, ','), int64(row.ObjectID), 10)
	for _, text := range []string{row.Object, row.By, row.How} {
		b = wire.AppendCSVText(append(b, ','), text)
	}
	return append(b, '\n')
}
