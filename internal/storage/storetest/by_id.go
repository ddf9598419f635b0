package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

// byID checks queries for many objects by their ids.
func byID(t *testing.T, store lyceum.Store) {
	ours, theirs := MakeSchool(t, store), MakeSchool(t, store)
	book := newBook(1, 100)
	Write(t, store, ours, book.save)
	ctx := t.Context()

	first, last := book.plans[0], book.plans[len(book.plans)-1]
	plans := map[lyceum.PricingPlanID]lyceum.PricingPlan{first.ID: first, last.ID: last}
	someone := book.users[0]
	for _, tc := range []struct {
		name   string
		school lyceum.SchoolID
		plans  []lyceum.PricingPlanID
		want   map[lyceum.PricingPlanID]lyceum.PricingPlan
		users  []lyceum.UserID
		people map[lyceum.UserID]lyceum.User
	}{
		{"none", ours, nil, map[lyceum.PricingPlanID]lyceum.PricingPlan{}, nil, map[lyceum.UserID]lyceum.User{}},
		{
			"twice, and unknown", ours,
			[]lyceum.PricingPlanID{last.ID, first.ID, first.ID, lyceum.MaxID},
			plans,
			[]lyceum.UserID{someone.ID, someone.ID, lyceum.MaxID},
			map[lyceum.UserID]lyceum.User{someone.ID: someone},
		},
		{
			"of another school", theirs,
			[]lyceum.PricingPlanID{first.ID},
			map[lyceum.PricingPlanID]lyceum.PricingPlan{},
			[]lyceum.UserID{someone.ID},
			map[lyceum.UserID]lyceum.User{},
		},
	} {
		v := store.In(ctx, tc.school)
		gotPlans, err := v.PricingPlans.Find(v, tc.plans...)
		if diff := cmp.Diff(tc.want, gotPlans); err != nil || diff != "" {
			t.Errorf("%s: plans differ (-want +got): %v\n%s", tc.name, err, diff)
		}
		gotUsers, err := v.Users.Find(v, tc.users...)
		if diff := cmp.Diff(tc.people, gotUsers, SetByStore); err != nil || diff != "" {
			t.Errorf("%s: users differ (-want +got): %v\n%s", tc.name, err, diff)
		}
	}
}
