package storetest

import (
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Enroll saves enrollments, and for each one a matching imported entitlement.
func Enroll(tx lyceum.Tx, rows ...lyceum.Enrollment) error {
	if _, err := tx.Enrollments.Save(tx, rows...); err != nil {
		return err
	}
	type reason struct {
		user    lyceum.UserID
		product lyceum.Product
		since   time.Time
	}
	known := map[reason]lyceum.EntitlementID{}
	for part := range slices.Chunk(rows, lyceum.MaxUsers) {
		var users []lyceum.UserID
		for i := range part {
			users = append(users, part[i].User)
		}
		err := tx.Entitlements.Each(tx, lyceum.EntitlementFilter{Users: users}, func(e *lyceum.Entitlement) error {
			known[reason{e.User, e.Product, e.StartsAt.UTC()}] = e.ID
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := tx.Reserve(len(rows), lyceum.EntitlementSequence); err != nil {
		return err
	}
	var all []lyceum.Entitlement
	for _, row := range rows {
		e := lyceum.Entitlement{
			User: row.User, Product: lyceum.Product{Kind: lyceum.CourseKind, ID: int32(row.Course)}, Imported: true,
			StartsAt: row.EnrolledAt, EndsAt: row.ExpiresAt, EndedAt: row.EndedAt,
		}
		if row.ExpiresAt.Present && row.EndedAt.Present && !row.EndedAt.Value.Before(row.ExpiresAt.Value) {
			e.EndedAt = lyceum.None[time.Time]() // it expired before it was ended
		}
		if e.EndedAt.Present {
			e.EndReason = lyceum.Some(lyceum.EndedByImport)
		}
		e.ID = known[reason{e.User, e.Product, e.StartsAt.UTC()}]
		if e.ID == 0 {
			var err error
			if e.ID, err = tx.Entitlements.NextID(tx); err != nil {
				return err
			}
		}
		all = append(all, e)
	}
	_, err := tx.Entitlements.Save(tx, all...)
	return err
}
