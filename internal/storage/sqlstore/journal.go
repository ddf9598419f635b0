package sqlstore

import (
	"context"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// entryColumns are the columns of the journal after the school.
const entryColumns = "number, at, actor, type, object_id, event, detail"

// journalColumns are the columns that are written.
const journalColumns = entryColumns + ", scarce"

// entryColumnsOf returns entryColumns qualified with the name of their table.
func entryColumnsOf(table string) string {
	return table + "." + strings.ReplaceAll(entryColumns, ", ", ", "+table+".")
}

func scanEntry(e *lyceum.Entry) []any {
	return []any{
		scanInt(&e.Number), scanTime(&e.At), scanText(&e.Actor), scanText(&e.Type), scanInt(&e.ObjectID),
		scanOptText(&e.Event), scanOptText(&e.Detail),
	}
}

func (v *view) LastEntry() (last int64, err error) {
	_, err = v.q.one("SELECT value FROM counters WHERE school_id = $1 AND name = '"+journalCounter+"'",
		[]any{int64(v.school)}, scanInt(&last))
	return last, v.public(err)
}

func (s *Store) LastEntries(ctx context.Context, schools []lyceum.SchoolID) (lyceum.JournalEnds, error) {
	ends := lyceum.JournalEnds{Last: map[lyceum.SchoolID]lyceum.Entry{}}
	var school lyceum.SchoolID
	var number int64
	var last lyceum.Entry
	var run entryRun
	dest := append([]any{scanText(&ends.Origin), scanInt(&school), scanInt(&number)}, optional(scanEntry(&last))...)
	dest = append(dest, optional(scanRun(&run))...)
	q := s.reads.single(ctx)
	for rest := schools; len(rest) > 0; {
		n := chunkOf(len(rest))
		args := int32Args(rest[:n])
		rest = rest[n:]
		err := q.each("SELECT "+s.dialect.origin+", c.school_id, c.value, "+entryColumnsOf("l")+", "+runColumnsOf("r")+
			` FROM counters c LEFT JOIN journal l ON l.school_id = c.school_id AND l.number = c.value
			LEFT JOIN journal_runs r ON r.school_id = c.school_id AND r.last = c.value
			WHERE c.name = '`+journalCounter+"' AND c.value > 0 AND c.school_id IN "+placeholders(1, n),
			args, dest, func() (err error) {
				if last.Number == 0 {
					last, err = run.entry(number)
				}
				ends.Last[school] = last
				last, run = lyceum.Entry{}, entryRun{}
				return err
			})
		if err != nil {
			return lyceum.JournalEnds{}, s.public(err)
		}
	}
	return ends, nil
}

func (t *tx) Announce(kind lyceum.EntryType, id int32, event lyceum.EventName, detail string) {
	entry := lyceum.Entry{
		Type: kind, ObjectID: id, Event: lyceum.Some(event),
		Detail: lyceum.Opt[string]{Value: detail, Present: detail != ""},
	}
	for i := range t.entries {
		if t.plain == 0 {
			break
		}
		if e := &t.entries[i]; e.Type == kind && e.ObjectID == id && !e.Event.Present {
			*e = entry
			t.plain--
			return
		}
	}
	t.entries = append(t.entries, entry)
}
