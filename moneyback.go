package lyceum

// Part is a part of a payment: an amount of its price and of the tax on it.
type Part struct{ Price, Tax Minor }

// Total returns what the buyer paid or got back.
func (p Part) Total() Minor { return p.Price + p.Tax }

// Plus returns the sum of both parts.
func (p Part) Plus(q Part) Part { return Part{p.Price + q.Price, p.Tax + q.Tax} }

// Minus returns p without q.
func (p Part) Minus(q Part) Part { return Part{p.Price - q.Price, p.Tax - q.Tax} }

// ByPrice returns the next part of payment p to give back, with the given price. Back is what
// was given back before; price is at most what is left of the payment's price. The taxes of all
// parts add up to the tax of the payment.
func (p Part) ByPrice(back Part, price Minor) Part {
	tax := p.Tax
	if price < p.Price-back.Price {
		tax = p.Tax.Share(back.Price+price, p.Price)
	}
	return Part{Price: price, Tax: min(max(tax-back.Tax, 0), p.Tax-back.Tax)}
}

// ByTotal is like ByPrice, but takes the price including tax. As long as some of the payment is
// left, some of its price is left too.
func (p Part) ByTotal(back Part, total Minor) Part {
	left := p.Minus(back)
	if total >= left.Total() {
		return left
	}
	price := min(p.Price.Share(back.Total()+total, p.Total()), p.Price-1) - back.Price
	price = min(max(price, total-left.Tax, 0), total, left.Price)
	return Part{Price: price, Tax: total - price}
}

// PaidPart returns what the buyer paid.
func (t *Transaction) PaidPart() Part { return Part{Price: t.FinalPrice, Tax: t.TaxCharge} }

// RefundedPart returns what was refunded, given the tax that the transaction's movements
// returned. A refund from another system may count tax as price: that is what exceeds the
// price. Prices and taxes from another system may be negative, which does not make them
// refunds.
func (t *Transaction) RefundedPart(tax Minor) Part {
	price := t.RefundedPrice()
	return Part{Price: price, Tax: min(tax+t.AmountRefunded-price, max(t.TaxCharge, 0))}
}

// RefundedPrice returns the price of RefundedPart.
func (t *Transaction) RefundedPrice() Minor { return min(t.AmountRefunded, max(t.FinalPrice, 0)) }
