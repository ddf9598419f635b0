package lyceum

// Part is a part of a payment: of its price, and of the tax on it.
type Part struct{ Price, Tax Minor }

// Total is what the buyer paid or got back.
func (p Part) Total() Minor { return p.Price + p.Tax }

// Plus returns both parts together.
func (p Part) Plus(q Part) Part { return Part{p.Price + q.Price, p.Tax + q.Tax} }

// Minus returns what is left without q.
func (p Part) Minus(q Part) Part { return Part{p.Price - q.Price, p.Tax - q.Tax} }

// ByPrice returns the next part of a payment that goes back, given its price.
// Back is what went back before; price is at most what is left of it. The tax of
// several parts adds up to that of the whole.
func (p Part) ByPrice(back Part, price Minor) Part {
	tax := p.Tax
	if price < p.Price-back.Price {
		tax = p.Tax.Share(back.Price+price, p.Price)
	}
	return Part{Price: price, Tax: min(max(tax-back.Tax, 0), p.Tax-back.Tax)}
}

// ByTotal is ByPrice given the price with its tax. A part that leaves something
// of the payment leaves something of its price.
func (p Part) ByTotal(back Part, total Minor) Part {
	left := p.Minus(back)
	if total >= left.Total() {
		return left
	}
	price := min(p.Price.Share(back.Total()+total, p.Total()), p.Price-1) - back.Price
	price = min(max(price, total-left.Tax, 0), total, left.Price)
	return Part{Price: price, Tax: total - price}
}

// PaidPart is what the buyer paid.
func (t *Transaction) PaidPart() Part { return Part{Price: t.FinalPrice, Tax: t.TaxCharge} }

// RefundedPart is what was refunded, given the tax that its movements returned.
// A refund from elsewhere may count tax as price: that is what exceeds the price.
// Prices and taxes from elsewhere may be below 0, and are no refunds for that.
func (t *Transaction) RefundedPart(tax Minor) Part {
	price := min(t.AmountRefunded, max(t.FinalPrice, 0))
	return Part{Price: price, Tax: min(tax+t.AmountRefunded-price, max(t.TaxCharge, 0))}
}
