package apilyceum

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

func (f *Face) changes() []wire.Operation {
	return []wire.Operation{
		waiting(heavy(appended(
			"listChanges", wire.Get, "/lyceum/v1/changes", bindChanges, wire.Rendered(f.Feed.Changes, changesBody),
		))),
	}
}

// The limits of a part of the feed.
const (
	usualChanges = 1000
	mostChanges  = 10_000
	longestWait  = 30 // seconds
)

// bindPart reads which part of a feed is requested.
func bindPart(in *wire.Input, usual, most int32) events.ChangesQuery {
	after := wire.Int[int64](in.Query("after"), 0, math.MaxInt64)
	limit := wire.Int(in.Query("limit"), 1, most)
	wait := wire.Int[int32](in.Query("wait"), 0, longestWait)
	return events.ChangesQuery{
		Filter: lyceum.ChangeFilter{After: after.Value, Limit: int(limit.Else(usual))},
		Wait:   time.Duration(wait.Value) * time.Second,
	}
}

func bindChanges(in *wire.Input) events.ChangesQuery {
	q := bindPart(in, usualChanges, mostChanges)
	if words := in.Query("types").Text(1, wire.Unbounded); words.Present {
		q.Filter.Types = typesOf(in, words.Value)
	}
	return q
}

// typesOf reads a list of types; a bare noun means all of its types.
func typesOf(in *wire.Input, words string) []lyceum.EntryType {
	var found []lyceum.EntryType
	for word := range strings.SplitSeq(words, ",") {
		known := false
		for _, t := range lyceum.EntryTypes() {
			if string(t) == word || strings.HasPrefix(string(t), word+".") {
				known = true
				found = append(found, t)
			}
		}
		if !known {
			in.Refuse("types", "must be types of changes separated by commas, such as sale or transaction.created")
			return nil
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func changesBody(l lyceum.ChangeListing) changeList { return changeList(l) }

// changeList is a gen.ChangeList that is encoded by hand.
type changeList lyceum.ChangeListing

func (l changeList) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"changes":[`...)
	for i := range l.Changes {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendChange(b, &l.Changes[i]); err != nil {
			return b, err
		}
	}
	b = strconv.AppendInt(append(b, `],"next":`...), l.Next, 10)
	b = strconv.AppendBool(append(b, `,"more":`...), l.More)
	b = strconv.AppendInt(append(b, `,"last":`...), l.Last, 10)
	return append(b, '}'), nil
}

func appendChange(b []byte, c *lyceum.ChangeRecord) ([]byte, error) {
	b = strconv.AppendInt(append(b, `{"number":`...), c.Number, 10)
	b = append(lyceum.AppendTime(append(b, `,"at":"`...), c.At), `","type":"`...)
	b = append(append(b, c.Type...), `","id":`...)
	b = strconv.AppendInt(b, int64(c.ObjectID), 10)
	b = wire.AppendString(append(b, `,"actor":`...), c.Actor)
	if c.Event.Present {
		b = append(append(append(b, `,"event":"`...), c.Event.Value...), `","object":`...)
	} else {
		b = append(b, `,"event":null,"object":`...)
	}
	b, err := appendObject(b, c.Object)
	return append(b, '}'), err
}

// appendObject appends the object of a change; frequent kinds are rendered without
// reflection.
func appendObject(b []byte, object any) ([]byte, error) {
	switch o := object.(type) {
	case lyceum.Transaction:
		return wire.AppendTransaction(b, &o), nil
	case lyceum.Sale:
		return appendSale(b, &o), nil
	case lyceum.Enrollment:
		return appendEnrollment(b, &o), nil
	case lyceum.Progress:
		return appendProgress(b, &o), nil
	case lyceum.LectureProgress:
		return appendLectureProgress(b, &o), nil
	case lyceum.TaggedUser:
		return appendUser(b, &o), nil
	}
	switch o := shown(object).(type) {
	case plain:
		return o.append(b), nil
	default:
		return wire.JSON{Value: o}.AppendJSON(b)
	}
}
