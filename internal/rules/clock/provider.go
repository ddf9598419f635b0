package clock

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// day is the length of a day for payment systems.
const day = 24 * time.Hour

// tries are the times of the attempts to charge a payment, relative to when it is due: the
// first one, and the retries while the card fails.
var tries = []time.Duration{0, 3 * day, 5 * day, 7 * day}

// Provider simulates the payments of a sandbox: it charges every active subscription and
// payment plan when a payment is due. Some cards fail.
type Provider struct {
	Store lyceum.Store
	Seed  uint64
	// Renew records a payment, and returns false if it was recorded before, such as one that was
	// refunded since. Fail records a failed payment, and when it will be retried, if it will.
	Renew func(ctx context.Context, by lyceum.By, sale *lyceum.Sale, reference string) (recorded bool, err error)
	Fail  func(ctx context.Context, by lyceum.By, f Failure) error
}

// Failure is a failed payment.
type Failure struct {
	Sale      lyceum.SaleID
	Reference string
	Again     lyceum.Opt[time.Time]
}

// provider is the actor of the provider in the journal.
const provider = "provider"

// charged counts the results of the provider.
type charged struct{ paid, failed int }

// charge attempts the payments that are due to be attempted at now, by sale. One that cannot be
// recorded does not keep the others from being attempted.
func (p *Provider) charge(ctx context.Context, school lyceum.SchoolID, now time.Time) (c charged, err error) {
	due := make([]time.Time, len(tries))
	for i, pause := range tries {
		due[i] = now.Add(-pause)
	}
	v := p.Store.In(ctx, school)
	unpaid, err := lyceum.All(v.Sales, v, lyceum.SaleFilter{UnpaidSince: due})
	if err != nil {
		return c, err
	}
	by := lyceum.By{School: school, Actor: provider, Permissions: lyceum.Read | lyceum.Write}
	var failed []error
	for i := range unpaid {
		if ctx.Err() != nil {
			break
		}
		sale := &unpaid[i]
		try := slices.Index(tries, now.Sub(sale.PaidUntil.Value))
		reference := fmt.Sprintf("sandbox_%d_%s", sale.ID, sale.PaidUntil.Value.UTC().Format("20060102150405"))
		if p.fails(sale, try) {
			f := Failure{Sale: sale.ID, Reference: fmt.Sprintf("%s_%d", reference, try+1)}
			if try+1 < len(tries) {
				f.Again = lyceum.Some(sale.PaidUntil.Value.Add(tries[try+1]))
			}
			if err := p.Fail(ctx, by, f); err != nil {
				failed = append(failed, fmt.Errorf("record the failed payment of sale %d: %w", sale.ID, err))
				continue
			}
			c.failed++
			continue
		}
		recorded, err := p.Renew(ctx, by, sale, reference)
		if err != nil {
			failed = append(failed, fmt.Errorf("renew sale %d: %w", sale.ID, err))
		} else if recorded {
			c.paid++
		}
	}
	return c, errors.Join(failed...)
}

// failing is how many of a hundred payments fail at the first attempt.
const failing = 5

// fails reports whether an attempt to charge the due payment of a sale fails. The result
// depends only on the seed, the sale, the due time and the attempt. Of the payments that fail
// at first, a quarter each succeed at the second, third and fourth attempt, and a quarter never
// do.
func (p *Provider) fails(sale *lyceum.Sale, try int) bool {
	text := []byte("lyceum sandbox provider\x00")
	for _, n := range []uint64{p.Seed, uint64(sale.ID), uint64(sale.PaidUntil.Value.Unix())} {
		text = binary.LittleEndian.AppendUint64(text, n)
	}
	sum := sha256.Sum256(text)
	chance := binary.LittleEndian.Uint64(sum[:8])
	return chance%100 < failing && try <= int(chance/100%uint64(len(tries)))
}
