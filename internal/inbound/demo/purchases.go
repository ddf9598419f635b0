package demo

import (
	"iter"
	"math/rand/v2"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Batch is a part of the school's transactions, with their new sales. A sale comes with
// its first transaction; its later ones may be in later batches.
type Batch struct {
	Sales        []lyceum.Sale
	Transactions []lyceum.Transaction
	// Billed is only in the last batch of a school that ends at a clock.
	Billed []Billed
}

// Billed is a sale that has to be paid again when it is due.
type Billed struct {
	Sale        lyceum.SaleID
	Anchor, Due time.Time
}

// Batches yields all transactions, with ids from 1 ordered by CreatedAt, in slices of at
// most size. Each batch reuses the slices of the one before.
func (s *School) Batches(size int) iter.Seq[Batch] {
	return func(yield func(Batch) bool) {
		t := s.newTill()
		for t.taken < s.transactions {
			t.batch.Sales, t.batch.Transactions = t.batch.Sales[:0], t.batch.Transactions[:0]
			for end := min(t.taken+max(1, size), s.transactions); t.taken < end; t.taken++ {
				t.take()
			}
			if t.taken == s.transactions {
				t.batch.Billed = t.billed
			}
			if !yield(t.batch) {
				return
			}
		}
	}
}

// purchase is what the transactions of one sale and plan have in common.
type purchase struct {
	sale      lyceum.SaleID
	user      lyceum.UserID
	plan      int16 // index in shop.plans
	tax       int16 // as in country
	affiliate uint8 // an AffiliateID, or 0
	coupon    uint8 // a CouponID, or 0
}

// till generates one payment after another.
type till struct {
	shop         *shop
	transactions int // in total
	users        int // in total
	taken        int
	sales        lyceum.SaleID
	listed       lyceum.SaleID // the last one yielded in a batch
	batch        Batch

	calendar calendar
	demand   *demand
	rng      *rand.Rand
	popular  *rand.Zipf // offers
	frequent *rand.Zipf // buyers
	roster   *roster

	arrivals *arrivals
	next     moment // when the next user signs up
	known    int    // users who have signed up

	renewals     *diary
	billed       []Billed
	second       purchase // the rest of an order of two products; no sale: none
	now          moment   // of the latest payment
	learnerSales int
}

func (s *School) newTill() *till {
	rng := s.seed.stream("purchases")
	t := &till{
		shop:         s.shop,
		transactions: s.transactions,
		users:        s.users,
		calendar:     s.calendar,
		demand:       s.demand,
		rng:          rng,
		popular:      rand.NewZipf(rng, 1.25, 4, uint64(len(s.shop.offers)-1)),
		frequent:     rand.NewZipf(rng, 1.08, 60, uint64(s.users)-uint64(learnerID)-1),
		roster:       s.newRoster(),
		arrivals:     s.newArrivals(),
		renewals:     newDiary(s.users / 4),
	}
	t.next = t.arrivals.next()
	return t
}

// take generates the next payment. New sales follow demand; a renewal takes the place of a
// new sale as soon as it is due, and at exactly that moment.
func (t *till) take() {
	part := (float64(t.taken) + t.rng.Float64()) / float64(t.transactions)
	now := t.demand.at(part)
	due := t.renewals.first(now)
	switch {
	case t.second.sale != 0:
		t.pay(t.second, t.now, t.now)
		t.second = purchase{}
	case t.learnerIsDue():
		if due != nil {
			now = due.due
		}
		t.learnerSales++
		t.sell(now, learnerID)
	case due != nil:
		t.renew(t.renewals.take())
	default:
		t.sell(now, t.buyer(now))
	}
}

// learnerIsDue reports whether it is time for one of the three sales to the learner with a
// password, which every school of at least 20 transactions has.
func (t *till) learnerIsDue() bool {
	return t.transactions >= 20 && t.learnerSales < 3 &&
		t.taken >= t.transactions/10*(1+4*t.learnerSales)
}

// buyer returns a user who signed up before the given moment, other than the staff and the
// learner: sometimes one of the newest, otherwise anyone, but some far more often than
// others.
func (t *till) buyer(now moment) lyceum.UserID {
	for t.next < now {
		t.known++
		t.next = t.arrivals.next()
	}
	const staff = int(learnerID)
	buyers := t.known - staff
	if t.rng.IntN(10) < 3 {
		return lyceum.UserID(t.known - t.rng.IntN(1+buyers/40))
	}
	const scatter = 7_368_787 // a prime, so that frequent buyers are spread over all times
	place := int(t.frequent.Uint64() * scatter % uint64(t.users-staff))
	return lyceum.UserID(staff + 1 + place%buyers)
}

// sell starts a sale.
func (t *till) sell(now moment, user lyceum.UserID) {
	t.sales++
	home := t.roster.home(user)
	currency := max(0, rateIndex(home.currency))
	offer := t.shop.draw(t.popular, now, t.renewals.full())
	p := purchase{sale: t.sales, user: user, plan: offer.plans[currency], tax: home.tax, affiliate: t.affiliate(user)}
	if offer.frequency != free && t.rng.IntN(100) < 18 {
		p.coupon = uint8(drawCoupon(t.rng, now))
	}
	t.pay(p, now, now)
	if terms := t.shop.terms[p.plan]; terms.months > 0 {
		t.book(p, now, terms)
	} else if t.rng.IntN(100) < 4 {
		t.addSecond(p, now, currency)
	}
}

// affiliate returns the partner who referred a buyer, or 0. The first partners refer the
// most.
func (t *till) affiliate(user lyceum.UserID) uint8 {
	among := affiliatesAmong(t.known)
	if among < 1 || t.rng.IntN(1000) >= 205 {
		return 0
	}
	part := t.rng.Float64()
	id := 1 + int(part*part*float64(among))
	if affiliateUser(lyceum.AffiliateID(id)) == user {
		return 0
	}
	return uint8(id)
}

// addSecond adds a second product to an order, if the one drawn is paid once and in the
// same currency. It becomes the next transaction, if there is one.
func (t *till) addSecond(first purchase, now moment, currency int) {
	offer := t.shop.draw(t.popular, now, true)
	second := first
	second.plan = offer.plans[currency]
	if offer.frequency == once && second.plan != first.plan &&
		t.shop.terms[second.plan].rate == t.shop.terms[first.plan].rate {
		t.second = second
	}
}

// book schedules the renewals of a sale. A coupon lowers every payment of a payment plan,
// but only the first one of a subscription.
func (t *till) book(p purchase, now moment, terms terms) {
	left := terms.payments - 1
	if terms.payments == 0 {
		p.coupon = 0
		mean := 3.5
		if terms.months == 12 {
			mean = 1
		}
		left = min(100, int(t.rng.ExpFloat64()*mean))
	}
	t.schedule(renewal{purchase: p, start: now, made: 1, left: uint8(left)})
}

// schedule schedules the next renewal. In a school that ends at a clock, a payment that is due
// after the end is left to the clock, even if the subscription was to stop before. If it stopped
// less than grace before the end, its next payment is left to the clock, too, as overdue.
func (t *till) schedule(r renewal) {
	terms := t.shop.terms[r.plan]
	next, ok := r.next(t.calendar, terms.months)
	stopped := r.left == 0 && terms.payments == 0
	switch {
	case r.left > 0 && ok:
		t.renewals.add(next)
	case t.calendar.live && (r.left > 0 || stopped && next.due > closing-grace):
		t.billed = append(t.billed, Billed{r.sale, t.calendar.time(r.start), t.calendar.time(next.due)})
	}
}

// grace is less than how long a sale of the school can be overdue before it lapses.
const grace = 14 * day

// renew generates a renewal when it is due; it is paid within three days.
func (t *till) renew(r renewal) {
	purchased := r.due + hour + moment(t.rng.IntN(int(3*day-hour)))
	t.pay(r.purchase, r.due, min(purchased, closing-1))
	t.schedule(r)
}

// pay generates one transaction.
func (t *till) pay(p purchase, created, purchased moment) {
	t.now = created
	plan, terms := &t.shop.plans[p.plan], &t.shop.terms[p.plan]
	tx := lyceum.Transaction{
		ID: lyceum.TransactionID(t.taken + 1), UserID: p.user, PricingPlanID: plan.ID, SaleID: p.sale,
		CreatedAt: t.calendar.time(created), PurchasedAt: t.calendar.time(purchased), Currency: plan.Currency,
		FinalPrice:  discounted(plan.Price, lyceum.CouponID(p.coupon)),
		AffiliateID: some(lyceum.AffiliateID(p.affiliate)),
		AuthorID:    some(terms.author),
		CouponID:    some(lyceum.CouponID(p.coupon)),
	}
	tx.TaxCharge = (tx.FinalPrice*lyceum.Minor(p.tax) + 5_000) / 10_000
	t.settle(&tx, terms, purchased)
	if p.sale > t.listed {
		t.listed = p.sale
		t.batch.Sales = append(t.batch.Sales, lyceum.SaleOf(&tx))
	}
	t.batch.Transactions = append(t.batch.Transactions, tx)
}

// some returns an id, or nothing for 0.
func some[ID ~int32](id ID) lyceum.Opt[ID] { return lyceum.Opt[ID]{Value: id, Present: id != 0} }

// settle decides the outcome of a bill. A free one is paid, and nothing of an unpaid one
// is collected or shared; neither is disputed. In a school with a clock, recurring
// payments are paid and not fully refunded.
func (t *till) settle(tx *lyceum.Transaction, terms *terms, purchased moment) {
	const unpaid, chargedBack, refunded = 33, 5, 36 // per thousand that are not free
	fate := t.rng.IntN(1000)
	tx.Paid = tx.FinalPrice == 0 || fate >= unpaid
	goesOn := t.calendar.live && terms.months > 0
	tx.Paid = tx.Paid || goesOn
	if tx.FinalPrice == 0 || !tx.Paid {
		return
	}
	share(tx, terms.rate)
	tx.HasChargeback = lyceum.Some(false)
	switch fate -= unpaid; {
	case fate < chargedBack && !goesOn:
		tx.HasChargeback, tx.ChargebackFee = lyceum.Some(true), lyceum.Some[lyceum.Minor](1_500)
	case fate < chargedBack+refunded:
		t.refund(tx, purchased)
		if goesOn && tx.FullyRefunded() {
			tx.AmountRefunded /= 2
		}
	}
}

// share divides what the buyer paid between the tax office, the partner, the author and
// the school.
func share(tx *lyceum.Transaction, r rate) {
	if tx.AffiliateID.Present {
		tx.AffiliateFees = tx.FinalPrice * affiliateShare(tx.AffiliateID.Value) / 100
	}
	if tx.AuthorID.Present {
		tx.AuthorFees = tx.FinalPrice * authorShare(tx.AuthorID.Value) / 100
	}
	tx.Charge = r.usd(tx.FinalPrice + tx.TaxCharge)
	tx.Revenue = tx.Charge - r.usd(tx.TaxCharge) - r.usd(tx.AffiliateFees) - r.usd(tx.AuthorFees)
}

// affiliateShare and authorShare are percentages of a price.
func affiliateShare(id lyceum.AffiliateID) lyceum.Minor { return lyceum.Minor(20 + 5*(id%3)) }
func authorShare(id lyceum.AuthorID) lyceum.Minor       { return lyceum.Minor(25 + 5*(id%4)) }

// refund refunds the price, in full or in part, within 30 days.
func (t *till) refund(tx *lyceum.Transaction, purchased moment) {
	at := purchased + hour + moment(t.rng.IntN(int(30*day-hour)))
	if at >= closing {
		return
	}
	tx.RefundedAt = lyceum.Some(t.calendar.time(at))
	tx.AmountRefunded = tx.FinalPrice
	if t.rng.IntN(2) == 0 {
		tx.AmountRefunded = max(1, tx.FinalPrice*lyceum.Minor(20+t.rng.IntN(60))/100)
	}
}
