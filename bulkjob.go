package lyceum

import "time"

// BulkJobID names a bulk job.
type BulkJobID int32

// BulkAction is what a bulk job does for each user.
type BulkAction string

// The actions of bulk jobs.
const (
	BulkEnroll     BulkAction = "enroll"   // where the product is not open
	BulkUnenroll   BulkAction = "unenroll" // ends access
	BulkGiveAccess BulkAction = "give_access"
	BulkAddTags    BulkAction = "add_tags"
	BulkRemoveTags BulkAction = "remove_tags"
)

// BulkActions lists every action.
func BulkActions() []BulkAction {
	return []BulkAction{BulkEnroll, BulkUnenroll, BulkGiveAccess, BulkAddTags, BulkRemoveTags}
}

// Tags reports whether the action is about tags, and otherwise about a product.
func (a BulkAction) Tags() bool { return a == BulkAddTags || a == BulkRemoveTags }

// BulkState is how far a bulk job is.
type BulkState string

// The states of bulk jobs.
const (
	BulkPreparing BulkState = "preparing" // what it would do is being found out
	BulkDraft     BulkState = "draft"
	BulkRunning   BulkState = "running"
	BulkFinished  BulkState = "finished"
	BulkCanceled  BulkState = "canceled"
	BulkBroken    BulkState = "failed" // trying again would not help
)

// BulkJob does one action for each user of a list, part by part.
type BulkJob struct {
	ID        BulkJobID
	Action    BulkAction
	Product   Opt[Product]
	EndsAt    Opt[time.Time]
	Tags      []string
	State     BulkState
	Actor     string      // in whose name it runs: who prepared it, then who started it
	Rows      int32       // how many it has
	Expected  BulkCounts  // of the rows that have been looked at
	Access    AccessCount // what these would do to access
	Results   BulkCounts  // of the rows that have been processed
	Problem   Opt[string] // why it failed: a sentence
	CreatedAt time.Time
	StartedAt Opt[time.Time]
	EndedAt   Opt[time.Time]
}

// BulkJobFilter narrows bulk jobs; an absent part holds always.
type BulkJobFilter struct {
	States []BulkState    // any of these; empty: all
	Before Opt[time.Time] // created before it
	Newest bool           // first
}

// BulkResult is what a bulk job does, or did, to one row.
type BulkResult string

// The results of rows.
const (
	BulkDone      BulkResult = "done"
	BulkUnchanged BulkResult = "unchanged" // there was nothing to do
	BulkFailed    BulkResult = "failed"
)

// BulkResults lists every result.
func BulkResults() []BulkResult { return []BulkResult{BulkDone, BulkUnchanged, BulkFailed} }

// BulkCounts counts rows by their result, and the sales that end with them.
type BulkCounts struct{ Done, Unchanged, Failed, EndedSales int32 }

// Add counts one more row with its result.
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

// Total is how many rows were counted.
func (c BulkCounts) Total() int32 { return c.Done + c.Unchanged + c.Failed }

// The bounds of bulk jobs.
const (
	MaxBulkRows   = 10_000
	MaxBulkDrafts = 50 // of a school at a time, and jobs that are being prepared
	BulkPartRows  = 50 // of one part, of which one change processes as much as it has time for
)

// BulkPartID names a part of a bulk job.
type BulkPartID int32

// BulkPartSequence numbers the parts of bulk jobs.
const BulkPartSequence Sequence = "bulk_part_id"

// BulkPart is the next rows of a bulk job. All parts but the last have
// BulkPartRows.
type BulkPart struct {
	ID     BulkPartID
	Job    BulkJobID
	Number int32 // from 0
	Rows   []BulkRow
}

// BulkPartFilter narrows parts, which come in their order.
type BulkPartFilter struct {
	Job  BulkJobID
	From int32 // the first number
}

// BulkRow is one user of a bulk job.
type BulkRow struct {
	User  UserID `json:"user,omitempty"`  // 0: no user of the school was named
	Email string `json:"email,omitempty"` // of the user, or as it was sent
	Line  int32  `json:"line,omitempty"`  // of the file that named the user; 0: there was none
	// Settled: preparing the job found that there is nothing to do or that nothing
	// can be done.
	Settled  bool       `json:"settled,omitempty"`
	Expected BulkResult `json:"expected"`
	Result   BulkResult `json:"result,omitempty"` // empty until it is processed
	Message  string     `json:"message,omitempty"`
	Ends     []SaleID   `json:"ends,omitempty"` // sales that it ends, or ended
}

// Now returns the result, or the expected one until the row is processed.
func (r *BulkRow) Now() BulkResult {
	if r.Result == "" {
		return r.Expected
	}
	return r.Result
}
