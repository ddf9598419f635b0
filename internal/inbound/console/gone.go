package console

import (
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// deletedBy says when and by whom something was deleted that was to be changed, and goes
// on to what can be done with what was typed.
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
