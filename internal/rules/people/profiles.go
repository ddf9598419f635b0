package people

import (
	"context"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// Profile is a user with everything else that version 2 shows about them.
type Profile struct {
	lyceum.User
	lyceum.UserBesides
}

// Profiles lists users.
func (s *Service) Profiles(
	ctx context.Context, by lyceum.By, f lyceum.UserFilter, p lyceum.Page,
) (lyceum.Listing[Profile], error) {
	v := s.store.In(ctx, by.School)
	found, err := v.Users.List(v, f, p)
	if err != nil {
		return lyceum.Listing[Profile]{}, err
	}
	rows, err := profiles(v, found.Rows...)
	return lyceum.Listing[Profile]{Page: found.Page, Total: found.Total, Rows: rows, More: found.More}, err
}

// profiles returns the profiles of users.
func profiles(v lyceum.View, users ...lyceum.User) ([]Profile, error) {
	ids := make([]lyceum.UserID, len(users))
	for i := range users {
		ids[i] = users[i].ID
	}
	besides, err := v.FindBesides(ids)
	rows := make([]Profile, len(users))
	for i := range users {
		rows[i] = Profile{User: users[i], UserBesides: besides[ids[i]]}
	}
	return rows, err
}

// MeasuredProfile is a profile with what the user bought and learned.
type MeasuredProfile struct {
	Profile

	Transactions int
	Spent        lyceum.USDCents // less refunds
	Courses      int             // that they are or were enrolled in
	Quizzes      int             // graded ones that they submitted
	Passed       int             // of the graded ones
}

// Profile returns the profile of a user. It fails with NotFound.
func (s *Service) Profile(ctx context.Context, by lyceum.By, id lyceum.UserID) (MeasuredProfile, error) {
	var m MeasuredProfile
	err := s.store.AtOnce(ctx, by.School, func(v lyceum.View) error {
		user, err := v.Users.Get(v, id)
		if err != nil {
			return err
		}
		rows, err := profiles(v, user)
		if err != nil {
			return err
		}
		m = MeasuredProfile{Profile: rows[0]}
		return m.measure(v)
	})
	return m, err
}

func (m *MeasuredProfile) measure(v lyceum.View) error {
	var refunded []lyceum.Transaction
	of := lyceum.TransactionQuery{TransactionFilter: lyceum.TransactionFilter{UserID: lyceum.Some(m.ID)}}
	err := v.Transactions.Each(v, of, func(t *lyceum.Transaction) error {
		m.Transactions++
		if t.RefundedAt.Present {
			refunded = append(refunded, *t)
		} else {
			m.Spent += spent(t, lyceum.None[lyceum.Minor]())
		}
		return nil
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(refunded, readAtOnce) {
		if err := m.spend(v, part); err != nil {
			return err
		}
	}
	courses := map[lyceum.CourseID]bool{}
	err = v.Enrollments.Each(v, lyceum.EnrollmentFilter{User: lyceum.Some(m.ID)}, func(e *lyceum.Enrollment) error {
		courses[e.Course] = true
		return nil
	})
	if err != nil {
		return err
	}
	m.Courses = len(courses)
	return m.examine(v)
}

// examine counts the quizzes of a user. A quiz is passed by any response that reaches the
// minimum score of its course.
func (m *MeasuredProfile) examine(v lyceum.View) error {
	least, err := v.FindScores(m.ID)
	if err != nil {
		return err
	}
	passed := map[lyceum.QuizID]bool{}
	err = v.QuizResponses.Each(v, lyceum.QuizResponseFilter{Users: []lyceum.UserID{m.ID}},
		func(r *lyceum.QuizResponse) error {
			score, wanted := least[r.Quiz]
			compliance := lyceum.Compliance{Score: lyceum.Opt[float64]{Value: score, Present: wanted}}
			if r.PercentCorrect.Present {
				passed[r.Quiz] = passed[r.Quiz] || compliance.Passes(r)
			}
			return nil
		})
	m.Quizzes = len(passed)
	for _, is := range passed {
		if is {
			m.Passed++
		}
	}
	return err
}

// readAtOnce is the maximum number of transactions that one SQL statement names.
const readAtOnce = 500

// spend adds what was spent on transactions that were refunded.
func (m *MeasuredProfile) spend(v lyceum.View, refunded []lyceum.Transaction) error {
	ids := make([]lyceum.TransactionID, len(refunded))
	for i := range refunded {
		ids[i] = refunded[i].ID
	}
	taxes := map[lyceum.TransactionID]lyceum.Opt[lyceum.Minor]{}
	refunds := lyceum.MovementFilter{Transactions: ids, Kinds: []lyceum.MovementKind{lyceum.Refunded}}
	err := v.Movements.Each(v, refunds, func(r *lyceum.Movement) error {
		taxes[r.TransactionID] = lyceum.Some(r.TaxRefunded)
		return nil
	})
	for i := range refunded {
		m.Spent += spent(&refunded[i], taxes[refunded[i].ID])
	}
	return err
}

// spent returns what was paid for a transaction and not refunded, in US cents. The refunded tax
// is known if a refund was recorded here; otherwise it is assumed to be proportional to the
// price.
func spent(t *lyceum.Transaction, tax lyceum.Opt[lyceum.Minor]) lyceum.USDCents {
	if !t.Paid {
		return 0
	}
	back, whole := min(t.AmountRefunded, t.FinalPrice), t.FinalPrice
	if tax.Present {
		back, whole = t.RefundedPart(tax.Value).Total(), t.PaidPart().Total()
	}
	if back <= 0 || whole <= 0 {
		return t.Charge
	}
	return t.Charge - lyceum.USDCents(lyceum.Minor(t.Charge).Share(back, whole))
}
