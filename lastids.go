package lyceum

import (
	"fmt"
	"reflect"
)

// MaxImportedID is the largest id that imports accept by default: using up the last id of a
// sequence would leave none for later rows.
const MaxImportedID = 2_147_000_000

// LastIDs returns an error for each id above MaxImportedID among those that the row brings into
// use. The row is a pointer to one of the types that imports store.
func LastIDs(row any) (above []FieldError) {
	check := func(field string, id int32) {
		if id > MaxImportedID {
			above = append(above, FieldError{Field: field, Message: fmt.Sprintf(
				"%d is above %d: ids end at %d, and new rows need higher ones; use another id, or allow it with "+
					"--allow-last-ids", id, MaxImportedID, MaxID)})
		}
	}
	switch r := row.(type) {
	case *Attachment:
		check("id", int32(r.ID))
		if r.Quiz != nil {
			check("quiz_id", int32(r.Quiz.ID))
		}
	case *PricingPlan:
		check("id", int32(r.ID))
		check("course_id", int32(r.CourseID.Value))
	case *Transaction:
		check("id", int32(r.ID))
		check("user_id", int32(r.UserID))
		check("pricing_plan_id", int32(r.PricingPlanID))
		check("sale_id", int32(r.SaleID))
		check("affiliate_id", int32(r.AffiliateID.Value))
		check("author_id", int32(r.AuthorID.Value))
		check("coupon_id", int32(r.CouponID.Value))
	default:
		if id := reflect.ValueOf(row).Elem().FieldByName("ID"); id.IsValid() {
			check("id", int32(id.Int()))
		}
	}
	return above
}
