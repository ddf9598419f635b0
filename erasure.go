package lyceum

import (
	"context"
	"strconv"
	"time"
)

// Erasure is the erasure of a person whose row is already marked as erased. Data that programs
// wrote meanwhile is erased in further passes.
type Erasure struct {
	User        UserID
	RequestedAt time.Time
	Called      Called // empty once only the files are left to clean
	Passes      int32
	Searched    Searched // progress of the current pass
}

// PlannedErasure records that a person is to be erased, unless that is undone before.
type PlannedErasure struct {
	User  UserID
	DueAt time.Time
	Actor string // who requested it
}

// The journal entries of erasures. Their object is the user.
const (
	UserErased     EntryType = "user.erased"
	ErasurePlanned EntryType = "user.erasure_planned"
	ErasureUndone  EntryType = "user.erasure_undone"
	ErasureRefused EntryType = "user.erasure_refused" // the person could not be erased when it was due
)

// DataHandedOver is the journal entry for handing over a person's data. Its object is the user.
const DataHandedOver EntryType = "user.data_handed_over"

// Searched is how far the stored data has been searched for a person.
type Searched struct {
	Text int32  // the kind of text, from 0
	Key  string // the last text searched of this kind; empty: none yet
}

// FoundTexts are texts of one kind that may mention a person.
type FoundTexts struct {
	Text int32
	Keys []string
}

// Called is the names and addresses that a person had. What was stored about the person is
// found by them.
type Called struct {
	Emails []string `json:"emails,omitempty"`
	Names  []string `json:"names,omitempty"`
}

// SchoolErasure is an erasure together with its school.
type SchoolErasure struct {
	School SchoolID
	Erasure
}

// Backup is a copy of the database that still contains a person who was erased.
type Backup struct {
	Path    string
	LastDay time.Time // the latest time of the data in it
	Files   string    // folder of its uploaded files, shared with other backups; empty: none
}

// ErasedEmail returns the email address of a person who was erased. It belongs to nobody.
func ErasedEmail(user UserID) string { return "erased-" + strconv.Itoa(int(user)) + "@invalid" }

// ErasureReads finds the people of all schools who are being erased.
type ErasureReads interface {
	FindErasures(ctx context.Context) ([]SchoolErasure, error)
	// CleanErased also removes erased data from the files of the database, as far as the engine
	// supports that, and reports whether it succeeded. With SQLite, it cannot while a reader
	// holds the log.
	CleanErased(ctx context.Context) (bool, error)
}
