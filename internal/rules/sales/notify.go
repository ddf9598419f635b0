package sales

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// Notify keeps, in a change, that a buyer is to be sent an email about something: the
// transaction, failed payment, sale or order that the kind of email is about.
type Notify func(tx lyceum.Tx, kind lyceum.EmailKind, user lyceum.Opt[lyceum.UserID], about int32) error

func notifyNobody(lyceum.Tx, lyceum.EmailKind, lyceum.Opt[lyceum.UserID], int32) error { return nil }

// Notifying makes the service tell buyers of what happens, and returns it.
func (s *Service) Notifying(notify Notify) *Service {
	s.notify = notify
	return s
}

// newsAge is how long after it happened webhooks are told of a lapse, and buyers of
// anything. What comes later is history that another program brings in.
const newsAge = 24 * time.Hour

func newsworthy(then, now time.Time) bool { return now.Sub(then) <= newsAge }

// since returns the service for a change of what happened at a moment: it tells buyers
// nothing of what is no news.
func (s *Service) since(then, now time.Time) *Service {
	if newsworthy(then, now) {
		return s
	}
	silent := *s
	silent.notify = notifyNobody
	return &silent
}

// receipt tells the buyer of a payment, unless it was free.
func (s *Service) receipt(tx lyceum.Tx, now time.Time, t *lyceum.Transaction) error {
	if t.FinalPrice+t.TaxCharge == 0 {
		return nil
	}
	return s.since(t.PurchasedAt, now).notify(tx, lyceum.ReceiptEmail, lyceum.Some(t.UserID), int32(t.ID))
}

// revoke ends the access that a sale gave as of a moment, and tells its buyer if that
// ended access now.
func (s *Service) revoke(
	tx lyceum.Tx, now time.Time, sale *lyceum.Sale, at time.Time, why lyceum.EntitlementEnd,
) error {
	ended, err := s.enroller.Revoke(tx, now, sale, at, why)
	if err != nil || !ended {
		return err
	}
	return s.accessEnded(tx, now, sale)
}

// accessEnded tells the buyer of a sale that the access ended that it gave. One that
// changed its plan goes on as another, and an old sale that was recorded only today
// ended long ago, too.
func (s *Service) accessEnded(tx lyceum.Tx, now time.Time, sale *lyceum.Sale) error {
	late := newsworthy(sale.CreatedAt, now) && !newsworthy(sale.PurchasedAt, sale.CreatedAt)
	if late || sale.EndReason == lyceum.Some(lyceum.SaleChanged) {
		return nil
	}
	return s.notify(tx, lyceum.AccessEndedEmail, sale.UserID, int32(sale.ID))
}
