package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// measureImport exports the largest school and imports it into an empty one.
func measureImport(ctx context.Context, s settings) error {
	size := s.sizes[len(s.sizes)-1]
	from, err := s.school(ctx, size)
	if err != nil {
		return err
	}
	to := filepath.Join(s.work, "to")
	defer os.RemoveAll(to)
	fmt.Print("## Import and export\n\n| what | rows/s | seconds | peak memory MB |\n|---|---|---|---|\n")
	if _, err := command(
		ctx, s, "school", "create", "--data", to, "--name", "Copy", "--owner-email", "bench@example.com",
	); err != nil {
		return err
	}
	for _, kind := range []string{
		"users", "authors", "courses", "digital-downloads", "coaching", "product-collections", "memberships",
		"membership-tiers", "pricing-plans", "transactions",
	} {
		file := filepath.Join(s.work, kind+".csv")
		if kind == "users" {
			// The owner of the new school has the same id as that of the old one.
			if _, err := command(ctx, s, "export", kind, "--data", from, "--output", file); err != nil {
				return err
			}
		} else if err := report(ctx, s, kind, size, "export", kind, "--data", from, "--output", file); err != nil {
			return err
		}
		if err := report(ctx, s, kind, size, "import", kind, file, "--data", to); err != nil {
			return err
		}
	}
	if err := report(
		ctx, s, "transactions", size, "import", "transactions", filepath.Join(s.work, "transactions.csv"), "--data", to,
	); err != nil {
		return err
	}
	fmt.Println("\nThe last row is the same file a second time: nothing changes.")
	fmt.Println()
	return nil
}

func report(ctx context.Context, s settings, kind string, size int, args ...string) error {
	done, err := command(ctx, s, args...)
	if err != nil || kind != "transactions" {
		return err
	}
	fmt.Printf("| %s transactions | %.0f | %.1f | %d |\n",
		args[0], float64(size)/done.took.Seconds(), done.took.Seconds(), done.peak>>20)
	return nil
}

type finished struct {
	took time.Duration
	peak int64
}

func command(ctx context.Context, s settings, args ...string) (finished, error) {
	c := exec.CommandContext(ctx, s.binary, args...)
	c.Stderr = os.Stderr
	begin := time.Now()
	if err := c.Run(); err != nil {
		return finished{}, fmt.Errorf("lyceum %v: %w", args, err)
	}
	return finished{took: time.Since(begin), peak: peak(c.ProcessState)}, nil
}

// writers is the number of concurrent writers.
const writers = 16

// measureWrites compares writes that share commits with writes that have one each, using the
// same code on the same database: a lock around the call leaves every group with one change.
func measureWrites(ctx context.Context, s settings) error {
	fmt.Printf("## Durable writes\n\n%d writers, each waiting until its transaction is on disk.\n\n"+
		"| engine | writes/s | one commit each | ratio |\n|---|---|---|---|\n", writers)
	dir := filepath.Join(s.work, "writes")
	defer os.RemoveAll(dir)
	store, err := sqlstore.Open(ctx, dir, sqlstore.Options{})
	if err != nil {
		return err
	}
	if err := compareWrites(ctx, s, store); err != nil {
		return err
	}
	if address := os.Getenv("LYCEUM_TEST_POSTGRES"); address != "" {
		store, err := sqlstore.OpenPostgres(ctx, address, sqlstore.Options{})
		if err != nil {
			return err
		}
		if err := compareWrites(ctx, s, store); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

func compareWrites(ctx context.Context, s settings, store *sqlstore.Store) error {
	defer store.Close()
	now := time.Now()
	school, err := store.CreateSchool(ctx, lyceum.School{Name: "Writes", CreatedAt: now}, "bench")
	if err != nil {
		return err
	}
	stamp := lyceum.Stamp{School: school.ID, At: now, Actor: "bench"}
	err = store.Write(ctx, stamp, func(tx lyceum.Tx) error {
		if _, err := tx.Users.Save(tx, lyceum.User{
			ID: 1, Email: "bench@example.com", Role: lyceum.Student, CreatedAt: now,
		}); err != nil {
			return err
		}
		_, err := tx.PricingPlans.Save(tx, lyceum.PricingPlan{
			ID: 1, Name: "Plan", Price: 1000, Currency: "USD", Frequency: lyceum.OneTimePayment, CreatedAt: now,
			UpdatedAt: now,
		})
		return err
	})
	if err != nil {
		return err
	}
	sale := func(int) error {
		return store.Write(ctx, stamp, func(tx lyceum.Tx) error {
			id, err := tx.Transactions.NextID(tx)
			if err != nil {
				return err
			}
			if _, err := tx.Sales.Save(tx, lyceum.Sale{ID: lyceum.SaleID(id), CreatedAt: now}); err != nil {
				return err
			}
			_, err = tx.Transactions.Save(tx, lyceum.Transaction{
				ID: id, UserID: 1, PricingPlanID: 1, SaleID: lyceum.SaleID(id),
				CreatedAt: lyceum.Second(now), PurchasedAt: lyceum.Second(now),
				Charge: 1000, FinalPrice: 1000, Currency: "USD", Revenue: 1000, Paid: true,
			})
			return err
		})
	}
	var one sync.Mutex
	alone := func(int) error {
		one.Lock()
		defer one.Unlock()
		return sale(0)
	}
	var shared, single, ratio []float64
	for range s.rounds {
		a, err := writeFor(s.duration, writers, alone)
		if err != nil {
			return err
		}
		b, err := writeFor(s.duration, writers, sale)
		if err != nil {
			return err
		}
		single, shared, ratio = append(single, a), append(shared, b), append(ratio, b/a)
	}
	fmt.Printf("| %s | %.0f | %.0f | %.2f |\n", store.Engine(), median(shared), median(single), median(ratio))
	return nil
}

// writeFor returns the writes per second of all writers together.
func writeFor(duration time.Duration, writers int, write func(writer int) error) (float64, error) {
	var mu sync.Mutex
	var failed error
	count := 0
	var group sync.WaitGroup
	begin := time.Now()
	for writer := range writers {
		group.Go(func() {
			n := 0
			var err error
			for err == nil && time.Since(begin) < duration {
				if err = write(writer); err == nil {
					n++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			count += n
			if err != nil {
				failed = err
			}
		})
	}
	group.Wait()
	return float64(count) / time.Since(begin).Seconds(), failed
}
