package console

import (
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// deletedBy returns the middle of a sentence about an object that was deleted before its changes
// were saved: when and by whom it was deleted. The caller adds what can be done with the changes.
func deletedBy(in lyceum.View, v *visit, noun string, id int32, at time.Time) (string, error) {
	listing, err := in.FindEntries(lyceum.EntryQuery{
		Object: lyceum.Some(id), Made: lyceum.Period{After: at.Add(-time.Second), Until: at}, Limit: auditRows,
	})
	if err != nil {
		return "", err
	}
	by := ""
	for i := range listing.Entries {
		if e := &listing.Entries[i]; by == "" && strings.HasPrefix(string(e.Type), noun+".") {
			names, err := auditNamesOf(in, listing.Entries[i:i+1])
			if err != nil {
				return "", err
			}
			by = " by " + names.actor(e.Actor).By
			if e.Actor == v.by().Actor {
				by = " by you"
			}
		}
	}
	return " was deleted on " + inZone(at, v.zone, humanTime) + by +
		", so nothing was saved. What you typed is below: ", nil
}
