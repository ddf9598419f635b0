package storetest

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

// MakeShop creates a school with user 1, a course, and pricing plan 1 for the course.
func MakeShop(t testing.TB, store lyceum.Store) lyceum.SchoolID {
	t.Helper()
	school := MakeSchool(t, store)
	Write(t, store, school, func(tx lyceum.Tx) error {
		course := lyceum.Course{ID: 1, Name: "Pottery", CreatedAt: Begin, UpdatedAt: Begin}
		if _, err := tx.Courses.Save(tx, course); err != nil {
			return err
		}
		plan := lyceum.PricingPlan{
			ID: 1, CourseID: lyceum.Some(course.ID), Name: "Once", Price: 1999, Currency: "USD", Frequency: lyceum.OneTimePayment,
		}
		if _, err := tx.PricingPlans.Save(tx, plan); err != nil {
			return err
		}
		user := lyceum.User{ID: 1, Email: "a@example.com", Name: lyceum.Some("Ann"), Role: lyceum.Student}
		_, err := tx.Users.Save(tx, user)
		return err
	})
	return school
}
