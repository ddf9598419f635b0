package demo

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// coupon lowers prices within a period. Without an end it always applies.
type coupon struct {
	code        string
	percent     lyceum.Minor
	from, until moment
}

// coupons are ordered by id. The first one always applies, so that there is always one to
// use.
var coupons = [...]coupon{
	{code: "WELCOME10", percent: 10},
	{code: "STUDENT25", percent: 25},
	{code: "KILNANDTHREAD15", percent: 15},
	{"OPENING30", 30, on(2023, time.January, 1), on(2023, time.February, 1)},
	{"SPRING23", 20, on(2023, time.April, 1), on(2023, time.April, 16)},
	{"CRAFTWEEK23", 30, on(2023, time.November, 18), on(2023, time.December, 1)},
	{"SPRING24", 20, on(2024, time.April, 1), on(2024, time.April, 16)},
	{"CRAFTWEEK24", 30, on(2024, time.November, 18), on(2024, time.December, 1)},
	{"SPRING25", 20, on(2025, time.April, 1), on(2025, time.April, 16)},
	{"CRAFTWEEK25", 35, on(2025, time.November, 18), on(2025, time.December, 1)},
	{"SPRING26", 20, on(2026, time.April, 1), on(2026, time.April, 16)},
}

func (cal calendar) couponRows() []lyceum.Coupon {
	rows := make([]lyceum.Coupon, len(coupons))
	for i, c := range coupons {
		code := cal.named(c)
		rows[i] = lyceum.Coupon{
			ID: lyceum.CouponID(i + 1), Code: lyceum.Some(code), Name: lyceum.Some(code),
			Percent: lyceum.Some(float64(c.percent) / 100), Duration: lyceum.Some(lyceum.ForForever),
			Scope: lyceum.Some(lyceum.AllProducts), Priority: lyceum.Some(lyceum.ShowTime),
			CreatedAt: lyceum.Some(cal.time(c.from - 7*day)), UpdatedAt: lyceum.Some(cal.time(c.from - 7*day)),
		}
		if c.until != 0 {
			rows[i].ExpiresAt = lyceum.Some(cal.time(c.until))
		}
	}
	return rows
}

// named returns the code of a coupon. If the code of a temporary coupon ends with its year, that
// is replaced by the year in this calendar.
func (cal calendar) named(c coupon) string {
	const year = "06"
	if name, has := strings.CutSuffix(c.code, usual.time(c.from).Format(year)); has && c.until != 0 {
		return name + cal.time(c.from).Format(year)
	}
	return c.code
}

// drawCoupon returns a random coupon that applies at a moment.
func drawCoupon(rng *rand.Rand, at moment) lyceum.CouponID {
	for {
		n := rng.IntN(len(coupons))
		if c := coupons[n]; c.until == 0 || c.from <= at && at < c.until {
			return lyceum.CouponID(n + 1)
		}
	}
}

// discounted returns a price less the coupon, if there is one.
func discounted(price lyceum.Minor, used lyceum.CouponID) lyceum.Minor {
	if used == 0 {
		return price
	}
	return price - price*coupons[used-1].percent/100
}
