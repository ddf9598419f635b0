package sqlstore

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lyceum-school/lyceum"
)

// known is what earlier groups have learned about a SQLite file: counters, and the results of
// queries that were repeated. It is valid until another connection commits something: only one
// connection changes a file at a time, and that of the groups accounts for its own writes.
type known struct {
	of       *direct
	version  int64 // of the file, as SQLite counts it for one connection
	lookups  lookups
	counters map[lyceum.SchoolID]map[string]int64
	parents  map[parents]*roaring.Bitmap // rows that exist
}

const (
	maxKnown       = 128      // results
	maxKnownBytes  = 16 << 10 // of the values of one result
	maxKnownIdle   = 64       // groups in which nobody needs a result
	maxKnownBooks  = 4096     // schools whose counters are known
	maxKnownCounts = 256      // counters of one school
)

// handOver passes what is known to a group that has begun its transaction, and forgets it. It is
// known again once learn is called with the group.
func (k *known) handOver(g *group, d *direct) error {
	was := *k
	*k = known{of: d}
	err := d.step("PRAGMA data_version", nil, []any{scanInt(&k.version)}, func() error { return nil })
	if err == nil && was.lookups != nil && was.of == d && was.version == k.version {
		g.lookups, g.counters, g.parents = was.lookups, was.counters, was.parents
	}
	return err
}

// learn takes over what a committed group knows and what is still true.
func (k *known) learn(g *group) {
	k.lookups, k.counters, k.parents = lookups{}, g.counters, g.parents
	if len(k.parents) > maxParents {
		clear(k.parents)
	}
	for key, l := range g.lookups {
		if len(k.lookups) < maxKnown && l.worthy() && !key.of.ofBooks() && !key.of.words["delivery_changes"] &&
			!g.met(key.of, l.in, l.args, l.since) {
			l.since, l.number, l.in.through = 0, 0, nil // through refers to the whole group
			k.lookups[key] = l
		}
	}
	if len(k.counters) > maxKnownBooks {
		k.counters = map[lyceum.SchoolID]map[string]int64{}
	}
	for school, b := range g.schools {
		if delete(k.counters, school); len(b.kept) <= maxKnownCounts {
			k.counters[school] = b.kept
		}
	}
}

// worthy reports whether the next group should have a result.
func (l *lookup) worthy() bool {
	if l.idle++; l.again {
		l.idle, l.again, l.stays = 0, false, true
	}
	if !l.stays || !l.known || l.huge || l.idle > maxKnownIdle {
		return false
	}
	return bytesOf(l.rows) <= maxKnownBytes
}

// bytesOf returns how many bytes the strings and byte slices of rows have.
func bytesOf(rows [][]any) (bytes int) {
	for _, row := range rows {
		for _, value := range row {
			switch v := value.(type) {
			case string:
				bytes += len(v)
			case []byte:
				bytes += len(v)
			}
		}
	}
	return bytes
}
