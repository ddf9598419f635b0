package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
)

// bulkRows is how many rows of a bulk change are on a page.
const bulkRows = 100

// bulkJobPage is the data of the page of a bulk change.
type bulkJobPage struct {
	bulkJobRow

	Counts   lyceum.BulkCounts // of the results, or of the expected results of a draft
	Happened bool              // Counts are of the results
	Results  []bulkResultLink
	Form     *form
	List     []bulkRowShown
	Lines    bool // rows are named by the lines of a file
	Turn     turn
}

// bulkResultLink filters the rows by one result.
type bulkResultLink struct {
	Label, Address string
	Current        bool
}

// bulkRowShown is one row of a bulk change.
type bulkRowShown struct {
	bulk.Row

	State mark
	Path  string // of the user; empty if nobody was named
	Place int32  // the line in the file, otherwise the position in the list
	Sales []bulkSale
}

// bulkSale is a sale that ends together with the access of a row.
type bulkSale struct{ Name, Path string }

// resultLabels are the badges of results, of rows that were processed (true) and of rows that
// were not (false).
var resultLabels = map[bool]map[lyceum.BulkResult]mark{
	true: {
		lyceum.BulkDone: {"badge-on", "Done"}, lyceum.BulkUnchanged: {"badge-off", "Nothing to do"},
		lyceum.BulkFailed: {"badge-bad", "Failed"},
	},
	false: {
		lyceum.BulkDone: {"", "Will be done"}, lyceum.BulkUnchanged: {"badge-off", "Nothing to do"},
		lyceum.BulkFailed: {"badge-bad", "Will fail"}, "": {"", "Not checked yet"},
	},
}

func (c *console) bulkAt(r *http.Request, v *visit) (lyceum.BulkJob, error) {
	id, ok := parseID[lyceum.BulkJobID](r.PathValue("id"))
	if !ok {
		return lyceum.BulkJob{}, errNoPage
	}
	return c.Bulk.Show(r.Context(), v.by(), id)
}

// showBulk serves GET /admin/bulk/{id}.
func (c *console) showBulk(w http.ResponseWriter, r *http.Request, v *visit) error {
	job, err := c.bulkAt(r, v)
	if err != nil {
		return err
	}
	f := newFilter(bulkPath(job.ID))
	f.keep(r.URL.Query().Get, "page", "result")
	number := pageOf(f)
	filter := bulk.RowFilter{Job: job.ID}
	if result := lyceum.BulkResult(f.Values["result"]); slices.Contains(lyceum.BulkResults(), result) {
		filter.Result, filter.Processed = lyceum.Some(result), job.EndedAt.Present
	}
	rows, err := c.Bulk.Rows(r.Context(), v.by(), filter, lyceum.Page{Number: number, Size: bulkRows})
	if err != nil {
		return err
	}
	p := bulkJobPage{
		Counts: job.Expected, Form: f, Turn: newTurn(f, []string{"result"}, bulkRows, int64(number), rows.Total),
		Results: resultLinks(&job, filter.Result),
	}
	if p.Happened = happened(&job); p.Happened {
		p.Counts = job.Results
	}
	named, err := c.bulkJobs(r.Context(), v, []lyceum.BulkJob{job})
	if err != nil {
		return err
	}
	p.bulkJobRow = named[0]
	for _, row := range rows.Rows {
		shown := bulkRowShown{
			Row: row, State: resultLabels[row.Result != ""][row.Now()], Place: cmp.Or(row.Line, row.Number),
		}
		if row.Result == "" && job.EndedAt.Present {
			shown.leave()
		}
		p.Lines = p.Lines || row.Line != 0
		for _, id := range shown.Ends {
			shown.Sales = append(shown.Sales, bulkSale{fmt.Sprintf("sale %d", id), salePath(id)})
		}
		if row.User != 0 {
			shown.Path = accessPath(row.User)
		}
		p.List = append(p.List, shown)
	}
	return c.show(w, r, statusFor(f), "bulk_job.gohtml", v, p.What, p)
}

// happened reports whether a change was started or discarded, so that its expected results no
// longer matter.
func happened(job *lyceum.BulkJob) bool { return job.StartedAt.Present || job.EndedAt.Present }

// leave says that a row of a change that has ended was not processed.
func (r *bulkRowShown) leave() {
	r.State = mark{"badge-off", "Not done"}
	if r.Ends = nil; r.Expected == lyceum.BulkDone {
		r.Message = "" // it says what would have been done
	}
}

func resultLinks(job *lyceum.BulkJob, chosen lyceum.Opt[lyceum.BulkResult]) []bulkResultLink {
	path := bulkPath(job.ID)
	links := []bulkResultLink{{"All", path, !chosen.Present}}
	for _, result := range lyceum.BulkResults() {
		links = append(links, bulkResultLink{
			resultLabels[happened(job)][result].Text, path + "?" + url.Values{"result": {string(result)}}.Encode(),
			chosen == lyceum.Some(result),
		})
	}
	return links
}

// startBulk serves POST /admin/bulk/{id}/start.
func (c *console) startBulk(w http.ResponseWriter, r *http.Request, v *visit) error {
	job, err := c.bulkAt(r, v)
	if err != nil {
		return err
	}
	_, err = c.Bulk.Start(r.Context(), v.by(), job.ID)
	if err != nil && lyceum.Public(err).Code != "not_draft" { // the page shows its progress
		return err
	}
	http.Redirect(w, r, bulkPath(job.ID), http.StatusSeeOther)
	return nil
}

// cancelBulk serves POST /admin/bulk/{id}/cancel.
func (c *console) cancelBulk(w http.ResponseWriter, r *http.Request, v *visit) error {
	job, err := c.bulkAt(r, v)
	if err != nil {
		return err
	}
	switch _, err := c.Bulk.Cancel(r.Context(), v.by(), job.ID); {
	case err == nil:
		return done(w, r, bulkPath(job.ID), "discarded")
	case lyceum.Public(err).Code != "finished":
		return err
	}
	http.Redirect(w, r, bulkPath(job.ID), http.StatusSeeOther)
	return nil
}

// Running reports whether the change is in progress.
func (p bulkJobPage) Running() bool { return p.BulkJob.State == lyceum.BulkRunning }

// Preparing reports whether the effect of the change is still being determined.
func (p bulkJobPage) Preparing() bool { return p.BulkJob.State == lyceum.BulkPreparing }

// Charged reports whether subscriptions end, or have ended.
func (p bulkJobPage) Charged() bool { return p.Counts.EndedSales > 0 }

// Broken reports whether the change failed as a whole.
func (p bulkJobPage) Broken() bool { return p.BulkJob.State == lyceum.BulkBroken }

// Draft reports whether the change can be started.
func (p bulkJobPage) Draft() bool { return p.BulkJob.State == lyceum.BulkDraft }

// StartBy returns when a change that is not started is deleted.
func (p bulkJobPage) StartBy() time.Time { return p.CreatedAt.Add(bulk.DraftsKept) }

// Reached returns how many rows have been prepared, or processed.
func (p bulkJobPage) Reached() int32 { return p.Counts.Total() }
