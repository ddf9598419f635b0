package lyceum

import (
	"context"
	"strconv"
	"time"
)

// Erasure is the erasing of a person whose row says already that they were
// erased. What programs wrote meanwhile is erased again in further passes.
type Erasure struct {
	User        UserID
	RequestedAt time.Time
	Called      Called // empty once nothing is left but to clean files
	Passes      int32
	Searched    Searched // by the pass that is under way
}

// PlannedErasure says that a person is to be erased, unless that is undone before.
type PlannedErasure struct {
	User  UserID
	DueAt time.Time
	Actor string // who had it done
}

// The journal entries of planned erasures. Their object is the user.
const (
	ErasurePlanned EntryType = "user.erasure_planned"
	ErasureUndone  EntryType = "user.erasure_undone"
	ErasureRefused EntryType = "user.erasure_refused" // when it was due, they could not be erased
)

// DataHandedOver is the journal entry of a person's data that was handed over. Its
// object is the user.
const DataHandedOver EntryType = "user.data_handed_over"

// Searched is how far what is stored has been searched for a person.
type Searched struct {
	Text int32  // the kind of texts, from 0
	Key  string // of the last text of the kind; empty at its beginning
}

// FoundTexts are texts of one kind in which a person may be named.
type FoundTexts struct {
	Text int32
	Keys []string
}

// Called is what a person was called: by it what was stored of them is found.
type Called struct {
	Emails []string `json:"emails,omitempty"`
	Names  []string `json:"names,omitempty"`
}

// SchoolErasure is an erasure of one of several schools.
type SchoolErasure struct {
	School SchoolID
	Erasure
}

// Backup is a copy of the database that still has a person who was erased.
type Backup struct {
	Path    string
	LastDay time.Time // the last moment that it has anything of
	Files   string    // folder of its uploaded files, which it shares with others; empty: there is none
}

// ErasedEmail is the address of a person who was erased. It is nobody's.
func ErasedEmail(user UserID) string { return "erased-" + strconv.Itoa(int(user)) + "@invalid" }

// ErasureReads finds the people of all schools who are being erased.
type ErasureReads interface {
	FindErasures(ctx context.Context) ([]SchoolErasure, error)
	// CleanErased removes what was erased from the files of the database as well, as far as
	// the engine does that, and reports whether it could: with SQLite no reader must hold the log.
	CleanErased(ctx context.Context) (bool, error)
}
