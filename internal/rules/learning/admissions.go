package learning

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// settleCoaching brings a user's admission to coaching in line with the union of their
// entitlements, and announces access that opened or closed.
func settleCoaching(
	tx lyceum.Tx, now, since time.Time, user lyceum.UserID, product lyceum.Product, all union,
) error {
	coaching := lyceum.CoachingID(product.ID)
	stay, found, err := tx.Admissions.First(tx, admissionTo(user, coaching))
	if err == nil && found && !stay.ActiveAt(now) {
		found, err = false, admissionOutlived(tx, stay)
	}
	switch {
	case err != nil || !found && !all.open:
		return err
	case !all.open:
		at, err := closedAt(tx, now, since, user, product)
		if err != nil {
			return err
		}
		return endAdmission(tx, stay, at)
	case !found:
		return admit(tx, lyceum.Admission{
			UserID: user, CoachingID: coaching, SaleID: all.Sale, AdmittedAt: all.StartsAt, ExpiresAt: all.EndsAt,
		})
	}
	stay.AdmittedAt, stay.ExpiresAt = all.StartsAt, all.EndsAt
	_, err = tx.Admissions.Save(tx, stay)
	return err
}

// admissionTo selects the admission of a user that has not been ended.
func admissionTo(user lyceum.UserID, coaching lyceum.CoachingID) lyceum.AdmissionFilter {
	return lyceum.AdmissionFilter{User: lyceum.Some(user), Coaching: lyceum.Some(coaching), Open: true}
}

// admit inserts a new admission and announces it. It assigns the id.
func admit(tx lyceum.Tx, fresh lyceum.Admission) error {
	var err error
	if fresh.ID, err = tx.Admissions.NextID(tx); err != nil {
		return err
	}
	if err := tx.Admissions.Insert(tx, fresh); err != nil {
		return err
	}
	tx.Announce(lyceum.AdmissionCreated, int32(fresh.ID), lyceum.AdmissionCreatedEvent, "")
	return nil
}

// endAdmission ends an admission and announces it.
func endAdmission(tx lyceum.Tx, a lyceum.Admission, at time.Time) error {
	a.EndedAt = lyceum.Some(lyceum.Second(at))
	_, err := tx.Admissions.Save(tx, a)
	tx.Announce(lyceum.AdmissionUpdated, int32(a.ID), lyceum.AdmissionDisabledEvent, "")
	return err
}

// admissionOutlived ends an expired admission, and announces it unless it had expired before the
// school began to track expiry.
func admissionOutlived(tx lyceum.Tx, a lyceum.Admission) error {
	news, err := expiredLately(tx, a.ExpiresAt.Value)
	switch {
	case err != nil:
		return err
	case news:
		return endAdmission(tx, a, a.ExpiresAt.Value)
	}
	a.EndedAt = a.ExpiresAt
	_, err = tx.Admissions.Save(tx, a)
	return err
}
