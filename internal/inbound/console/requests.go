package console

import (
	"net/http"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

const (
	requestsPath = "/admin/settings/requests"

	// requestRows is how many failed requests are on a page.
	requestRows = 50
)

// requestPage is the data of the list of failed requests.
type requestPage struct {
	Form     *form
	Rows     []requestRow
	Searched string // the request id that was searched for; empty for none
	Total    int64
	Turn     turn
}

// requestRow is one failed request.
type requestRow struct {
	lyceum.FailedRequest
	who

	Took time.Duration
}

// listRequests serves GET /admin/settings/requests.
func (c *console) listRequests(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := newFilter(requestsPath)
	query := r.URL.Query()
	f.keep(func(name string) string { return strings.TrimSpace(query.Get(name)) }, "request_id", "page")
	p := &requestPage{Form: f, Searched: f.Values["request_id"]}
	reads := &reading{form: f, zone: v.zone}
	page := lyceum.Page{Number: 1, Size: requestRows}
	if number := id[int32](reads, "page"); number.Present {
		page.Number = number.Value
	}
	var err error
	if len(reads.wrong) > 0 {
		err = lyceum.InvalidFields(reads.wrong...)
	} else {
		err = c.fillRequests(r, v, p, page)
	}
	status := http.StatusOK
	if err != nil && f.refuse(err) {
		status, err = http.StatusUnprocessableEntity, nil
	}
	if err != nil {
		return err
	}
	return c.show(w, r, status, "requests.gohtml", v, "Failed requests", p)
}

func (c *console) fillRequests(r *http.Request, v *visit, p *requestPage, page lyceum.Page) error {
	filter := lyceum.FailedRequestFilter{RequestID: lyceum.Opt[string]{Value: p.Searched, Present: p.Searched != ""}}
	if filter.RequestID.Present {
		if _, err := access.ParseRequestID(p.Searched); err != nil {
			return lyceum.InvalidFields(lyceum.FieldError{Field: "request_id", Message: lyceum.Public(err).Detail})
		}
	}
	listing, err := c.Failures.List(r.Context(), v.by(), filter, page)
	if err != nil {
		return err
	}
	actors := make([]lyceum.Entry, len(listing.Rows))
	for i := range listing.Rows {
		actors[i].Actor = listing.Rows[i].Actor
	}
	names, err := auditNamesOf(c.Names.In(r.Context(), v.School.ID), actors)
	if err != nil {
		return err
	}
	for _, one := range listing.Rows {
		p.Rows = append(p.Rows, requestRow{one, names.actor(one.Actor), time.Duration(one.Took) * time.Microsecond})
	}
	p.Total = listing.Total
	p.Turn = newTurn(p.Form, []string{"request_id"}, requestRows, int64(page.Number), listing.Total)
	return nil
}
