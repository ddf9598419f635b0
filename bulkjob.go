package lyceum

import "time"

// BulkJobID identifies a bulk job.
type BulkJobID int32

// BulkAction is what a bulk job does for each user.
type BulkAction string

// The actions of bulk jobs.
const (
	BulkEnroll     BulkAction = "enroll"   // if the user does not have access to the product already
	BulkUnenroll   BulkAction = "unenroll" // end access
	BulkGiveAccess BulkAction = "give_access"
	BulkAddTags    BulkAction = "add_tags"
	BulkRemoveTags BulkAction = "remove_tags"
)

// BulkActions lists every action.
func BulkActions() []BulkAction {
	return []BulkAction{BulkEnroll, BulkUnenroll, BulkGiveAccess, BulkAddTags, BulkRemoveTags}
}

// Tags reports whether the action is about tags. All other actions are about a product.
func (a BulkAction) Tags() bool { return a == BulkAddTags || a == BulkRemoveTags }

// BulkState is the state of a bulk job.
type BulkState string

// The states of bulk jobs.
const (
	BulkPreparing BulkState = "preparing" // what it would do is being determined
	BulkDraft     BulkState = "draft"
	BulkRunning   BulkState = "running"
	BulkFinished  BulkState = "finished"
	BulkCanceled  BulkState = "canceled"
	BulkBroken    BulkState = "failed" // a retry would not help
)

// BulkJob performs one action for each user of a list, part by part.
type BulkJob struct {
	ID        BulkJobID
	Action    BulkAction
	Product   Opt[Product]
	EndsAt    Opt[time.Time]
	Tags      []string
	State     BulkState
	Actor     string      // who prepared the job; after it is started, who started it
	Rows      int32       // number of rows
	Expected  BulkCounts  // of the rows examined so far
	Access    AccessCount // what these rows would do to access
	Results   BulkCounts  // of the rows processed so far
	Problem   Opt[string] // why the job failed, as a sentence
	CreatedAt time.Time
	StartedAt Opt[time.Time]
	EndedAt   Opt[time.Time]
}

// BulkJobFilter narrows bulk jobs; absent fields match everything.
type BulkJobFilter struct {
	States []BulkState    // any of these; empty: all
	Before Opt[time.Time] // only those created before this time
	Newest bool           // newest first
}

// BulkResult is what a bulk job will do, or did, for one row.
type BulkResult string

// The results of rows.
const (
	BulkDone      BulkResult = "done"
	BulkUnchanged BulkResult = "unchanged" // there was nothing to do
	BulkFailed    BulkResult = "failed"
)

// BulkResults lists every result.
func BulkResults() []BulkResult { return []BulkResult{BulkDone, BulkUnchanged, BulkFailed} }

// BulkCounts counts rows by result, and the sales that they end.
type BulkCounts struct{ Done, Unchanged, Failed, EndedSales int32 }

// Add counts one more row with the given result.
func (c *BulkCounts) Add(row *BulkRow, result BulkResult) {
	c.EndedSales += int32(len(row.Ends))
	switch result {
	case BulkDone:
		c.Done++
	case BulkUnchanged:
		c.Unchanged++
	case BulkFailed:
		c.Failed++
	}
}

// Total returns the number of rows counted.
func (c BulkCounts) Total() int32 { return c.Done + c.Unchanged + c.Failed }

// Limits of bulk jobs.
const (
	MaxBulkRows   = 10_000
	MaxBulkDrafts = 50 // per school: drafts and jobs in preparation
	BulkPartRows  = 50 // rows per part; one transaction processes as many of them as it has time for
)

// BulkPartID identifies a part of a bulk job.
type BulkPartID int32

// BulkPartSequence numbers the parts of bulk jobs.
const BulkPartSequence Sequence = "bulk_part_id"

// BulkPart is a run of rows of a bulk job. All parts but the last have BulkPartRows rows.
type BulkPart struct {
	ID     BulkPartID
	Job    BulkJobID
	Number int32 // from 0
	Rows   []BulkRow
}

// BulkPartFilter narrows parts, which are listed in order.
type BulkPartFilter struct {
	Job  BulkJobID
	From int32 // the first part number
}

// BulkRow is one user in a bulk job.
type BulkRow struct {
	User  UserID `json:"user,omitempty"`  // 0: no user of the school was named
	Email string `json:"email,omitempty"` // the user's, or as it was submitted
	Line  int32  `json:"line,omitempty"`  // in the file that named the user; 0: there was no file
	// Settled means that preparing the job found that nothing has to or can be done.
	Settled  bool       `json:"settled,omitempty"`
	Expected BulkResult `json:"expected"`
	Result   BulkResult `json:"result,omitempty"` // empty until the row is processed
	Message  string     `json:"message,omitempty"`
	Ends     []SaleID   `json:"ends,omitempty"` // sales that the row will end, or ended
}

// Now returns the result, or the expected result until the row is processed.
func (r *BulkRow) Now() BulkResult {
	if r.Result == "" {
		return r.Expected
	}
	return r.Result
}
