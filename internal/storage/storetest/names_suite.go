package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

// names checks searches for users, courses, plans, affiliates and authors by their names.
func names(t *testing.T, store lyceum.Store) {
	ours, theirs := MakeSchool(t, store), MakeSchool(t, store)
	ctx := t.Context()
	person := func(id lyceum.UserID, name, email string) lyceum.User {
		return lyceum.User{
			ID: id, Email: email, Name: lyceum.Opt[string]{Value: name, Present: name != ""},
			Role: lyceum.Student, CreatedAt: Begin,
		}
	}
	Write(t, store, ours, func(tx lyceum.Tx) error {
		for _, save := range []func() (lyceum.Saved, error){
			func() (lyceum.Saved, error) {
				return tx.Users.Save(tx, []lyceum.User{
					person(1, "Ada Lovelace", "ada@example.com"), person(2, "Ömer Çelik", "Omer@Example.com"),
					person(3, "", "adam@example.com"), person(4, "Lovely_100%", "z@ada.example"),
					person(5, "Glen Lovett", "glen@school.test"),
				}...)
			},
			func() (lyceum.Saved, error) {
				return tx.Courses.Save(tx, []lyceum.Course{
					{ID: 1, Name: "Pottery", CreatedAt: Begin, UpdatedAt: Begin},
					{ID: 2, Name: "Glass", CreatedAt: Begin, UpdatedAt: Begin},
				}...)
			},
			func() (lyceum.Saved, error) {
				return tx.PricingPlans.Save(tx, []lyceum.PricingPlan{
					{
						ID: 1, CourseID: lyceum.Some(lyceum.CourseID(1)), Name: "In full", Currency: "USD", Frequency: lyceum.Free,
						CreatedAt: Begin, UpdatedAt: Begin,
					},
					{ID: 2, Name: "A kiln", Currency: "USD", Frequency: lyceum.Free, CreatedAt: Begin, UpdatedAt: Begin},
				}...)
			},
			func() (lyceum.Saved, error) {
				return tx.Affiliates.Save(tx, lyceum.AffiliatePartner{ID: 1, Name: lyceum.Some("Clay & Co")},
					lyceum.AffiliatePartner{ID: 2})
			},
			func() (lyceum.Saved, error) {
				return tx.Authors.Save(tx, []lyceum.AuthorProfile{
					{ID: 1, Name: lyceum.Some("A. L.")},
					{ID: 2, UserID: lyceum.Some(lyceum.UserID(1))},
				}...)
			},
		} {
			if _, err := save(); err != nil {
				return err
			}
		}
		return nil
	})
	ada, adam := lyceum.Named{ID: 1, Name: "Ada Lovelace", Note: "ada@example.com"},
		lyceum.Named{ID: 3, Note: "adam@example.com"}
	omer, last := lyceum.Named{ID: 2, Name: "Ömer Çelik", Note: "Omer@Example.com"},
		lyceum.Named{ID: 4, Name: "Lovely_100%", Note: "z@ada.example"}
	glen := lyceum.Named{ID: 5, Name: "Glen Lovett", Note: "glen@school.test"}
	full, kiln := lyceum.Named{ID: 1, Name: "In full", Note: "Pottery"}, lyceum.Named{ID: 2, Name: "A kiln"}
	for _, tc := range []struct {
		school lyceum.SchoolID
		of     lyceum.Sequence
		text   string
		limit  int
		want   []lyceum.Named
	}{
		{ours, lyceum.UserSequence, "ada", 9, []lyceum.Named{ada, adam, last}},
		{ours, lyceum.UserSequence, "ADA", 2, []lyceum.Named{ada, adam}},
		{ours, lyceum.UserSequence, " love  ADA ", 9, []lyceum.Named{last, ada}},
		{ours, lyceum.UserSequence, "Love", 9, []lyceum.Named{last, glen, ada}}, // one name begins with it
		{ours, lyceum.UserSequence, "LOVE", 1, []lyceum.Named{last}},
		{ours, lyceum.UserSequence, "öMER", 9, []lyceum.Named{omer}},
		{ours, lyceum.UserSequence, "çelik", 9, []lyceum.Named{omer}},
		{ours, lyceum.UserSequence, "example.COM", 9, []lyceum.Named{adam, omer, ada}},
		{ours, lyceum.UserSequence, "100%", 9, []lyceum.Named{last}},
		{ours, lyceum.UserSequence, "%", 9, []lyceum.Named{last}},
		{ours, lyceum.UserSequence, "a_a", 9, nil},
		{ours, lyceum.UserSequence, "  ", 9, nil},
		{ours, lyceum.UserSequence, "ada", 0, nil},
		{theirs, lyceum.UserSequence, "ada", 9, nil},
		{ours, lyceum.CourseSequence, "pot", 9, []lyceum.Named{{ID: 1, Name: "Pottery"}}},
		{ours, lyceum.PricingPlanSequence, "pottery full", 9, []lyceum.Named{full}},
		{ours, lyceum.PricingPlanSequence, "l", 9, []lyceum.Named{kiln, full}},
		{ours, lyceum.AffiliateSequence, "clay", 9, []lyceum.Named{{ID: 1, Name: "Clay & Co"}}},
		{ours, lyceum.AuthorSequence, "lovelace", 9, []lyceum.Named{{ID: 2, Name: "Ada Lovelace", Note: "ada@example.com"}}},
	} {
		got, err := store.In(ctx, tc.school).SearchNames(tc.of, tc.text, tc.limit)
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("search %s for %q: %v (-want +got)\n%s", tc.of, tc.text, err, diff)
		}
	}
	got, err := store.In(ctx, ours).FindNames(lyceum.PricingPlanSequence, []int32{2, 1, 2, 77})
	if diff := cmp.Diff(map[int32]lyceum.Named{1: full, 2: kiln}, got); err != nil || diff != "" {
		t.Errorf("find names: %v (-want +got)\n%s", err, diff)
	}
	if got, err := store.In(ctx, theirs).FindNames(lyceum.UserSequence, []int32{1}); err != nil || len(got) > 0 {
		t.Errorf("another school has %v, %v", got, err)
	}
	if _, err := store.In(ctx, ours).FindNames(lyceum.SaleSequence, []int32{1}); err == nil {
		t.Error("sales have names")
	}
}

// productNames checks that a change finds the name of a product of any kind.
func productNames(t *testing.T, store lyceum.Store) {
	ours, theirs := MakeSchool(t, store), MakeSchool(t, store)
	Write(t, store, ours, func(tx lyceum.Tx) error {
		_, e1 := tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery"})
		_, e2 := tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: 1, Name: "Sketches"})
		_, e3 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "Crafts"})
		_, e4 := tx.Memberships.Save(tx, lyceum.Membership{ID: 2, Name: "Club"})
		_, e5 := tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 1, MembershipID: 2, Name: "Gold"})
		_, e6 := tx.Coaching.Save(tx, lyceum.Coaching{ID: 1, Name: "An hour"})
		return errors.Join(e1, e2, e3, e4, e5, e6)
	})
	want := map[lyceum.ProductKind]string{
		lyceum.CourseKind: "Pottery", lyceum.DownloadKind: "Sketches", lyceum.CollectionKind: "Crafts", lyceum.TierKind: "Gold",
		lyceum.CoachingKind: "An hour",
	}
	for _, kind := range lyceum.ProductKinds() {
		for _, tc := range []struct {
			school lyceum.SchoolID
			id     int32
			want   string
		}{{ours, 1, want[kind]}, {ours, 77, ""}, {theirs, 1, ""}} {
			p, name := lyceum.Product{Kind: kind, ID: tc.id}, ""
			Write(t, store, tc.school, func(tx lyceum.Tx) (err error) {
				name, err = tx.FindProductName(p)
				return err
			})
			if name != tc.want {
				t.Errorf("%s of school %d is called %q, want %q", p, tc.school, name, tc.want)
			}
		}
	}
}

// references checks that a payment is found by its id in the payment system.
func references(t *testing.T, store lyceum.Store) {
	ours, theirs := MakeSchool(t, store), MakeSchool(t, store)
	book := newBook(1, 100)
	Write(t, store, ours, book.save)
	Write(t, store, ours, func(tx lyceum.Tx) error { return tx.TakeReference("ch_1", book.transactions[4].ID) })
	for _, name := range []string{"ch_1", "CH_1"} {
		var err error
		Write(t, store, ours, func(tx lyceum.Tx) error {
			err = tx.TakeReference(name, book.transactions[5].ID)
			return nil
		})
		if !errors.Is(err, lyceum.ErrReferenceTaken) {
			t.Errorf("%s is taken again: %v", name, err)
		}
	}
	for _, tc := range []struct {
		school    lyceum.SchoolID
		reference string
		want      lyceum.Opt[lyceum.TransactionID]
	}{
		{ours, "ch_1", lyceum.Some(book.transactions[4].ID)},
		{ours, "CH_1", lyceum.None[lyceum.TransactionID]()},
		{theirs, "ch_1", lyceum.None[lyceum.TransactionID]()},
	} {
		v := store.In(t.Context(), tc.school)
		reference, there, err := v.References.First(v, lyceum.ReferenceFilter{Name: lyceum.Some(tc.reference)})
		got := lyceum.Opt[lyceum.TransactionID]{Value: reference.Transaction, Present: there}
		if err != nil || got != tc.want {
			t.Errorf("%s: %v, %v; want %v", fmt.Sprint(tc.school, tc.reference), got, err, tc.want)
		}
	}
}
