package main

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// retentionFlags set how long a school keeps data that its books do not need.
type retentionFlags struct {
	KeepEvents   *int32 `help:"Days that events are stored as webhooks were sent them, 7 to 3650; 0 is for good." placeholder:"90"`
	KeepAttempts *int32 `help:"Days that attempts to deliver events are stored, 1 to 3650; 0 is for good." placeholder:"30"`
	KeepAnswers  *int32 `help:"Days that responses to requests with an Idempotency-Key are stored, 2 to 30." placeholder:"2"`
	KeepSessions *int32 `help:"Days that sessions, codes and tokens are stored after they ended, 1 to 3650." placeholder:"1"`
	KeepLinks    *int32 `help:"Days that one-time links are stored after they expired, 1 to 3650." placeholder:"1"`
	KeepEmails   *int32 `help:"Days that emails are listed after they were queued, 1 to 3650." placeholder:"30"`
}

// of returns a school's retention with the given flags applied.
func (f *retentionFlags) of(r lyceum.Retention) lyceum.Retention {
	for _, part := range []struct {
		given *int32
		to    *int32
	}{
		{f.KeepEvents, &r.Events},
		{f.KeepAttempts, &r.Attempts},
		{f.KeepAnswers, &r.Answers},
		{f.KeepSessions, &r.Sessions},
		{f.KeepLinks, &r.Links},
		{f.KeepEmails, &r.Emails},
	} {
		if part.given != nil {
			*part.to = *part.given
		}
	}
	return r
}

// setRetention changes how long a school keeps data that its books do not need.
func (c *schoolSetCommand) setRetention(p *program, store *sqlstore.Store, by lyceum.By, r lyceum.Retention) error {
	if err := access.Retain(p.ctx, store, by.Stamp(p.clock()), r); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "School %d: events are kept %s, attempts %s, responses %s, ended sessions %s, "+
		"expired links %s, emails %s.\n", by.School, shownDays(r.Events), shownDays(r.Attempts), shownDays(r.Answers),
		shownDays(r.Sessions), shownDays(r.Links), shownDays(r.Emails))
	return nil
}

func shownDays(days int32) string {
	switch days {
	case 0:
		return "for good"
	case 1:
		return "1 day"
	}
	return fmt.Sprintf("%d days", days)
}
