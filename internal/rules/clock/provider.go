package clock

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// day is how long one lasts for payment systems.
const day = 24 * time.Hour

// tries are how long after it was due a payment is tried, for the first time and
// again while the card fails.
var tries = []time.Duration{0, 3 * day, 5 * day, 7 * day}

// Provider makes up the payments of a sandbox: it charges every subscription and
// payment plan that runs, when the payment is due. Some cards fail.
type Provider struct {
	Store lyceum.Store
	Seed  uint64
	// Renew records a payment, and Fail one that failed and when it is tried again,
	// if it is.
	Renew func(ctx context.Context, by lyceum.By, sale *lyceum.Sale, reference string) error
	Fail  func(ctx context.Context, by lyceum.By, f Failure) error
}

// Failure is a payment that failed.
type Failure struct {
	Sale      lyceum.SaleID
	Reference string
	Again     lyceum.Opt[time.Time]
}

// provider is the name of the provider in the journal.
const provider = "provider"

// charged counts what the provider did.
type charged struct{ paid, failed int }

// charge tries the payments that are to be tried at a moment, by sale.
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
	for i := range unpaid {
		sale := &unpaid[i]
		try := slices.Index(tries, now.Sub(sale.PaidUntil.Value))
		reference := fmt.Sprintf("sandbox_%d_%s", sale.ID, sale.PaidUntil.Value.UTC().Format("20060102150405"))
		if p.fails(sale, try) {
			f := Failure{Sale: sale.ID, Reference: fmt.Sprintf("%s_%d", reference, try+1)}
			if try+1 < len(tries) {
				f.Again = lyceum.Some(sale.PaidUntil.Value.Add(tries[try+1]))
			}
			if err := p.Fail(ctx, by, f); err != nil {
				return c, fmt.Errorf("record the failed payment of sale %d: %w", sale.ID, err)
			}
			c.failed++
			continue
		}
		if err := p.Renew(ctx, by, sale, reference); err != nil {
			return c, fmt.Errorf("renew sale %d: %w", sale.ID, err)
		}
		c.paid++
	}
	return c, nil
}

// failing is how many of a hundred payments fail at first.
const failing = 5

// fails reports whether a try to pay what is due of a sale fails: a function of
// the seed, the sale, what is due and the try. Of the cards that fail at first, a
// quarter each can be charged at the second, third and fourth try, and never
// again.
func (p *Provider) fails(sale *lyceum.Sale, try int) bool {
	text := []byte("lyceum sandbox provider\x00")
	for _, n := range []uint64{p.Seed, uint64(sale.ID), uint64(sale.PaidUntil.Value.Unix())} {
		text = binary.LittleEndian.AppendUint64(text, n)
	}
	sum := sha256.Sum256(text)
	chance := binary.LittleEndian.Uint64(sum[:8])
	return chance%100 < failing && try <= int(chance/100%uint64(len(tries)))
}
