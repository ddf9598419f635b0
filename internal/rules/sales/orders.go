package sales

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// NewOrder is a checkout that somebody starts.
type NewOrder struct {
	Email      string
	Name       lyceum.Opt[string]
	Plan       lyceum.PricingPlanID
	Coupon     lyceum.Opt[lyceum.CouponID]
	Affiliate  lyceum.Opt[lyceum.AffiliateID]
	FinalPrice lyceum.Opt[lyceum.Minor] // absent: the plan's price less the coupon
	ReturnURL  lyceum.Opt[string]       // where the buyer can continue it
}

// maxReturnURL is the maximum length in bytes of the address where the buyer can continue an
// order.
const maxReturnURL = 2048

// checkReturn rejects text that is not the address of a page, or that a mail program would not
// show as one link.
func (n *NewOrder) checkReturn() error {
	text := n.ReturnURL.Value
	at, err := url.Parse(text)
	switch {
	case !n.ReturnURL.Present:
		return nil
	case err == nil && (at.Scheme == "https" || at.Scheme == "http") && at.Hostname() != "" && at.User == nil &&
		len(text) <= maxReturnURL && !strings.ContainsFunc(text, breaksLink):
		return nil
	}
	return lyceum.InvalidFields(lyceum.FieldError{Field: "return_url", Message: fmt.Sprintf("must be an https or http "+
		"address such as https://shop.example.com/cart/7: at most %d ASCII characters, without spaces, quotation marks, "+
		"< and >, and without a user name", maxReturnURL)})
}

// breaksLink reports whether a character would end a link in plain text.
func breaksLink(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`<>"`, r) }

// ShowOrder returns an order.
func (s *Service) ShowOrder(
	ctx context.Context, by lyceum.By, id lyceum.OrderID,
) (lyceum.PurchaseOrder, error) {
	v := s.store.In(ctx, by.School)
	return v.Orders.Get(v, id)
}

// OpenOrder records that somebody started a checkout. Until the order is completed or
// abandoned, it takes a seat of its plan and a use of its coupon.
func (s *Service) OpenOrder(ctx context.Context, by lyceum.By, n NewOrder) (lyceum.PurchaseOrder, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.PurchaseOrder, error) {
		id, err := tx.Orders.NextID(tx)
		if err != nil {
			return lyceum.PurchaseOrder{}, err
		}
		if err := cmp.Or(s.people.CheckAddress(n.Email, n.Name), n.checkReturn()); err != nil {
			return lyceum.PurchaseOrder{}, err
		}
		deal, err := offered(tx, NewSale{Plan: n.Plan, Coupon: n.Coupon, Affiliate: n.Affiliate})
		if err != nil {
			return lyceum.PurchaseOrder{}, err
		}
		school, err := tx.GetSchool()
		if err != nil {
			return lyceum.PurchaseOrder{}, err
		}
		at := lyceum.Second(now)
		order := lyceum.PurchaseOrder{
			ID: id, Email: n.Email, Name: n.Name, PricingPlanID: n.Plan, CouponID: n.Coupon,
			AffiliateID: n.Affiliate, FinalPrice: n.FinalPrice.Else(deal.price()), Currency: deal.plan.Currency,
			State: lyceum.OrderOpen, CreatedAt: at, AbandonsAt: at.Add(school.Policy.AbandonAfter), ReturnURL: n.ReturnURL,
		}
		payment := lyceum.Transaction{FinalPrice: order.FinalPrice, Currency: order.Currency}
		misfits, err := deal.misfits(tx, &payment, at)
		if err == nil {
			err = refuse(misfits)
		}
		if err != nil {
			return lyceum.PurchaseOrder{}, err
		}
		user, found, err := tx.Users.First(tx, lyceum.UserFilter{Email: lyceum.Some(n.Email)})
		if err != nil {
			return order, err
		}
		order.UserID = lyceum.Opt[lyceum.UserID]{Value: user.ID, Present: found}
		_, err = tx.Orders.Save(tx, order)
		return order, err
	})
}

// OrderPayment is the purchase that completes an order.
type OrderPayment struct {
	Amounts
	lyceum.Means

	Order     lyceum.OrderID
	Author    lyceum.Opt[lyceum.AuthorID]
	Reference lyceum.Opt[string] // of the payment, unique in the school
}

// CompleteOrder records the purchase that completes an open or abandoned order. A buyer who is
// new to the school becomes a user.
func (s *Service) CompleteOrder(ctx context.Context, by lyceum.By, p OrderPayment) (SaleDetail, error) {
	return pay(ctx, s, by, p.Reference, func(tx lyceum.Tx, now time.Time) (SaleDetail, error) {
		return s.complete(tx, now, p)
	}, func(tx lyceum.Tx, t lyceum.Transaction, of *repeated) (SaleDetail, error) {
		return s.completeAgain(tx, p, &t, of)
	})
}

func (s *Service) complete(tx lyceum.Tx, now time.Time, p OrderPayment) (SaleDetail, error) {
	order, err := tx.Orders.Get(tx, p.Order)
	if err != nil {
		return SaleDetail{}, err
	}
	if order.State == lyceum.OrderCompleted {
		return SaleDetail{}, conflict("order_completed", "order %d is already completed, by sale %d", order.ID,
			order.SaleID.Value)
	}
	n := NewSale{
		Amounts: p.Amounts, Means: p.Means, Author: p.Author, Reference: p.Reference,
		Plan: order.PricingPlanID, Coupon: order.CouponID, Affiliate: order.AffiliateID, order: &order,
	}
	n.User = order.UserID.Value // their address may have changed since
	if !order.UserID.Present {
		if n.User, err = s.people.Register(tx, now, order.Email, order.Name); err != nil {
			return SaleDetail{}, err
		}
	}
	n.FinalPrice, n.Currency = n.FinalPrice.Or(order.FinalPrice), n.Currency.Or(order.Currency)
	sale, err := s.record(tx, now, n)
	if err != nil {
		return SaleDetail{}, err
	}
	order.State, order.ClosedAt = lyceum.OrderCompleted, lyceum.Some(lyceum.Second(now))
	order.UserID, order.SaleID = lyceum.Some(n.User), lyceum.Some(sale.ID)
	_, err = tx.Orders.Save(tx, order)
	return sale, err
}

// AbandonOrder records that an open order was not completed.
func (s *Service) AbandonOrder(ctx context.Context, by lyceum.By, id lyceum.OrderID) (lyceum.PurchaseOrder, error) {
	now := s.clock()
	return lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.PurchaseOrder, error) {
		order, err := tx.Orders.Get(tx, id)
		if err != nil {
			return order, err
		}
		if order.State != lyceum.OrderOpen {
			return order, conflict("order_closed", "order %d is already %s", id, order.State)
		}
		return s.abandon(tx, now, order, now)
	})
}

func (s *Service) abandon(
	tx lyceum.Tx, now time.Time, order lyceum.PurchaseOrder, at time.Time,
) (lyceum.PurchaseOrder, error) {
	order.State, order.ClosedAt = lyceum.OrderAbandoned, lyceum.Some(lyceum.Second(at))
	if _, err := tx.Orders.Save(tx, order); err != nil {
		return order, err
	}
	tx.Announce(lyceum.OrderUpdated, int32(order.ID), lyceum.AbandonedOrderEvent, "")
	if !order.ReturnURL.Present {
		return order, nil
	}
	return order, s.since(at, now).notify(tx, lyceum.AbandonedOrderEmail, order.UserID, int32(order.ID))
}

// sweepSize is the most overdue orders that one write processes.
const sweepSize = 200

// Abandon abandons a school's open orders whose time is over.
func (s *Service) Abandon(ctx context.Context, school lyceum.SchoolID) error {
	for more := true; more; {
		now := s.clock()
		err := s.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: "clock"}, func(tx lyceum.Tx) error {
			first := lyceum.Page{Number: 1, Size: sweepSize}
			stale, err := tx.Orders.List(tx, lyceum.OrderFilter{StaleAt: lyceum.Some(now)}, first)
			more = stale.More
			for i := range stale.Rows {
				if err == nil {
					_, err = s.abandon(tx, now, stale.Rows[i], stale.Rows[i].AbandonsAt)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Configure changes the settings of a school all at once, and returns the changed school. Change
// gets the school as it is when it is written, so that no setting is lost that somebody else
// changes at the same time.
func (s *Service) Configure(
	ctx context.Context, by lyceum.By, change func(*lyceum.School),
) (lyceum.School, error) {
	return lyceum.Change(ctx, s.store, by.Stamp(s.clock()), func(tx lyceum.Tx) (lyceum.School, error) {
		school, err := tx.GetSchool()
		if err != nil {
			return school, err
		}
		before := school.Shown()
		change(&school)
		if err := cmp.Or(school.Check(), by.CheckShown(before, school.Shown())); err != nil {
			return school, err
		}
		return school, tx.ChangeSchool(change)
	})
}
