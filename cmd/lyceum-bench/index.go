package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/demo"
	"golang.org/x/sync/errgroup"
)

const (
	// readers is how many connections read while sales are recorded.
	readers = 16
	// registers is how many connections record sales at the same time.
	registers = 8
	// salesASecond is how many sales they record per second.
	salesASecond = 1000
)

// measureIndex measures how long it takes until a server serves lists from the sales index, how
// much memory it uses then, and how long reads take while sales are recorded.
func measureIndex(ctx context.Context, s settings) error {
	fmt.Printf("## Index\n\nA server of a copy of each school is started without a snapshot of its index, stopped, and "+
		"started again. Its first page is requested once; \"first page\" is when it came and \"indexed\" when lists are "+
		"served from the index, both counted from the start of the process. Then %d connections read, alternately alone "+
		"and while %d connections record sales, %s a second in total if they can. Median of %d rounds of %v.\n\n",
		readers, registers, grouped(salesASecond), s.rounds, s.duration)
	for _, size := range s.sizes {
		if err := measureIndexOf(ctx, s, size); err != nil {
			return fmt.Errorf("%d sales: %w", size, err)
		}
	}
	return nil
}

func measureIndexOf(ctx context.Context, s settings, size int) error {
	from, err := s.school(ctx, size)
	if err != nil {
		return err
	}
	classes := s.book(size)
	dir := filepath.Join(s.work, "indexed")
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		return err
	}
	if err := os.RemoveAll(snapshotOf(dir)); err != nil {
		return err
	}
	fmt.Print("| sales | start | first page s | indexed s | resident MB |\n|---|---|---|---|---|\n")
	first, err := s.startIndexed(ctx, size, dir)
	if err != nil {
		return err
	}
	if err := first.stop(); err != nil {
		return err
	}
	again, err := s.startIndexed(ctx, size, dir)
	if err != nil {
		return err
	}
	defer func() { _ = again.stop() }()
	fmt.Print("\n| sales | class | concurrent load | requests/s | p50 ms | p99 ms | sales recorded/s |\n" +
		"|---|---|---|---|---|---|---|\n")
	till := newTill(s.seed, size)
	for _, name := range []string{"first page", "user"} {
		c := classes[slices.IndexFunc(classes, func(c class) bool { return c.name == name })]
		if err := readBeside(s, size, again, &c, till); err != nil {
			return err
		}
	}
	fmt.Printf("\nResident memory after %d more sales: %d MB.\n\n",
		till.sold.Load(), memory(again.command.Process.Pid)>>20)
	return nil
}

// snapshotOf returns where a data folder has the snapshots of its indexes.
func snapshotOf(dir string) string { return filepath.Join(dir, "index") }

// startIndexed starts a server and prints how long the start took.
func (s settings) startIndexed(ctx context.Context, size int, dir string) (*server, error) {
	how := "with a snapshot"
	if _, err := os.Stat(snapshotOf(dir)); errors.Is(err, fs.ErrNotExist) {
		how = "without a snapshot"
	}
	started, err := s.serve(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := started.firstPage(); err != nil {
		return nil, errors.Join(err, started.stop())
	}
	responded, took := time.Since(started.began), "no index"
	found, err := started.indexed(ctx)
	if err != nil {
		return nil, errors.Join(err, started.stop())
	}
	if found {
		took = fmt.Sprintf("%.2f", time.Since(started.began).Seconds())
	}
	fmt.Printf("| %s | %s | %.2f | %s | %d |\n",
		grouped(size), how, responded.Seconds(), took, memory(started.command.Process.Pid)>>20)
	return started, nil
}

// readBeside prints how long a class of reads takes by itself and while sales are recorded.
func readBeside(s settings, size int, served *server, c *class, till *till) error {
	var requests [][]byte
	for _, path := range c.paths() {
		requests = append(requests, request(path, served.key))
	}
	var alone, beside []rate
	var recorded []float64
	for range s.rounds {
		r, err := drive(served.address, requests, readers, s.duration)
		if err != nil {
			return err
		}
		alone = append(alone, r)
		stop, err := till.open(served)
		if err != nil {
			return err
		}
		r, err = drive(served.address, requests, readers, s.duration)
		perSecond, failed := stop()
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		beside, recorded = append(beside, r), append(recorded, perSecond)
	}
	row := func(what string, r rate, recorded string) {
		fmt.Printf("| %s | %s | %s | %.0f | %.2f | %.2f | %s |\n",
			grouped(size), c.name, what, r.perSecond, r.p50, r.p99, recorded)
	}
	row("nothing", medians(alone), "")
	row(grouped(salesASecond)+" sales a second", medians(beside), fmt.Sprintf("%.0f", median(recorded)))
	return nil
}

// till records sales for one user after another.
type till struct {
	users int
	plans []lyceum.PricingPlanID
	begun atomic.Int64 // sales that it started to record
	sold  atomic.Int64
}

func newTill(seed uint64, size int) *till {
	t := &till{users: size / 5}
	for _, p := range demo.New(seed, 0).PricingPlans {
		if p.CourseID.Present && p.Frequency == lyceum.OneTimePayment && p.Currency == "USD" {
			t.plans = append(t.plans, p.ID)
		}
	}
	return t
}

// open records sales on separate connections until it is stopped; stop returns how many per
// second.
func (t *till) open(served *server) (stop func() (perSecond float64, err error), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var cashiers errgroup.Group
	begin, begun, sold := time.Now(), t.begun.Load(), t.sold.Load()
	for range registers {
		c, err := dial(served.address)
		if err != nil {
			cancel()
			return nil, errors.Join(err, cashiers.Wait())
		}
		cashiers.Go(func() error {
			defer c.conn.Close()
			for {
				n := t.begun.Add(1) - 1
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(time.Until(begin.Add(time.Duration(n-begun) * time.Second / salesASecond))):
				}
				if err := t.sell(c, served.key, int(n)); err != nil {
					return err
				}
				t.sold.Add(1)
			}
		})
	}
	return func() (float64, error) {
		cancel()
		err := cashiers.Wait()
		return float64(t.sold.Load()-sold) / time.Since(begin).Seconds(), err
	}, nil
}

func (t *till) sell(c *client, key string, n int) error {
	user, plan := 1+n%t.users, t.plans[n/t.users%len(t.plans)]
	status, body, err := c.do(
		post("/lyceum/v1/sales", key, fmt.Sprintf(`{"user_id":%d,"pricing_plan_id":%d}`, user, plan)), true,
	)
	if err == nil && status != http.StatusCreated {
		err = errors.New("a sale is a " + strconv.Itoa(status) + ": " + string(body))
	}
	return err
}
