package main

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// retentionFlags set how long a school keeps data that its books do not need.
type retentionFlags struct {
	KeepEvents   *int32 `help:"Days to keep events as they were sent to webhooks, 7 to 3650; 0 keeps them forever." placeholder:"90"`
	KeepAttempts *int32 `help:"Days to keep attempts to deliver events, 1 to 3650; 0 keeps them forever." placeholder:"30"`
	KeepAnswers  *int32 `help:"Days to keep responses to requests with an Idempotency-Key, 2 to 30." placeholder:"2"`
	KeepSessions *int32 `help:"Days to keep sessions, codes and tokens after they end, 1 to 3650." placeholder:"1"`
	KeepLinks    *int32 `help:"Days to keep one-time links after they expire, 1 to 3650." placeholder:"1"`
	KeepEmails   *int32 `help:"Days to list emails after they are queued, 1 to 3650." placeholder:"30"`
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

// printRetention prints how long a school keeps data that its books do not need.
func printRetention(p *program, school lyceum.SchoolID, r lyceum.Retention) {
	fmt.Fprintf(p.stdout, "School %d: events are kept %s, attempts %s, responses %s, ended sessions %s, "+
		"expired links %s, emails %s.\n", school, shownDays(r.Events), shownDays(r.Attempts), shownDays(r.Answers),
		shownDays(r.Sessions), shownDays(r.Links), shownDays(r.Emails))
}

func shownDays(days int32) string {
	switch days {
	case 0:
		return "forever"
	case 1:
		return "1 day"
	}
	return fmt.Sprintf("%d days", days)
}
