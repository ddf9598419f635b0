package bulk

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// NewJob is a job to prepare: an action and exactly one way to name the users.
type NewJob struct {
	Action  lyceum.BulkAction
	Product lyceum.Opt[lyceum.Product]
	EndsAt  lyceum.Opt[time.Time]
	Tags    []string

	Users  []lyceum.UserID
	Emails []string
	Filter lyceum.Opt[Filter]

	Lines []int32 // of the file that names the users or their addresses, one for each; nil without a file
}

// Filter selects users by their tags and products. An absent field matches every user.
type Filter struct {
	Tag     lyceum.Opt[string]
	Product lyceum.Opt[lyceum.Product] // that they have access to
}

// Prepare saves a bulk job with what it would do to its first lyceum.BulkPartRows users, which
// is determined by doing it and rolling it back. Continue does so for the others; a job without
// others becomes a draft immediately. It fails with Invalid, and with Conflict if there are
// lyceum.MaxBulkDrafts jobs that have not been started.
func (s *Service) Prepare(ctx context.Context, by lyceum.By, q NewJob) (lyceum.BulkJob, error) {
	now := s.clock()
	job := lyceum.BulkJob{
		Action: q.Action, Product: q.Product, EndsAt: q.EndsAt, Tags: q.Tags, State: lyceum.BulkPreparing, Actor: by.Actor,
		CreatedAt: lyceum.Second(now),
	}
	var rows []lyceum.BulkRow
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		err := s.check(v, now, &q, &job)
		if err == nil {
			rows, err = rowsOf(v, now, &q)
		}
		return err
	})
	if err != nil {
		return job, err
	}
	job.Rows = int32(len(rows))
	var parts []lyceum.BulkPart
	for from := 0; from < len(rows); from += lyceum.BulkPartRows {
		to := min(from+lyceum.BulkPartRows, len(rows))
		parts = append(parts, lyceum.BulkPart{Number: int32(len(parts)), Rows: rows[from:to]})
	}
	stamp := lyceum.Stamp{School: by.School, At: now, Actor: by.Actor}
	for early := parts[0].Rows; int(job.Expected.Total()) < len(early); {
		v := s.store.In(ctx, by.School)
		rows, err := s.room(v.Tables, v, &job, early[job.Expected.Total():])
		if err == nil {
			err = s.foresee(ctx, stamp, &job, rows)
		}
		if err != nil {
			return job, err
		}
	}
	first, rest := parts[:min(len(parts), insertParts)], parts[min(len(parts), insertParts):]
	job, err = lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.BulkJob, error) {
		return keep(tx, job, first)
	})
	for ; err == nil && len(rest) > 0; rest = rest[min(len(rest), insertParts):] {
		err = s.store.Write(ctx, stamp, func(tx lyceum.Tx) error {
			return insert(tx, job.ID, rest[:min(len(rest), insertParts)])
		})
	}
	if err == nil && job.State == lyceum.BulkPreparing {
		s.wake()
	}
	return job, err
}

// insertParts is the maximum number of parts that one change inserts, so that other changes need
// not wait. A job whose last parts are missing because the process was stopped fails when it
// reaches them.
const insertParts = 40

// keep inserts a job that has not been started, unless there are too many of them.
func keep(tx lyceum.Tx, job lyceum.BulkJob, parts []lyceum.BulkPart) (lyceum.BulkJob, error) {
	unstarted := lyceum.BulkJobFilter{States: []lyceum.BulkState{lyceum.BulkPreparing, lyceum.BulkDraft}}
	others, err := tx.BulkJobs.List(tx, unstarted, lyceum.Page{Number: 1, Size: 1})
	switch {
	case err != nil:
		return job, err
	case others.Total >= lyceum.MaxBulkDrafts:
		return job, &lyceum.Error{
			Kind: lyceum.Conflict, Code: "too_many_drafts",
			Detail: fmt.Sprintf("%d bulk jobs have not been started; start or cancel some first", others.Total),
		}
	}
	if job.ID, err = tx.BulkJobs.NextID(tx); err != nil {
		return job, err
	}
	if err := tx.BulkJobs.Insert(tx, job); err != nil {
		return job, err
	}
	return job, insert(tx, job.ID, parts)
}

// insert inserts parts of a job.
func insert(tx lyceum.Tx, job lyceum.BulkJobID, parts []lyceum.BulkPart) error {
	err := tx.Reserve(len(parts), lyceum.BulkPartSequence)
	for i := range parts {
		if err != nil {
			return err
		}
		parts[i].Job = job
		parts[i].ID, err = tx.BulkParts.NextID(tx)
	}
	if err != nil {
		return err
	}
	return tx.BulkParts.Insert(tx, parts...)
}

// check rejects a job that is invalid for every user.
func (s *Service) check(v lyceum.View, now time.Time, q *NewJob, job *lyceum.BulkJob) error {
	var wrong []lyceum.FieldError
	refuse := func(field, message string) {
		wrong = append(wrong, lyceum.FieldError{Field: field, Message: message})
	}
	if q.Action.Tags() {
		switch {
		case q.Product.Present:
			refuse("product_id", "is not for an action about tags")
		case len(q.Tags) == 0:
			refuse("tags", "is required for an action about tags")
		}
		if err := s.people.CheckTags(q.Tags); err != nil {
			wrong = append(wrong, lyceum.Public(err).Fields...)
		}
	} else {
		if len(q.Tags) > 0 {
			refuse("tags", "is not for an action about a product")
		}
		if !q.Product.Present {
			refuse("product_id", "is required for an action about a product")
		}
		var more []lyceum.FieldError
		if q.Product.Present {
			var err error
			if more, err = s.wrongProduct(v.Tables, v, now, job); err != nil {
				return err
			}
		}
		wrong = append(wrong, more...)
	}
	if q.EndsAt.Present && q.Action != lyceum.BulkGiveAccess {
		refuse("ends_at", "is only for give_access")
	}
	wrong = append(wrong, checkList(q)...)
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	return nil
}

// checkList returns what is wrong with the way in which users are named.
func checkList(q *NewJob) (wrong []lyceum.FieldError) {
	refuse := func(field, message string) {
		wrong = append(wrong, lyceum.FieldError{Field: field, Message: message})
	}
	ways := 0
	for _, list := range []struct {
		field string
		given bool
		n     int
	}{{"user_ids", q.Users != nil, len(q.Users)}, {"emails", q.Emails != nil, len(q.Emails)}} {
		if !list.given {
			continue
		}
		if ways++; list.n == 0 || list.n > lyceum.MaxBulkRows {
			refuse(list.field, fmt.Sprintf("must have 1 to %d elements; it has %d", lyceum.MaxBulkRows, list.n))
		}
	}
	if f := q.Filter; f.Present {
		tag := f.Value.Tag
		switch ways++; {
		case !tag.Present && !f.Value.Product.Present:
			refuse("filter", "must name a tag, a product or both")
		case tag.Present && !lyceum.IsText(tag.Value):
			refuse("filter", "must name a tag that is UTF-8 text without NUL characters")
		}
	}
	if ways != 1 {
		refuse("user_ids", "or emails or filter is required, and only one of them")
	}
	return wrong
}

// rowsOf returns a row for each user that a list names, in its order.
func rowsOf(v lyceum.View, now time.Time, q *NewJob) (rows []lyceum.BulkRow, err error) {
	switch {
	case q.Users != nil:
		rows, err = byID(v, q.Users)
	case q.Emails != nil:
		rows, err = byEmail(v, q.Emails)
	default:
		return filtered(v, now, q.Filter.Value)
	}
	first := map[lyceum.UserID]int{}
	for i := range rows {
		row := &rows[i]
		if q.Lines != nil {
			row.Line = q.Lines[i]
		}
		if at, again := first[row.User]; again && row.User != 0 {
			row.Settled, row.Expected = true, lyceum.BulkUnchanged
			if row.Message = fmt.Sprintf("the same user is in row %d", at+1); q.Lines != nil {
				row.Message = fmt.Sprintf("the same user is in line %d", q.Lines[at])
			}
			continue
		}
		first[row.User] = i
	}
	return rows, err
}

func byID(v lyceum.View, ids []lyceum.UserID) ([]lyceum.BulkRow, error) {
	known, err := v.UserSummaries.Find(v, ids...)
	rows := make([]lyceum.BulkRow, len(ids))
	for i, id := range ids {
		if user, there := known[id]; there {
			rows[i] = lyceum.BulkRow{User: id, Email: user.Email}
		} else if rows[i] = unknown(fmt.Sprintf("no user of this school has the id %d", id)); id == 0 {
			rows[i].Message = "names nobody"
		}
	}
	return rows, err
}

func byEmail(v lyceum.View, emails []string) ([]lyceum.BulkRow, error) {
	known := map[string]lyceum.UserSummary{}
	for from := 0; from < len(emails); from += lyceum.MaxUsers {
		part := emails[from:min(from+lyceum.MaxUsers, len(emails))]
		err := v.UserSummaries.Each(v, lyceum.UserFilter{Emails: trimmed(part)}, func(user *lyceum.UserSummary) error {
			known[strings.ToLower(user.Email)] = *user
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	rows := make([]lyceum.BulkRow, len(emails))
	for i, email := range trimmed(emails) {
		if user, there := known[strings.ToLower(email)]; there {
			rows[i] = lyceum.BulkRow{User: user.ID, Email: user.Email}
			continue
		}
		rows[i] = unknown("no user of this school has this email address")
		if rows[i].Email = shortened(email); email == "" {
			rows[i].Message = "names nobody"
		}
	}
	return rows, nil
}

// maxEmail is the maximum length of any email address, in bytes (RFC 5321, section 4.5.3.1).
const maxEmail = 320

// shortened truncates a string that is too long to be an email address.
func shortened(email string) string {
	if len(email) <= maxEmail {
		return email
	}
	return strings.ToValidUTF8(email[:maxEmail], "") + "…"
}

// trimmed returns addresses that a store can be queried for: without surrounding spaces, and
// empty if one is not valid text.
func trimmed(emails []string) []string {
	clean := make([]string, len(emails))
	for i, email := range emails {
		if lyceum.IsText(email) {
			clean[i] = strings.TrimSpace(email)
		}
	}
	return clean
}

// errMany ends a search that found more users than a job may have.
var errMany = lyceum.InvalidFields(lyceum.FieldError{
	Field: "filter", Message: fmt.Sprintf("matches more than %d users", lyceum.MaxBulkRows),
})

func filtered(v lyceum.View, now time.Time, f Filter) (rows []lyceum.BulkRow, err error) {
	who := lyceum.UserFilter{Tag: f.Tag, Product: f.Product, AccessAt: now}
	err = v.UserSummaries.Each(v, who, func(user *lyceum.UserSummary) error {
		if len(rows) == lyceum.MaxBulkRows {
			return errMany
		}
		rows = append(rows, lyceum.BulkRow{User: user.ID, Email: user.Email})
		return nil
	})
	if err == nil && len(rows) == 0 {
		err = lyceum.InvalidFields(lyceum.FieldError{Field: "filter", Message: "matches no user"})
	}
	return rows, err
}

// unknown returns the row of a user who does not exist.
func unknown(message string) lyceum.BulkRow {
	return lyceum.BulkRow{Settled: true, Expected: lyceum.BulkFailed, Message: message}
}
