package learning_test

import (
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestWhatLeavesAndExpires checks that if a product leaves a collection or a tier, and the
// access of its holders expires before they are settled, the end is announced once for each
// holder.
func TestWhatLeavesAndExpires(t *testing.T) {
	const many = 3
	tierOne := learning.ProductIn[lyceum.MembershipTierID]{In: 1, Product: lyceum.CourseID(1).Product()}
	for _, tc := range []struct {
		name        string
		tier        bool
		add, remove func(*testing.T, *holders) error
	}{
		{
			name: "kept from a collection",
			add: func(t *testing.T, h *holders) error {
				_, err := h.service.CollectionProducts().Add(t.Context(), h.by(), pottery)
				return err
			},
			remove: func(t *testing.T, h *holders) error {
				return h.service.CollectionProducts().Remove(t.Context(), h.by(), learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery})
			},
		},
		{
			name: "ended with a collection",
			add: func(t *testing.T, h *holders) error {
				_, err := h.service.CollectionProducts().Add(t.Context(), h.by(), pottery)
				return err
			},
			remove: func(t *testing.T, h *holders) error {
				return h.service.CollectionProducts().Remove(t.Context(), h.by(), learning.Removal[lyceum.ProductCollectionID]{ProductIn: pottery, EndAccess: true})
			},
		},
		{
			name: "gone from a tier", tier: true,
			add: func(t *testing.T, h *holders) error {
				_, err := h.service.TierProducts().Add(t.Context(), h.by(), tierOne)
				return err
			},
			remove: func(t *testing.T, h *holders) error {
				return h.service.TierProducts().Remove(t.Context(), h.by(), learning.Removal[lyceum.MembershipTierID]{ProductIn: tierOne})
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHolders(t, many)
			expire := func() {
				t.Helper()
				if err := h.service.Expire(t.Context(), h.school); err != nil {
					t.Fatal(err)
				}
			}
			storetest.Write(t, h.store, h.school, func(tx lyceum.Tx) error {
				all, err := lyceum.All(tx.Entitlements, tx, lyceum.EntitlementFilter{})
				for i := range all {
					all[i].EndsAt = lyceum.Some(h.clock.Now().Add(24 * time.Hour))
					if tc.tier {
						all[i].Product.Kind = lyceum.TierKind
					}
				}
				if err == nil {
					_, err = tx.Memberships.Save(tx, lyceum.Membership{ID: 1, Name: "Club"})
				}
				if err == nil {
					_, err = tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "Gold", Position: 1})
				}
				if err == nil {
					_, err = tx.Entitlements.Save(tx, all...)
				}
				return err
			})
			expire() // tracking begins now
			if err := tc.add(t, h); err != nil {
				t.Fatal(err)
			}
			h.settle(t)
			h.want(t, "added and settled", many, many)
			h.clock.Pass(time.Hour)
			if err := tc.remove(t, h); err != nil {
				t.Fatal(err)
			}
			h.clock.Pass(48 * time.Hour)
			expire()
			h.settle(t)
			expire()
			h.want(t, "expired", 0, 0)
			h.wantInOrder(t, lyceum.EnrollmentDisabledEvent)
			if findings, err := h.store.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("check: %v, %v", findings, err)
			}
		})
	}
}
