package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
)

// BulkPath is the path of the page of bulk changes, which accepts files.
const BulkPath = "/admin/bulk"

// MaxUpload is the largest form with a file that is read, in bytes.
const MaxUpload = 2 << 20

// bulkPage is the data of the page of bulk changes: the form, and the recent ones.
type bulkPage struct {
	Form *form
	Jobs []bulkJobRow
}

// bulkJobRow is a bulk change in a list.
type bulkJobRow struct {
	lyceum.BulkJob

	What  string
	State mark
	Path  string
}

// recentJobs is how many bulk changes are listed.
const recentJobs = 10

// The ways to select the users of a bulk change.
const (
	byFile   = "file"
	byList   = "list"
	byFilter = "filter"
)

var bulkFields = []string{
	"action", "product_type", "product", "ends_on", "tags", "who", "list", "with_tag", "with_product_type", "with_product",
}

// actionLabels are the labels of the actions.
var actionLabels = map[lyceum.BulkAction]string{
	lyceum.BulkEnroll: "Enroll", lyceum.BulkUnenroll: "End access", lyceum.BulkGiveAccess: "Give access",
	lyceum.BulkAddTags: "Add tags", lyceum.BulkRemoveTags: "Remove tags",
}

// actionHints explain what the actions do.
var actionHints = map[lyceum.BulkAction]string{
	lyceum.BulkEnroll:     "Gives access to those who have none.",
	lyceum.BulkUnenroll:   "Ends access at once, and the subscriptions behind it.",
	lyceum.BulkGiveAccess: "Adds access for all, including those who already have it. It can have a last day.",
	lyceum.BulkAddTags:    "Keeps the tags that people have.",
	lyceum.BulkRemoveTags: "Keeps all other tags.",
}

// actionChoice is an option for the action, with what it does.
type actionChoice struct {
	choice

	ID, Hint string
}

// Actions returns the actions to choose from.
func (f *form) Actions() []actionChoice {
	var list []actionChoice
	for _, action := range lyceum.BulkActions() {
		list = append(list, actionChoice{
			choice{string(action), actionLabels[action], f.Values["action"] == string(action)},
			"action-" + strings.ReplaceAll(string(action), "_", "-"), actionHints[action],
		})
	}
	return list
}

// newBulk serves GET /admin/bulk.
func (c *console) newBulk(w http.ResponseWriter, r *http.Request, v *visit) error {
	return c.bulkForm(w, r, v, http.StatusOK, &form{Action: BulkPath, Values: map[string]string{
		"action": string(lyceum.BulkEnroll), "product_type": string(lyceum.CourseKind), "who": byFile,
		"with_product_type": string(lyceum.CourseKind),
	}})
}

func (c *console) bulkForm(w http.ResponseWriter, r *http.Request, v *visit, status int, f *form) error {
	jobs, err := c.Bulk.List(r.Context(), v.by(), struct{}{}, lyceum.Page{Number: 1, Size: recentJobs})
	if err != nil {
		return err
	}
	p := bulkPage{Form: f}
	if p.Jobs, err = c.bulkJobs(r.Context(), v, jobs.Rows); err != nil {
		return err
	}
	return c.show(w, r, status, "bulk.gohtml", v, "Bulk changes", p)
}

var bulkStates = map[lyceum.BulkState]mark{
	lyceum.BulkPreparing: {"", "Being prepared"}, lyceum.BulkDraft: {"", "Not started"},
	lyceum.BulkRunning:  {"badge-on", "Running"},
	lyceum.BulkFinished: {"badge-off", "Finished"}, lyceum.BulkCanceled: {"badge-off", "Cancelled"},
	lyceum.BulkBroken: {"badge-bad", "Failed"},
}

func bulkPath(id lyceum.BulkJobID) string { return fmt.Sprintf("%s/%d", BulkPath, id) }

// bulkJobs adds the names of the products to bulk changes.
func (c *console) bulkJobs(ctx context.Context, v *visit, jobs []lyceum.BulkJob) ([]bulkJobRow, error) {
	var products []lyceum.Product
	for i := range jobs {
		if jobs[i].Product.Present {
			products = append(products, jobs[i].Product.Value)
		}
	}
	school := c.Names.In(ctx, v.School.ID)
	found, err := lyceum.FindProducts(school.Tables, school, products...)
	if err != nil {
		return nil, err
	}
	rows := make([]bulkJobRow, len(jobs))
	for i, job := range jobs {
		rows[i] = bulkJobRow{BulkJob: job, State: bulkStates[job.State], Path: bulkPath(job.ID)}
		what := strings.Join(job.Tags, ", ")
		if job.Product.Present {
			info := found[job.Product.Value]
			info.Product = job.Product.Value
			what = exactly(info)
		}
		rows[i].What = actionLabels[job.Action] + ": " + what
	}
	return rows, nil
}

// prepareBulk serves POST /admin/bulk.
func (c *console) prepareBulk(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: BulkPath, Values: map[string]string{}}
	sent, err := readUpload(r)
	f.keep(func(name string) string { return strings.TrimSpace(sent.values[name]) }, bulkFields...)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		f.refuse(tooLarge(sent.last))
		return c.bulkForm(w, r, v, http.StatusRequestEntityTooLarge, f)
	}
	if err != nil {
		return lyceum.Invalidf("The form could not be read, so nothing was changed. Open the page again and resubmit it.")
	}
	job, err := c.bulkOf(r.Context(), v, f, sent.file)
	var made lyceum.BulkJob
	if err == nil {
		made, err = c.Bulk.Prepare(r.Context(), v.by(), job)
	}
	switch {
	case err != nil && f.refuse(bulkInWords(f, err)):
		return c.bulkForm(w, r, v, http.StatusUnprocessableEntity, f)
	case err != nil:
		return err
	}
	http.Redirect(w, r, bulkPath(made.ID), http.StatusSeeOther)
	return nil
}

// bulkOf parses the form of a bulk change.
func (c *console) bulkOf(ctx context.Context, v *visit, f *form, file []byte) (bulk.NewJob, error) {
	job := bulk.NewJob{Action: lyceum.BulkAction(f.Values["action"])}
	var wrong []lyceum.FieldError
	refuse := func(field, message string) {
		if message != "" {
			wrong = append(wrong, lyceum.FieldError{Field: field, Message: message})
		}
	}
	if _, known := actionLabels[job.Action]; !known {
		refuse("action", "is required; choose what to do")
	}
	if job.Action.Tags() {
		job.Tags = splitTags(f.Values["tags"])
	} else {
		product, problem, err := c.product(ctx, v, f.Values["product_type"], f.Values["product"])
		if err != nil {
			return job, err
		}
		refuse("product", problem)
		job.Product = lyceum.Some(product)
		if job.Action == lyceum.BulkGiveAccess {
			end, problem := lastDay(f.Values["ends_on"], v.zone)
			refuse("ends_on", problem)
			job.EndsAt = end
		}
	}
	people, err := c.peopleOf(ctx, v, f, file, &job)
	if err != nil {
		return job, err
	}
	if wrong = append(wrong, people...); len(wrong) > 0 {
		return job, lyceum.InvalidFields(wrong...)
	}
	return job, nil
}

// peopleOf reads which users a form selects.
func (c *console) peopleOf(
	ctx context.Context, v *visit, f *form, file []byte, job *bulk.NewJob,
) (wrong []lyceum.FieldError, err error) {
	refuse := func(field, message string) {
		if message != "" {
			wrong = append(wrong, lyceum.FieldError{Field: field, Message: message})
		}
	}
	switch f.Values["who"] {
	case byFile:
		if file == nil {
			refuse("file", "is required; choose a file, or another way to select people")
			return wrong, nil
		}
		refuse("file", readPeople(string(file), job))
		return wrong, nil
	case byList:
		refuse("list", readPeople(f.Values["list"], job))
		return wrong, nil
	case byFilter:
		var filter bulk.Filter
		if tag := f.Values["with_tag"]; tag != "" {
			filter.Tag = lyceum.Some(tag)
		}
		if text := f.Values["with_product"]; text != "" {
			product, problem, err := c.product(ctx, v, f.Values["with_product_type"], text)
			if err != nil {
				return nil, err
			}
			refuse("with_product", problem)
			filter.Product = lyceum.Some(product)
		}
		job.Filter = lyceum.Some(filter)
		return wrong, nil
	}
	refuse("who", "is required; choose how to select people")
	return wrong, nil
}

// splitTags splits a comma-separated list of tags.
func splitTags(text string) (tags []string) {
	for _, tag := range strings.Split(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// bulkInWords renames the fields in an error of the rules to those of the form.
func bulkInWords(f *form, err error) error {
	e, ok := errors.AsType[*lyceum.Error](inWords(err))
	if !ok {
		return err
	}
	source := map[string]string{byFile: "file", byList: "list", byFilter: "with_tag"}[f.Values["who"]]
	for i := range e.Fields {
		switch e.Fields[i].Field {
		case "user_ids", "emails", "filter":
			e.Fields[i].Field = source
		}
	}
	return e
}
