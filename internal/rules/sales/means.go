package sales

import "github.com/lyceum-school/lyceum"

// payable rejects a payment method that does not fit what was paid.
func payable(sale *lyceum.Sale) error {
	method := sale.Method.Value
	var message string
	switch {
	case method != lyceum.ForFree && method != lyceum.ByCoupon:
	case sale.FinalPrice != lyceum.Some[lyceum.Minor](0):
		message = "must be how it was paid, because the final_price is not 0: free and coupon are for what costs nothing"
	case method == lyceum.ByCoupon && !sale.CouponID.Present:
		message = "must be free, or coupon_id must be sent: there is no coupon that made it free"
	}
	if message == "" {
		return nil
	}
	return lyceum.InvalidFields(lyceum.FieldError{Field: "payment_method", Message: message})
}

// paidLike returns how a sale that follows another one is paid unless stated otherwise: like
// the old one, if that was paid.
func paidLike(old *lyceum.Sale) lyceum.Means {
	if by := old.PaidBy(); by == lyceum.ForFree || by == lyceum.ByCoupon {
		return lyceum.Means{}
	}
	return old.Means
}

// unlikeMeans adds to r what was sent about how a sale was paid that differs from the stored
// sale.
func unlikeMeans(tx lyceum.Tx, m lyceum.Means, id lyceum.SaleID, r *repeated) error {
	if m == (lyceum.Means{}) {
		return nil
	}
	sale, err := tx.Sales.Get(tx, id)
	if err != nil {
		return err
	}
	unlike(r, "payment_method", m.Method, sale.PaidBy())
	unlike(r, "payment_gateway", m.Gateway, sale.PaymentGateway())
	return nil
}
