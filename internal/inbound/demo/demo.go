// Package demo generates a realistic school: its catalogue, its people and its sales of
// three and a half years, from 2023-01-02 to 2026-06-30, some days later, or up to a clock.
//
// It owns what the generated school looks like. Everything is a function of a seed, the
// number of transactions and those days or that clock: the package has no other clock or
// source of randomness. It must not know how a store keeps the rows, and it neither formats nor
// hashes the credentials it generates. Anyone who knows the seed knows them, so they
// protect nothing.
package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// ID is the id of every generated school.
const ID lyceum.SchoolID = 1

// School is a generated school: rows ready to be saved, in an order in which every
// reference points backwards. The transactions come from Batches, which does not read the
// fields, so that a caller may change or drop them.
type School struct {
	School       lyceum.School
	End          lyceum.Opt[time.Time] // for a school from Ending
	Users        []lyceum.User         // by id, from 1 without gaps, ordered by CreatedAt
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

// New generates the school of a seed with the given number of transactions, from 0 to
// lyceum.MaxID. With a different number, the same seed generates the same school,
// catalogue, partners and secrets. Users that both schools have differ only in CreatedAt
// and LastSignInAt, because users are spread over the whole time.
func New(value uint64, transactions int) *School { return newSchool(usual, value, transactions) }

// Later generates the same school with all times later by a number of days, which may be negative.
// Ids, amounts and secrets are those of New.
func Later(days int, value uint64, transactions int) *School {
	cal := usual
	cal.days = days
	return newSchool(cal, value, transactions)
}

// DaysUntil returns by how many days a school must be later to end on the day before the given
// one, in UTC.
func DaysUntil(today time.Time) int { return daysBetween(usual.time(closing), today) }

// DaysOf returns by how many days a school is later that was created at the given time.
func DaysOf(created time.Time) int { return daysBetween(usual.time(founded), created) }

func daysBetween(from, to time.Time) int {
	const day = 24 * time.Hour
	return int(to.Truncate(day).Sub(from.Truncate(day)) / day)
}

// Closing returns the first second after the school's data end.
func (s *School) Closing() time.Time { return s.calendar.time(closing) }

// Ending generates the same school at another time: it ends just before the given moment,
// and its subscriptions continue from there.
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

// seed is the source of all randomness.
type seed uint64

// stream returns the random numbers of one part of the school. Parts don't share a stream,
// so that a longer part leaves the others unchanged.
func (s seed) stream(part string) *rand.Rand {
	text := binary.LittleEndian.AppendUint64([]byte("lyceum demo school\x00"), uint64(s))
	return rand.New(rand.NewChaCha8(sha256.Sum256(append(text, part...))))
}
