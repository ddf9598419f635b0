package sqlstore

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// Access is unchanged from before blocks of collections took precedence over what comes with
// them, and no warning is dismissed. Coaching that had begun continues, and bulk jobs can be
// stored.
func TestAccessFromBeforeBlocksOfCollections(t *testing.T) {
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := oldDatabase(t, postgres, 23,
				"INSERT INTO schools (school_id, name, created_at) VALUES (7, 'Fernwood', 0)",
				"INSERT INTO users (school_id, user_id, email, email_key, role, created_at) VALUES (7, 1, 'a@x', 'a@x', 'student', 0), (7, 2, 'b@x', 'b@x', 'student', 0)",
				"INSERT INTO coaching (school_id, coaching_id, name, is_published, is_listed, created_at, updated_at) VALUES (7, 1, 'An hour', 1, 1, 0, 0)",
				"INSERT INTO product_collections (school_id, product_collection_id, name, is_published, is_listed, created_at, updated_at) VALUES (7, 1, 'All', 1, 1, 0, 0)",
				"INSERT INTO collection_products (school_id, collection_product_id, product_collection_id, product_type, product_id, created_at) VALUES (7, 1, 1, 'coaching', 1, 0)",
				"INSERT INTO memberships (school_id, membership_id, name, is_published, created_at, updated_at) VALUES (7, 1, 'Club', 1, 0, 0)",
				"INSERT INTO membership_tiers (school_id, membership_tier_id, membership_id, name, position, is_published, created_at, updated_at) VALUES (7, 1, 1, 'Gold', 1, 1, 0, 0)",
				"INSERT INTO tier_products (school_id, tier_product_id, membership_tier_id, product_type, product_id, created_at) VALUES (7, 1, 1, 'product_collection', 1, 0)",
				"INSERT INTO sales (school_id, sale_id, created_at) VALUES (7, 1, 0)",
				"INSERT INTO sale_warnings (school_id, sale_warning_id, sale_id, code, message, created_at) VALUES (7, 1, 1, 'sold_out', 'sold out', 0)",
				"INSERT INTO entitlements (school_id, entitlement_id, user_id, product_type, product_id, sale_id, imported, starts_at, ends_at, ended_at, end_reason) VALUES "+
					"(7, 1, 1, 'membership_tier', 1, 1, 0, 20, NULL, NULL, NULL), (7, 2, 2, 'membership_tier', 1, NULL, 0, 10, NULL, NULL, NULL)",
				"INSERT INTO blocks (school_id, block_id, user_id, product_type, product_id, created_at) VALUES (7, 1, 2, 'coaching', 1, 0)",
				"INSERT INTO admissions (school_id, admission_id, user_id, coaching_id, sale_id, admitted_at, expires_at, ended_at) VALUES (7, 1, 1, 1, 1, 20, NULL, NULL)",
				"INSERT INTO counters (school_id, name, value) VALUES (0, 'school_id', 7), (7, 'user_id', 2), (7, 'users', 2), (7, 'coaching_id', 1), (7, 'product_collection_id', 1), (7, 'collection_product_id', 1), "+
					"(7, 'membership_id', 1), (7, 'membership_tier_id', 1), (7, 'tier_product_id', 1), (7, 'sale_id', 1), (7, 'sale_warning_id', 1), (7, 'entitlement_id', 2), (7, 'block_id', 1), (7, 'admission_id', 1)",
			)
			v := store.In(t.Context(), 7)
			wantAccess(t, v, "before", "coaching 1 of 1", "membership tier 1 of 1", "membership tier 1 of 2", "product collection 1 of 1", "product collection 1 of 2")
			if w, err := v.SaleWarnings.Get(v, 1); err != nil || w.DismissedAt.Present {
				t.Errorf("%+v, %v", w, err)
			}
			if stay, found, err := v.Admissions.First(v, lyceum.AdmissionFilter{}); err != nil || !found || stay.UserID != 1 || stay.EndedAt.Present {
				t.Errorf("%+v, %v", stay, err)
			}
			if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("check: %v, %v", findings, err)
			}
			err := store.Write(t.Context(), lyceum.Stamp{School: 7, Actor: "test"}, func(tx lyceum.Tx) error {
				id, err := tx.Blocks.NextID(tx)
				if err != nil {
					return err
				}
				job := lyceum.BulkJob{ID: 1, Action: lyceum.BulkAddTags, Tags: []string{"vip"}, State: lyceum.BulkDraft, Actor: "test", Rows: 1}
				part := lyceum.BulkPart{ID: 1, Job: 1, Rows: []lyceum.BulkRow{{User: 1, Ends: []lyceum.SaleID{1}}}}
				if err := errors.Join(tx.BulkJobs.Insert(tx, job), tx.BulkParts.Insert(tx, part)); err != nil {
					return err
				}
				return tx.Blocks.Insert(tx, lyceum.Block{ID: id, User: 1, Product: lyceum.Product{Kind: lyceum.CollectionKind, ID: 1}})
			})
			if err != nil {
				t.Fatal(err)
			}
			wantAccess(t, v, "with a block of the collection", "membership tier 1 of 1", "membership tier 1 of 2", "product collection 1 of 2")
		})
	}
}

// wantAccess checks what users may use, such as "course 1 of 7".
func wantAccess(t *testing.T, v lyceum.View, step string, want ...string) {
	t.Helper()
	var got []string
	err := v.Access.Each(v, lyceum.EntitlementFilter{Open: true}, func(e *lyceum.Entitlement) error {
		got = append(got, fmt.Sprintf("%s of %d", e.Product, e.User))
		return nil
	})
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q: %v", step, got, want, err)
	}
}
