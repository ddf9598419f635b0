// Package demo makes up a school that looks real: its catalogue, its people
// and its sales from 2023-01-02 to 2026-06-30.
//
// It owns what the made-up school looks like. Everything is a function of a
// seed and the number of transactions: the package has no clock and no other
// source of chance. It must not know how a store keeps the rows, and it neither
// formats nor hashes the credentials it makes up. They are known to whoever
// knows the seed, so that they protect nothing.
package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// School is a made-up school: rows ready to be kept, in an order in which
// every reference points backwards. The transactions come from Batches, which
// does not look at the fields, so that a caller may change or drop them.
type School struct {
	School       lyceum.School
	Users        []lyceum.User // by id, from 1 without gaps, in order of CreatedAt
	Courses      []lyceum.Course
	PricingPlans []lyceum.PricingPlan
	Coupons      []lyceum.Coupon
	Affiliates   []lyceum.AffiliatePartner
	Authors      []lyceum.AuthorProfile
	Secrets      Secrets

	seed         seed
	transactions int
	users        int
	demand       *demand
	cultures     []culture
	shop         *shop
}

// New makes up the school of a seed, with the given number of transactions
// from 0 to lyceum.MaxID. With another number of transactions the same seed
// gives the same school, catalogue, partners and secrets. Every user that both
// have is the same too but for CreatedAt and LastSignInAt, because the users of
// a school spread over all its time.
func New(value uint64, transactions int) *School {
	s := &School{
		School: lyceum.School{
			ID: 1, Name: "Fernwood School of Craft", CreatedAt: founded.time(), Policy: lyceum.DefaultSalePolicy(),
			TimeZone: lyceum.UTC,
		},
		Coupons:      couponRows(),
		seed:         seed(value),
		transactions: max(0, transactions),
		demand:       newDemand(),
		cultures:     cultures(),
		shop:         newShop(),
	}
	s.Secrets = s.seed.secrets()
	s.users = max(minUsers, s.transactions/5)
	s.Users = s.people()
	s.Courses = courseRows()
	s.PricingPlans = slices.Concat(s.shop.plans, otherPlans(lyceum.PricingPlanID(len(s.shop.plans))))
	s.Affiliates = affiliates(s.Users)
	s.Authors = authors(s.Users)
	return s
}

// seed is where all chance comes from.
type seed uint64

// stream gives a source of chance for one part of the school. Parts do not
// share a stream, so that a longer part leaves the others as they are.
func (s seed) stream(part string) *rand.Rand {
	text := binary.LittleEndian.AppendUint64([]byte("lyceum demo school\x00"), uint64(s))
	return rand.New(rand.NewChaCha8(sha256.Sum256(append(text, part...))))
}
