package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// indexSettings are the settings of the sales indexes and of the indexes of other lists.
type indexSettings struct {
	IndexMemory byteSize `help:"Memory limit for the indexes of sales and of other lists, such as 512MB or 4GB; 0 disables them. Default: a quarter of the machine's memory." placeholder:"SIZE"`
	IndexFolder string   `help:"Folder to save the indexes in for the next start. Default: index in the data folder; none with PostgreSQL." placeholder:"DIR"`
}

// byteSize is a number of bytes, and whether it was given.
type byteSize struct {
	bytes int64
	given bool
}

// sizes are the units of a byteSize.
var sizes = []struct {
	unit  string
	bytes int64
}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}, {"", 1}}

// UnmarshalText parses a size such as 512MB; KB, MB, GB and TB are powers of 1,024, and a
// number without a unit is in bytes.
func (b *byteSize) UnmarshalText(text []byte) error {
	for _, size := range sizes {
		number, is := strings.CutSuffix(strings.ToUpper(string(text)), size.unit)
		if !is {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/size.bytes {
			break
		}
		*b = byteSize{n * size.bytes, true}
		return nil
	}
	return fmt.Errorf("a size must be a whole number, optionally followed by KB, MB, GB or TB, such as 512MB")
}

// String returns the size as it would be typed, or "" if it was not given.
func (b byteSize) String() string {
	if !b.given {
		return ""
	}
	for i := len(sizes) - 2; i >= 0; i-- {
		if size := sizes[i]; b.bytes > 0 && b.bytes%size.bytes == 0 {
			return strconv.FormatInt(b.bytes/size.bytes, 10) + size.unit
		}
	}
	return strconv.FormatInt(b.bytes, 10)
}

// memory returns how many bytes the indexes may use.
func (s *indexSettings) memory() int64 {
	if s.IndexMemory.given {
		return s.IndexMemory.bytes
	}
	all, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil || all > math.MaxInt64 {
		return 1 << 30
	}
	if system, err := memlimit.FromSystem(); err == nil {
		all = min(all, system)
	}
	return int64(all / 4)
}

// snapshots returns the folder of the snapshots, or "" if there is none.
func (s *indexSettings) snapshots(data string) string {
	if s.IndexFolder != "" || data == "" {
		return s.IndexFolder
	}
	return filepath.Join(data, "index")
}

// listShare is the divisor of the indexes' memory that gives the part for lists other than that
// of sales.
const listShare = 8

// indexed wraps a store so that lists of sales are served from memory, and makes it find pages
// of other lists with indexes in memory.
func indexed(p *program, store *sqlstore.Store, memory int64, folder string, room *heapRoom) *salesindex.Store {
	room.forIndexes(0)
	lists := memory / listShare
	store.IndexLists(lists)
	if err := store.KeepFilterIndexes(p.ctx, memory == 0); err != nil {
		p.log.Warn("the filter indexes could not be made or dropped; the next start tries again", "err", err)
	}
	return salesindex.Over(store, salesindex.Options{
		Memory: memory - lists, Folder: folder, Log: p.log, Resized: room.forIndexes,
	})
}

// measureIndex adds metrics about the sales indexes.
func measureIndex(m *server.Metrics, store *salesindex.Store) {
	type stats = salesindex.Stats
	server.Measure(m, store.Stats, []server.Figure[stats]{
		{
			Name: "lyceum_sales_index_schools", Help: "Schools whose sales list is answered from memory.",
			Value: func(s stats) int64 { return s.Schools },
		},
		{
			Name: "lyceum_sales_index_building", Help: "Sales indexes being built or waiting to be built.",
			Value: func(s stats) int64 { return s.Building },
		},
		{
			Name: "lyceum_sales_index_sales", Help: "Sales in the indexes.",
			Value: func(s stats) int64 { return s.Sales },
		},
		{
			Name: "lyceum_sales_index_bytes", Help: "Memory of the indexes.",
			Value: func(s stats) int64 { return s.Bytes },
		},
		{
			Name:  "lyceum_sales_index_lag_entries",
			Help:  "Journal entries not yet indexed, of the school with the most.",
			Value: func(s stats) int64 { return s.Behind },
		},
		{
			Name: "lyceum_sales_index_hits_total", Help: "Sales lists answered by an index.", Rises: true,
			Value: func(s stats) int64 { return s.Hits },
		},
		{
			Name: "lyceum_sales_index_misses_total", Help: "Sales lists answered by the database.", Rises: true,
			Value: func(s stats) int64 { return s.Misses },
		},
		{
			Name: "lyceum_sales_index_failures_total", Help: "Sales indexes that could not be built.", Rises: true,
			Value: func(s stats) int64 { return s.Failures },
		},
	})
}

// measureLists adds metrics about the indexes of other lists.
func measureLists(m *server.Metrics, store *sqlstore.Store) {
	type stats = sqlstore.ListStats
	server.Measure(m, store.ListStats, []server.Figure[stats]{
		{
			Name: "lyceum_list_index_lists", Help: "Lists that have an index, besides those of sales.",
			Value: func(s stats) int64 { return s.Lists },
		},
		{
			Name: "lyceum_list_index_building", Help: "List indexes being built.",
			Value: func(s stats) int64 { return s.Building },
		},
		{
			Name: "lyceum_list_index_rows", Help: "Rows in the list indexes.",
			Value: func(s stats) int64 { return s.Rows },
		},
		{
			Name: "lyceum_list_index_bytes", Help: "Memory of the list indexes.",
			Value: func(s stats) int64 { return s.Bytes },
		},
		{
			Name: "lyceum_list_index_hits_total", Help: "Pages found by a list index.", Rises: true,
			Value: func(s stats) int64 { return s.Hits },
		},
		{
			Name: "lyceum_list_index_misses_total", Help: "Pages of long lists for which rows were counted.", Rises: true,
			Value: func(s stats) int64 { return s.Misses },
		},
	})
}
