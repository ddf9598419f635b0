package sqlstore

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.BulkJobs, noun[lyceum.BulkJobID, lyceum.BulkJob, lyceum.BulkJobFilter]{
	table: table[lyceum.BulkJob]{name: "bulk_jobs"},
	what:  "bulk job",
	key:   idKey("bulk_job_id", func(j *lyceum.BulkJob) *lyceum.BulkJobID { return &j.ID }),
	rest: []column[lyceum.BulkJob]{
		textColumn("action", func(j *lyceum.BulkJob) *lyceum.BulkAction { return &j.Action }),
		firstColumn(bulkProduct, productType),
		nextColumn(bulkProduct, productID),
		optTimeColumn("ends_at", func(j *lyceum.BulkJob) *lyceum.Opt[time.Time] { return &j.EndsAt }),
		jsonColumn("tags", func(j *lyceum.BulkJob) *[]string { return &j.Tags }),
		textColumn("state", func(j *lyceum.BulkJob) *lyceum.BulkState { return &j.State }),
		textColumn("actor", func(j *lyceum.BulkJob) *string { return &j.Actor }),
		intColumn("row_count", func(j *lyceum.BulkJob) *int32 { return &j.Rows }),
		intColumn("expected_done", func(j *lyceum.BulkJob) *int32 { return &j.Expected.Done }),
		intColumn("expected_unchanged", func(j *lyceum.BulkJob) *int32 { return &j.Expected.Unchanged }),
		intColumn("expected_failed", func(j *lyceum.BulkJob) *int32 { return &j.Expected.Failed }),
		intColumn("expected_sales", func(j *lyceum.BulkJob) *int32 { return &j.Expected.EndedSales }),
		intColumn("losing", func(j *lyceum.BulkJob) *int64 { return &j.Access.Losing }),
		intColumn("keeping", func(j *lyceum.BulkJob) *int64 { return &j.Access.Keeping }),
		intColumn("gaining", func(j *lyceum.BulkJob) *int64 { return &j.Access.Gaining }),
		intColumn("done", func(j *lyceum.BulkJob) *int32 { return &j.Results.Done }),
		intColumn("unchanged", func(j *lyceum.BulkJob) *int32 { return &j.Results.Unchanged }),
		intColumn("failed", func(j *lyceum.BulkJob) *int32 { return &j.Results.Failed }),
		intColumn("sales", func(j *lyceum.BulkJob) *int32 { return &j.Results.EndedSales }),
		optTextColumn("problem", func(j *lyceum.BulkJob) *lyceum.Opt[string] { return &j.Problem }),
		timeColumn("created_at", func(j *lyceum.BulkJob) *time.Time { return &j.CreatedAt }),
		optTimeColumn("started_at", func(j *lyceum.BulkJob) *lyceum.Opt[time.Time] { return &j.StartedAt }),
		optTimeColumn("ended_at", func(j *lyceum.BulkJob) *lyceum.Opt[time.Time] { return &j.EndedAt }),
	},
	narrow: func(w *where, f lyceum.BulkJobFilter) {
		if len(f.States) > 0 {
			oneOf(w, "state", f.States)
		}
		if f.Before.Present {
			w.and("created_at < ?", micros(f.Before.Value))
		}
	},
	order: func(f lyceum.BulkJobFilter) string {
		if f.Newest {
			return "bulk_job_id DESC"
		}
		return "bulk_job_id"
	},
})

func bulkProduct(j *lyceum.BulkJob) *lyceum.Opt[lyceum.Product] { return &j.Product }

var _ = define(&tables.BulkParts, noun[lyceum.BulkPartID, lyceum.BulkPart, lyceum.BulkPartFilter]{
	table: table[lyceum.BulkPart]{name: "bulk_parts"},
	what:  "part of a bulk job",
	key:   idKey("bulk_part_id", func(p *lyceum.BulkPart) *lyceum.BulkPartID { return &p.ID }),
	rest: []column[lyceum.BulkPart]{
		intColumn("bulk_job_id", func(p *lyceum.BulkPart) *lyceum.BulkJobID { return &p.Job }),
		intColumn("number", func(p *lyceum.BulkPart) *int32 { return &p.Number }),
		jsonColumn("part_rows", func(p *lyceum.BulkPart) *[]lyceum.BulkRow { return &p.Rows }),
	},
	narrow: func(w *where, f lyceum.BulkPartFilter) {
		w.equal("bulk_job_id", int64(f.Job))
		w.and("number >= ?", int64(f.From))
	},
	order: func(lyceum.BulkPartFilter) string { return "number" },
})

// jsonColumn is a column that holds a list as JSON, read and written as a whole.
func jsonColumn[T, E any](name string, at func(*T) *[]E) column[T] {
	return column[T]{
		name: name,
		bind: func(t *T) any {
			text, err := json.Marshal(append([]E{}, *at(t)...))
			if err != nil {
				panic(fmt.Sprintf("write %s: %v", name, err)) // no element can fail to marshal
			}
			return string(text)
		},
		scan: func(t *T) sql.Scanner {
			var text string
			read := scanText(&text)
			return scanFunc(func(src any) error {
				if err := read.Scan(src); err != nil {
					return err
				}
				*at(t) = nil // rows are scanned into the memory of the one before
				return json.Unmarshal([]byte(text), at(t))
			})
		},
	}
}
