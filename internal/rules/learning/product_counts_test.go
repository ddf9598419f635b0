package learning_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// TestHoldersAreCountedOnce checks that a product's count of learners is how many have open
// access to it, whatever gives it.
func TestHoldersAreCountedOnce(t *testing.T) {
	t.Parallel()
	for name, store := range engines(t, sqlstore.Options{}) {
		school, at := storetest.MakeSchool(t, store), storetest.Day(1)
		download := lyceum.Product{Kind: lyceum.DownloadKind, ID: 1}
		in := lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}
		tier, over := lyceum.Product{Kind: lyceum.TierKind, ID: 1}, lyceum.Product{Kind: lyceum.TierKind, ID: 2}
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			_, e1 := tx.DigitalDownloads.Save(tx,
				lyceum.DigitalDownload{ID: 1, Name: "Lace", CreatedAt: at, UpdatedAt: at},
				lyceum.DigitalDownload{ID: 2, Name: "Cord", CreatedAt: at, UpdatedAt: at})
			_, e2 := tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All", CreatedAt: at, UpdatedAt: at})
			_, e3 := tx.Memberships.Save(tx, lyceum.Membership{ID: 1, Name: "Guild", CreatedAt: at, UpdatedAt: at})
			_, e4 := tx.MembershipTiers.Save(tx,
				lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "One", CreatedAt: at, UpdatedAt: at},
				lyceum.MembershipTier{ID: 2, MembershipID: 1, Name: "All", CreatedAt: at, UpdatedAt: at})
			return errors.Join(e1, e2, e3, e4)
		})
		clock := storetest.NewClock(at)
		service, by := learning.New(store, clock.Now), lyceum.By{School: school, Actor: "test"}
		_, e1 := service.CollectionProducts().Add(t.Context(), by, learning.ProductIn[lyceum.ProductCollectionID]{In: 1, Product: download})
		_, e2 := service.TierProducts().Add(t.Context(), by, learning.ProductIn[lyceum.MembershipTierID]{In: 1, Product: download})
		_, e3 := service.TierProducts().Add(t.Context(), by, learning.ProductIn[lyceum.MembershipTierID]{In: 2, Product: in})
		if err := errors.Join(e1, e2, e3); err != nil {
			t.Fatal(err)
		}
		storetest.Write(t, store, school, func(tx lyceum.Tx) error {
			end := at.Add(time.Hour)
			held := func(id lyceum.EntitlementID, user lyceum.UserID, p lyceum.Product) lyceum.Entitlement {
				return lyceum.Entitlement{ID: id, User: user, Product: p, StartsAt: at}
			}
			expiring := held(7, 6, in)
			expiring.EndsAt = lyceum.Some(end)
			for user := range lyceum.UserID(8) {
				email := string(rune('a'+user)) + "@example.com"
				if _, err := tx.Users.Save(tx, lyceum.User{ID: user + 1, Email: email, Role: lyceum.Student, CreatedAt: at}); err != nil {
					return err
				}
			}
			_, e1 := tx.Entitlements.Save(tx,
				held(1, 1, download), held(2, 2, in), held(3, 3, tier), held(4, 4, over), // each way
				held(5, 5, download), held(6, 5, in), // one learner, two reasons
				expiring, held(8, 7, in), held(9, 8, over))
			_, e2 := tx.Blocks.Save(tx,
				lyceum.Block{ID: 1, User: 7, Product: download, CreatedAt: at},
				lyceum.Block{ID: 2, User: 8, Product: in, CreatedAt: at})
			return errors.Join(e1, e2)
		})
		downloads := service.DigitalDownloads().Current().Counted(lyceum.DownloadKind)
		collections := service.ProductCollections().Current().Counted(lyceum.CollectionKind)
		want := func(step string, ofDownload, ofCollection int64) {
			t.Helper()
			d, e1 := downloads.Get(t.Context(), by, 1)
			other, e2 := downloads.Get(t.Context(), by, 2)
			c, e3 := collections.Get(t.Context(), by, 1)
			if err := errors.Join(e1, e2, e3); err != nil {
				t.Fatal(err)
			}
			if d.Counts.Holders != ofDownload || other.Counts.Holders != 0 || c.Counts.Holders != ofCollection {
				t.Errorf("%s, %s: %d have the download, %d the other one and %d the collection, want %d, 0 and %d",
					name, step, d.Counts.Holders, other.Counts.Holders, c.Counts.Holders, ofDownload, ofCollection)
			}
		}
		want("open", 6, 5) // the collection: users 2, 4, 5, 6 and 7
		clock.Pass(2 * time.Hour)
		want("after an expiry", 5, 4)
		err := service.CollectionProducts().Remove(t.Context(), by, learning.Removal[lyceum.ProductCollectionID]{
			ProductIn: learning.ProductIn[lyceum.ProductCollectionID]{In: 1, Product: download},
		})
		if err != nil {
			t.Fatal(err)
		}
		want("while its holders keep it", 4, 4)
		if err := service.Settle(t.Context(), school); err != nil {
			t.Fatal(err)
		}
		want("settled", 4, 4)
	}
}
