package salesindex

import (
	"cmp"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// cell is the sum of the paid sales in one currency that have the same value of a group.
type cell struct {
	cellKey

	sales, buyers, renewals, chargebacks       int32
	gross, tax, refundedOf, refunded           int64
	chargedBack, chargebackFees                int64
	affiliateFees, authorFees, charge, revenue int64
}

type cellKey struct {
	id       int32
	has      bool // false for sales without a value
	currency uint16
}

// sale adds a paid sale.
func (c *cell) sale(r *row, x *extra, m lyceum.SaleMarks) {
	c.sales++
	if m.First {
		c.buyers++
	}
	if m.Renewal {
		c.renewals++
	}
	c.gross += int64(r.price)
	c.tax += int64(r.tax)
	c.affiliateFees += int64(r.affiliateFees)
	c.authorFees += int64(r.authorFees)
	c.charge += int64(r.charge)
	c.revenue += int64(r.revenue)
	refunded := int64(0)
	if x != nil {
		refunded = r.refundedPrice(x)
		c.refundedOf += refunded
		c.chargebackFees += int64(x.fee)
	}
	if r.flags&chargeback != 0 {
		c.chargebacks++
		c.chargedBack += max(0, int64(r.price)-refunded)
	}
}

// add adds the figures of another cell.
func (c *cell) add(o *cell) {
	c.addSales(o)
	c.refunded += o.refunded
}

func (c *cell) negate() {
	*c = cell{
		cellKey: c.cellKey, sales: -c.sales, buyers: -c.buyers, renewals: -c.renewals, chargebacks: -c.chargebacks,
		gross: -c.gross, tax: -c.tax, refundedOf: -c.refundedOf, refunded: -c.refunded, chargedBack: -c.chargedBack,
		chargebackFees: -c.chargebackFees, affiliateFees: -c.affiliateFees, authorFees: -c.authorFees,
		charge: -c.charge, revenue: -c.revenue,
	}
}

// addSales adds the figures that sale adds.
func (c *cell) addSales(o *cell) {
	c.sales += o.sales
	c.buyers += o.buyers
	c.renewals += o.renewals
	c.chargebacks += o.chargebacks
	c.gross += o.gross
	c.tax += o.tax
	c.refundedOf += o.refundedOf
	c.chargedBack += o.chargedBack
	c.chargebackFees += o.chargebackFees
	c.affiliateFees += o.affiliateFees
	c.authorFees += o.authorFees
	c.charge += o.charge
	c.revenue += o.revenue
}

func (c *cell) sum(names currencies) lyceum.SalesSum {
	return lyceum.SalesSum{
		SalesKey: lyceum.SalesKey{
			Currency: names[c.currency], Of: lyceum.Opt[int32]{Value: c.id, Present: c.has},
		},
		Sales: int64(c.sales), NewBuyers: int64(c.buyers), Renewals: int64(c.renewals), Chargebacks: int64(c.chargebacks),
		Gross: lyceum.Minor(c.gross), Tax: lyceum.Minor(c.tax), RefundedOf: lyceum.Minor(c.refundedOf),
		Refunded: lyceum.Minor(c.refunded), ChargedBack: lyceum.Minor(c.chargedBack),
		ChargebackFees: lyceum.Minor(c.chargebackFees), AffiliateFees: lyceum.Minor(c.affiliateFees),
		AuthorFees: lyceum.Minor(c.authorFees), Charge: lyceum.USDCents(c.charge), Revenue: lyceum.USDCents(c.revenue),
	}
}

// cells holds cells by their keys.
type cells struct {
	list  []cell
	pages [denseCurrencies][densePages]*densePage // index + 1 in list, or 0, by the id plus 1
	rare  map[cellKey]int32                       // index + 1 in list of all others
}

type densePage [1 << 10]int32

const (
	denseCurrencies = 4
	densePages      = 64
)

// at returns the cell of a key, and creates it if necessary. The pointer is valid until the next
// call.
func (c *cells) at(k cellKey) *cell {
	if place := c.dense(k); place != nil {
		if *place == 0 {
			*place = c.add(k)
		}
		return &c.list[*place-1]
	}
	place := c.rare[k]
	if place == 0 {
		if c.rare == nil {
			c.rare = map[cellKey]int32{}
		}
		place = c.add(k)
		c.rare[k] = place
	}
	return &c.list[place-1]
}

func (c *cells) add(k cellKey) int32 {
	c.list = append(c.list, cell{cellKey: k})
	return int32(len(c.list))
}

// dense returns the slot in pages for a key, or nil if it belongs in rare.
func (c *cells) dense(k cellKey) *int32 {
	n := uint32(0)
	if k.has {
		n = uint32(k.id) + 1
	}
	page := n / uint32(len(densePage{}))
	if k.currency >= denseCurrencies || page >= densePages || k.has && n == 0 {
		return nil
	}
	p := c.pages[k.currency][page]
	if p == nil {
		p = new(densePage)
		c.pages[k.currency][page] = p
	}
	return &p[n%uint32(len(p))]
}

// sums returns the sums in the order that Finish requires, so that Finish does not have to move
// them.
func (c *cells) sums(names currencies) []lyceum.SalesSum {
	codes := make([]uint16, len(names))
	for i := range codes {
		codes[i] = uint16(i)
	}
	slices.SortFunc(codes, func(a, b uint16) int { return cmp.Compare(names[a], names[b]) })
	ranks := make([]uint16, len(names))
	for rank, code := range codes {
		ranks[code] = uint16(rank)
	}
	order := make([]cellPlace, len(c.list))
	for i := range c.list {
		order[i] = cellPlace{c.list[i].order(ranks), int32(i)}
	}
	slices.SortFunc(order, func(a, b cellPlace) int { return cmp.Compare(a.order, b.order) })
	sums := make([]lyceum.SalesSum, len(c.list))
	for i, at := range order {
		sums[i] = c.list[at.place].sum(names)
	}
	return sums
}

type cellPlace struct {
	order uint64
	place int32
}

// order returns a number that sorts by id, then by currency, using its rank; cells without an id
// come first.
func (k cellKey) order(ranks []uint16) uint64 {
	if !k.has {
		return uint64(ranks[k.currency])
	}
	return 1<<63 | uint64(uint32(k.id)^1<<31)<<16 | uint64(ranks[k.currency])
}
