package sales

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// Notify arranges, within a transaction, for a buyer to be sent an email about something: the
// transaction, failed payment, sale or order that the kind of email is about.
type Notify func(tx lyceum.Tx, kind lyceum.EmailKind, user lyceum.Opt[lyceum.UserID], about int32) error

func notifyNobody(lyceum.Tx, lyceum.EmailKind, lyceum.Opt[lyceum.UserID], int32) error { return nil }

// Notifying makes the service notify buyers, and returns it.
func (s *Service) Notifying(notify Notify) *Service {
	s.notify = notify
	return s
}

// newsAge is how long after a lapse, or the last change of the sale, webhooks are still notified
// of the lapse, and how long after any event buyers are. What is recorded later is history that
// another program imports.
const newsAge = 24 * time.Hour

func newsworthy(then, now time.Time) bool { return now.Sub(then) <= newsAge }

// since returns the service to use for a change that is due to something that happened at a
// given time: if that is too old to be news, the service does not notify buyers.
func (s *Service) since(then, now time.Time) *Service {
	if newsworthy(then, now) {
		return s
	}
	silent := *s
	silent.notify = notifyNobody
	return &silent
}

// receipt notifies the buyer of a payment, unless it was free.
func (s *Service) receipt(tx lyceum.Tx, now time.Time, t *lyceum.Transaction) error {
	if t.FinalPrice+t.TaxCharge == 0 {
		return nil
	}
	return s.since(t.PurchasedAt, now).notify(tx, lyceum.ReceiptEmail, lyceum.Some(t.UserID), int32(t.ID))
}

// revoke ends the access that a sale gave as of a given time, and notifies its buyer if access
// ends now.
func (s *Service) revoke(
	tx lyceum.Tx, now time.Time, sale *lyceum.Sale, at time.Time, why lyceum.EntitlementEnd,
) error {
	ended, err := s.enroller.Revoke(tx, now, sale, at, why)
	if err != nil || !ended {
		return err
	}
	return s.accessEnded(tx, now, sale)
}

// accessEnded notifies the buyer of a sale that the access it gave has ended. There is no email
// for a sale that changed its plan, which continues as another sale, or for an old sale
// recorded only today, which ended long ago as well.
func (s *Service) accessEnded(tx lyceum.Tx, now time.Time, sale *lyceum.Sale) error {
	late := newsworthy(sale.CreatedAt, now) && !newsworthy(sale.PurchasedAt, sale.CreatedAt)
	if late || sale.EndReason == lyceum.Some(lyceum.SaleChanged) {
		return nil
	}
	return s.notify(tx, lyceum.AccessEndedEmail, sale.UserID, int32(sale.ID))
}
