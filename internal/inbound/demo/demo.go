// Package demo makes up a school that looks real: its catalogue, its people
// and its sales of three and a half years, from 2023-01-02 to 2026-06-30 or until
// a clock.
//
// It owns what the made-up school looks like. Everything is a function of a
// seed, the number of transactions and that clock: the package has no other clock or
// source of chance. It must not know how a store keeps the rows, and it neither
// formats nor hashes the credentials it makes up. They are known to whoever
// knows the seed, so that they protect nothing.
package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// ID is the id of every made-up school.
const ID lyceum.SchoolID = 1

// School is a made-up school: rows ready to be kept, in an order in which
// every reference points backwards. The transactions come from Batches, which
// does not look at the fields, so that a caller may change or drop them.
type School struct {
	School       lyceum.School
	End          lyceum.Opt[time.Time] // when Ending lets it end
	Users        []lyceum.User         // by id, from 1 without gaps, in order of CreatedAt
	Courses      []lyceum.Course
	PricingPlans []lyceum.PricingPlan
	Coupons      []lyceum.Coupon
	Affiliates   []lyceum.AffiliatePartner
	Authors      []lyceum.AuthorProfile
	Secrets      Secrets

	calendar     calendar
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
func New(value uint64, transactions int) *School { return newSchool(usual, value, transactions) }

// Ending makes up the same school at another time: it ends right before a clock
// shows a moment, and its subscriptions go on from there.
func Ending(at time.Time, value uint64, transactions int) *School {
	s := newSchool(ending(at), value, transactions)
	s.End = lyceum.Some(at)
	return s
}

func newSchool(cal calendar, value uint64, transactions int) *School {
	s := &School{
		School: lyceum.School{
			ID: ID, Name: "Fernwood School of Craft", CreatedAt: cal.time(founded), Policy: lyceum.DefaultSalePolicy(),
			TimeZone: lyceum.UTC,
		},
		Coupons:      cal.couponRows(),
		calendar:     cal,
		seed:         seed(value),
		transactions: max(0, transactions),
		demand:       newDemand(cal),
		cultures:     cultures(),
		shop:         newShop(cal),
	}
	s.Secrets = s.seed.secrets()
	s.users = max(minUsers, s.transactions/5)
	s.Users = s.people()
	s.Courses = cal.courseRows()
	s.PricingPlans = slices.Concat(s.shop.plans, cal.otherPlans(lyceum.PricingPlanID(len(s.shop.plans))))
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
