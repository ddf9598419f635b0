package sqlstore

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// A school from before optional emails sends none of them. Its waiting emails are about an
// account, and its orders have no return URL.
func TestEmailsFromBeforeOptionalOnes(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 72,
				"INSERT INTO schools (school_id, name, created_at, owners_second_factor, keep_emails) VALUES (7, 'Fernwood', 0, 1, 20)",
				"INSERT INTO pricing_plans (school_id, pricing_plan_id, name, price, currency, frequency, created_at, updated_at) VALUES (7, 1, 'Once', 1999, 'USD', 'one_time_payment', 0, 0)",
				"INSERT INTO orders (school_id, order_id, email, pricing_plan_id, final_price, currency, state, created_at, abandons_at) "+
					"VALUES (7, 1, 'new@example.com', 1, 1999, 'USD', 'open', 0, 1000000)",
				"INSERT INTO emails (school_id, email_id, kind, address, shown, message_id, state, created_at, tries, next_attempt_at) "+
					"VALUES (7, 1, 3, 'old@example.com', '', 'm1', 'waiting', 0, 0, 1000000)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'order_id', 1), (7, 'email_id', 1)",
			)
			v := store.In(t.Context(), 7)
			school, err := v.GetSchool()
			if err != nil || school.Emails != 0 || !school.OwnersSecondFactor || school.Retention.Emails != 20 {
				t.Errorf("the school is %+v, %v", school, err)
			}
			order, err := v.Orders.Get(v, 1)
			if err != nil || order.ReturnURL.Present || order.Email != "new@example.com" {
				t.Errorf("the order is %+v, %v", order, err)
			}
			order.ReturnURL = lyceum.Some("https://shop.example.com/cart/7")
			var claimed []lyceum.QueuedEmail
			storetest.Write(t, store, 7, func(tx lyceum.Tx) error {
				if claimed, err = tx.ClaimEmails(time.Unix(1, 0), time.Unix(31, 0), 10); err != nil || len(claimed) != 1 {
					t.Fatalf("claimed %+v, %v", claimed, err)
				}
				claimed[0].About = lyceum.Some[int32](1)
				if err := tx.Emails.Update(tx, claimed[0]); err != nil {
					return err
				}
				if _, err := tx.Orders.Save(tx, order); err != nil {
					return err
				}
				return tx.ChangeSchool(func(s *lyceum.School) { s.Emails = s.Emails.With(lyceum.AbandonedOrderEmail, true) })
			})
			email, err := v.Emails.Get(v, 1)
			if err != nil || email != claimed[0] || email.Kind != lyceum.AddressChangedEmail {
				t.Errorf("the email is %+v, %v", email, err)
			}
			if got, err := v.Orders.Get(v, 1); err != nil || got != order {
				t.Errorf("the order is %+v, %v", got, err)
			}
			was := school
			school, err = v.GetSchool()
			if was.Emails = school.Emails; err != nil || school != was || !school.Emails.Has(lyceum.AbandonedOrderEmail) ||
				school.Emails.Has(lyceum.ReceiptEmail) {
				t.Errorf("after a change: %+v, %v", school, err)
			}
		})
	}
}
