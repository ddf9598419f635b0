package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// manySchools is how many schools sell at the same time, in comparison with a single one.
const manySchools = 8

// measureSelling measures sales by one school and by many, with few writers and with many, and
// what a second server adds.
func measureSelling(ctx context.Context, s settings) error {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // like the server
	fmt.Printf("## Sales\n\nWriters record sales, each of which enrolls; a bare commit is one row in a table of its own, "+
		"by as many writers. Rounds of %v; median of %d. Processor time is that of the program, and not of the "+
		"server of a database.\n\n", s.duration, s.rounds)
	fmt.Print("| engine | schools | writers | bare commits/s | sales/s | p99 ms | of bare | processor µs a sale |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	dir := filepath.Join(s.work, "selling")
	defer os.RemoveAll(dir)
	store, err := sqlstore.Open(ctx, dir, sqlstore.Options{})
	if err != nil {
		return err
	}
	err = measureSellers(ctx, s, store, func(int) (float64, error) { return bareCommits(ctx, s.work, s.duration) })
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	address := os.Getenv("LYCEUM_TEST_POSTGRES")
	if address == "" {
		fmt.Println()
		return nil
	}
	if store, err = sqlstore.OpenPostgres(ctx, address, sqlstore.Options{}); err != nil {
		return err
	}
	bare, err := openBare(ctx, address)
	if err != nil {
		return err
	}
	err = measureSellers(ctx, s, store, func(n int) (float64, error) { return bare.rate(ctx, n, s.duration) })
	bare.close()
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	fmt.Printf("\nTwo servers over one database, %d schools, %d writers at each.\n\n"+
		"Busy is the share of all processors' time that was used, by the servers, the database and everything else.\n\n"+
		"| round trip | a sale alone, p50 ms | one server, sales/s | busy | two, the same schools | busy | of one | "+
		"two, schools apart | busy | of one |\n"+
		"|---|---|---|---|---|---|---|---|---|---|\n", manySchools, writers)
	if err := measurePair(ctx, s, "as it is", address); err != nil {
		return err
	}
	for _, delay := range s.delays {
		if err := measureDistantPair(ctx, s, address, time.Duration(delay)*time.Millisecond); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// measureDistantPair is measurePair with a delay that is added to each round trip.
func measureDistantPair(ctx context.Context, s settings, address string, added time.Duration) error {
	distant, stop, err := distantPostgres(address, added)
	if err != nil {
		return err
	}
	defer stop()
	return measurePair(ctx, s, fmt.Sprintf("%v more", added), distant)
}

// measureSellers prints a row for each number of schools and writers.
func measureSellers(
	ctx context.Context, s settings, store *sqlstore.Store, bare func(writers int) (float64, error),
) error {
	markets, err := openMarkets(ctx, store, s.receipts)
	if err != nil {
		return err
	}
	if err := settle(ctx, markets); err != nil {
		return err
	}
	for _, schools := range []int{1, manySchools} {
		for _, writers := range s.connections {
			var commits, ofBare, took []float64
			var rates []rate
			for range s.rounds {
				base, err := bare(writers)
				if err != nil {
					return err
				}
				before := processorTime()
				sold, err := sellFor(ctx, s.duration, writers, markets[:schools])
				if err != nil {
					return err
				}
				commits, rates, ofBare = append(commits, base), append(rates, sold), append(ofBare, sold.perSecond/base)
				sales := sold.perSecond * s.duration.Seconds()
				took = append(took, float64((processorTime()-before).Microseconds())/sales)
			}
			sold := medians(rates)
			fmt.Printf("| %s | %d | %d | %.0f | %.0f | %.1f | %.2f | %.0f |\n",
				store.Engine(), schools, writers, median(commits), sold.perSecond, sold.p99, median(ofBare), median(took))
		}
	}
	return nil
}

// processorTime returns the processor time that the program has used so far.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// settle makes PostgreSQL analyze the tables of markets that have started to sell, which it
// would do by itself within a minute.
func settle(ctx context.Context, markets []*market) error {
	address := os.Getenv("LYCEUM_TEST_POSTGRES")
	if address == "" || markets[0].store.Engine() != "postgres" {
		return nil
	}
	if _, err := sellFor(ctx, time.Second, writers, markets); err != nil {
		return err
	}
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "ANALYZE")
	return err
}

func openMarkets(ctx context.Context, store *sqlstore.Store, receipts bool) ([]*market, error) {
	var all []*market
	for range manySchools {
		m, err := openMarket(ctx, store)
		if err == nil && receipts {
			err = m.issueReceipts(ctx)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// sellFor runs writers that record sales, each in one of the markets.
func sellFor(ctx context.Context, duration time.Duration, writers int, markets []*market) (rate, error) {
	took := make([][]time.Duration, writers)
	perSecond, err := writeFor(duration, writers, func(writer int) error {
		begin := time.Now()
		err := markets[writer%len(markets)].sell(ctx)
		took[writer] = append(took[writer], time.Since(begin))
		return err
	})
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	if err != nil || len(all) == 0 {
		return rate{}, fmt.Errorf("sell: %w", err)
	}
	return rate{
		perSecond: perSecond, p50: all[len(all)/2].Seconds() * 1e3, p99: all[len(all)*99/100].Seconds() * 1e3,
	}, nil
}

// measurePair compares one server with two: on the same schools, and each on half of them.
func measurePair(ctx context.Context, s settings, name, address string) error {
	var stores [2]*sqlstore.Store
	for i := range stores {
		store, err := sqlstore.OpenPostgres(ctx, address, sqlstore.Options{})
		if err != nil {
			return err
		}
		defer store.Close()
		stores[i] = store
	}
	first, err := openMarkets(ctx, stores[0], s.receipts)
	if err != nil {
		return err
	}
	if err := settle(ctx, first); err != nil {
		return err
	}
	var second []*market
	for _, m := range first {
		second = append(second, m.at(stores[1]))
	}
	both := func(first, second []*market) func() (float64, error) {
		return func() (float64, error) { return sellAtTwo(ctx, s, first, second) }
	}
	var took, ofSame, ofApart []float64
	var one, same, apart busyRates
	for range s.rounds {
		single, err := sellFor(ctx, s.duration, 1, first)
		if err != nil {
			return err
		}
		alone, err := one.add(func() (float64, error) {
			sold, err := sellFor(ctx, s.duration, writers, first)
			return sold.perSecond, err
		})
		if err != nil {
			return err
		}
		together, err := same.add(both(first, second))
		if err != nil {
			return err
		}
		split, err := apart.add(both(first[:manySchools/2], second[manySchools/2:]))
		if err != nil {
			return err
		}
		took, ofSame, ofApart = append(took, single.p50), append(ofSame, together/alone), append(ofApart, split/alone)
	}
	fmt.Printf("| %s | %.2f | %s | %s | %.2f | %s | %.2f |\n",
		name, median(took), &one, &same, median(ofSame), &apart, median(ofApart))
	return nil
}

// sellAtTwo returns the sales per second of two servers together.
func sellAtTwo(ctx context.Context, s settings, first, second []*market) (float64, error) {
	var rates [2]rate
	var failures [2]error
	var group sync.WaitGroup
	for i, markets := range [][]*market{first, second} {
		group.Go(func() { rates[i], failures[i] = sellFor(ctx, s.duration, writers, markets) })
	}
	group.Wait()
	return rates[0].perSecond + rates[1].perSecond, errors.Join(failures[:]...)
}

// at returns the market at another server. It starts with the sales that the first one would
// reach last.
func (m *market) at(store *sqlstore.Store) *market {
	other := newMarket(store, m.clock)
	other.school, other.receipts = m.school, m.receipts
	other.next.Store(marketSales / 2)
	return other
}

// distantPostgres serves a database at a separate address, and adds a delay to each round trip.
func distantPostgres(address string, added time.Duration) (distant string, stop func(), err error) {
	at, err := url.Parse(address)
	if err != nil {
		return "", nil, err
	}
	query := at.Query()
	network, target := "tcp", at.Host
	if folder := query.Get("host"); folder != "" {
		network, target = "unix", filepath.Join(folder, ".s.PGSQL.5432")
		query.Del("host")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	at.Host, at.RawQuery = listener.Addr().String(), query.Encode()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, target)
			if err != nil {
				client.Close()
				continue
			}
			go forward(server, client)
			go delay(client, server, added)
		}
	}()
	return at.String(), func() { listener.Close() }, nil
}

// forward forwards what it reads at once.
func forward(to, from net.Conn) {
	_, _ = io.Copy(to, from) // an error ends both connections
	to.Close()
	from.Close()
}

// delay forwards what it reads, each part after a delay.
func delay(to, from net.Conn, added time.Duration) {
	type part struct {
		at   time.Time
		text []byte
	}
	parts := make(chan part, 1024)
	go func() {
		defer close(parts)
		text := make([]byte, 64<<10)
		for {
			n, err := from.Read(text)
			if err != nil {
				return
			}
			parts <- part{time.Now().Add(added), bytes.Clone(text[:n])}
		}
	}()
	for p := range parts {
		time.Sleep(time.Until(p.at))
		if _, err := to.Write(p.text); err != nil {
			from.Close()
		}
	}
	to.Close()
}
