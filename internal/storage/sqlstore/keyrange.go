package sqlstore

import (
	"cmp"
	"slices"

	"github.com/lyceum-school/lyceum"
)

const (
	// rangeGap is how much neighbouring keys in a range differ at most, so that at most this
	// many times as many rows are read as are wanted.
	rangeGap = 2
	// rangeLength is how many keys a range has at least.
	rangeLength = readChunk
)

// findKeys visits the rows of a school that have one of the keys. dest does not include the
// key. Keys that are close together, as in most batches of an import, are found in one walk
// instead of one by one.
func findKeys(
	q *session, in scope, columns string, school lyceum.SchoolID, keys, dest []any, visit func(),
) error {
	table, key := in.tables[0], in.equals[0].column
	ranges, rest := rangesOf(keys)
	for _, wanted := range ranges {
		var id int64
		err := q.eachIn(in.partly(), "SELECT "+key+", "+columns+" FROM "+table+" WHERE school_id = $1 AND "+key+" >= $2 AND "+
			key+" <= $3 ORDER BY "+key, []any{int64(school), wanted[0], wanted[len(wanted)-1]},
			append([]any{scanInt(&id)}, dest...), func() error {
				for wanted[0].(int64) < id {
					wanted = wanted[1:] // the last one is the highest id that is read
				}
				if wanted[0] == any(id) {
					visit()
				}
				return nil
			})
		if err != nil {
			return err
		}
	}
	return inGroups(q, in, "SELECT "+columns+" FROM "+table+" WHERE school_id = $1 AND "+key+" IN ", school,
		rest, dest, visit)
}

// rangesOf splits keys into ranges, each in ascending order, and the rest: keys that are
// isolated or not numbers.
func rangesOf(keys []any) (ranges [][]any, rest []any) {
	if len(keys) < rangeLength || slices.ContainsFunc(keys, func(key any) bool { _, is := key.(int64); return !is }) {
		return nil, keys
	}
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, func(a, b any) int { return cmp.Compare(a.(int64), b.(int64)) })
	for begin, i := 0, 1; i <= len(sorted); i++ {
		if i < len(sorted) && sorted[i].(int64)-sorted[i-1].(int64) <= rangeGap {
			continue
		}
		if part := sorted[begin:i]; len(part) >= rangeLength {
			ranges = append(ranges, part)
		} else {
			rest = append(rest, part...)
		}
		begin = i
	}
	return ranges, rest
}
