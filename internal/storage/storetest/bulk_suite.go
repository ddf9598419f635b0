package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

// usersByWhatTheyHave checks filters for users with a tag and for users who may use a product.
func usersByWhatTheyHave(t *testing.T, store lyceum.Store) {
	school := MakeSchool(t, store)
	now := Begin.Add(time.Hour)
	product := func(kind lyceum.ProductKind) lyceum.Product { return lyceum.Product{Kind: kind, ID: 1} }
	course, talk, file := product(lyceum.CourseKind), product(lyceum.CoachingKind), product(lyceum.DownloadKind)
	bundle, tier := product(lyceum.CollectionKind), product(lyceum.TierKind)
	Write(t, store, school, func(tx lyceum.Tx) error {
		var failed []error
		keep := func(_ lyceum.Saved, err error) { failed = append(failed, err) }
		for id := range lyceum.UserID(9) {
			keep(tx.Users.Save(tx, user(id+1)))
		}
		keep(tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Pottery", CreatedAt: Begin, UpdatedAt: Begin}))
		keep(tx.Coaching.Save(tx, lyceum.Coaching{ID: 1, Name: "An hour", CreatedAt: Begin, UpdatedAt: Begin}))
		keep(tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "All", CreatedAt: Begin, UpdatedAt: Begin}))
		keep(tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: 1, In: 1, Product: course, CreatedAt: Begin},
			lyceum.CollectionProduct{ID: 2, In: 1, Product: talk, CreatedAt: Begin}))
		keep(tx.Memberships.Save(tx, lyceum.Membership{ID: 1, Name: "Club", CreatedAt: Begin, UpdatedAt: Begin}))
		keep(tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "Gold", Position: 1, CreatedAt: Begin, UpdatedAt: Begin}))
		keep(tx.TierProducts.Save(tx, lyceum.TierProduct{ID: 1, In: 1, Product: bundle, CreatedAt: Begin}))
		for id, held := range []lyceum.Entitlement{
			1: {Product: course}, 2: {Product: bundle}, 3: {Product: tier}, 4: {Product: file},
			5: {Product: course, EndsAt: lyceum.Some(now)},
			6: {Product: tier, EndedAt: lyceum.Some(Begin), EndReason: lyceum.Some(lyceum.EndedByRefund)},
			7: {Product: tier}, 8: {Product: tier, EndsAt: lyceum.Some(now.Add(time.Second))},
		} {
			if id == 0 {
				continue
			}
			held.ID, held.User, held.StartsAt = lyceum.EntitlementID(id), lyceum.UserID(id), Begin
			keep(tx.Entitlements.Save(tx, held))
		}
		_, err := tx.BeginEnrollment(lyceum.Enrollment{ID: 1, User: 1, Course: 1, EnrolledAt: Begin})
		_, more := tx.BeginEnrollment(lyceum.Enrollment{ID: 2, User: 5, Course: 1, EnrolledAt: Begin, ExpiresAt: lyceum.Some(now)})
		keep(tx.Blocks.Save(tx, lyceum.Block{ID: 1, User: 7, Product: bundle, CreatedAt: Begin},
			lyceum.Block{ID: 2, User: 2, Product: talk, CreatedAt: Begin}))
		_, tagged := tx.SetTags(2, []string{"vip"})
		_, again := tx.SetTags(9, []string{"vip", "new"})
		return errors.Join(append(failed, err, more, tagged, again)...)
	})
	vip := lyceum.Some("vip")
	for _, row := range []struct {
		f    lyceum.UserFilter
		want string
	}{
		{lyceum.UserFilter{Tag: vip}, "[2 9]"},
		{lyceum.UserFilter{Tag: lyceum.Some("VIP")}, "[]"},
		{lyceum.UserFilter{Product: lyceum.Some(course), AccessAt: now}, "[1 2 3 8]"},
		{lyceum.UserFilter{Product: lyceum.Some(course), AccessAt: now.Add(time.Second)}, "[1 2 3]"},
		{lyceum.UserFilter{Product: lyceum.Some(talk), AccessAt: now}, "[3 8]"},
		{lyceum.UserFilter{Product: lyceum.Some(bundle), AccessAt: now}, "[2 3 8]"},
		{lyceum.UserFilter{Product: lyceum.Some(tier), AccessAt: now}, "[3 7 8]"},
		{lyceum.UserFilter{Product: lyceum.Some(file), AccessAt: now}, "[4]"},
		{lyceum.UserFilter{Tag: vip, Product: lyceum.Some(course), AccessAt: now}, "[2]"},
		{lyceum.UserFilter{Product: lyceum.Some(lyceum.CourseID(2).Product()), AccessAt: now}, "[]"},
	} {
		v := store.In(t.Context(), school)
		list, err := v.UserSummaries.List(v, row.f, lyceum.Page{Number: 1, Size: 20})
		ids := []lyceum.UserID{}
		for _, u := range list.Rows {
			ids = append(ids, u.ID)
		}
		if err != nil || fmt.Sprint(ids) != row.want || list.Total != int64(len(ids)) {
			t.Errorf("%+v: %v of %d, want %s: %v", row.f, ids, list.Total, row.want, err)
		}
	}
}

// bulkJobs checks that bulk jobs are stored, and which schools have jobs to do.
func bulkJobs(t *testing.T, store lyceum.Store) {
	ours, theirs := MakeSchool(t, store), MakeSchool(t, store)
	jobs := []lyceum.BulkJob{
		{
			ID: 1, Action: lyceum.BulkUnenroll, Product: lyceum.Some(lyceum.CourseID(1).Product()), Tags: []string{}, State: lyceum.BulkBroken, Actor: "api_key:1",
			Rows: 60, Expected: lyceum.BulkCounts{Done: 1, Unchanged: 2, Failed: 3, EndedSales: 4}, Access: lyceum.AccessCount{Losing: 5, Keeping: 6, Gaining: 7},
			Results: lyceum.BulkCounts{Done: 8, Unchanged: 9, Failed: 10, EndedSales: 11}, Problem: lyceum.Some("no"),
			CreatedAt: Begin, StartedAt: lyceum.Some(Begin.Add(time.Minute)), EndedAt: lyceum.Some(Begin.Add(2 * time.Minute)), EndsAt: lyceum.Some(Begin.Add(3 * time.Minute)),
		},
		{ID: 2, Action: lyceum.BulkAddTags, Tags: []string{"é", ""}, State: lyceum.BulkDraft, Actor: "user:1", Rows: 1, CreatedAt: Begin.Add(2 * time.Second)},
	}
	parts := []lyceum.BulkPart{
		{ID: 1, Job: 1, Rows: []lyceum.BulkRow{{User: 1, Email: "a@x", Line: 2, Expected: lyceum.BulkDone, Result: lyceum.BulkDone, Ends: []lyceum.SaleID{3}}, {Settled: true}}},
		{ID: 2, Job: 1, Number: 1, Rows: []lyceum.BulkRow{{User: 2, Message: "\u0000 <&>"}}},
		{ID: 3, Job: 2, Rows: []lyceum.BulkRow{{User: 4}}},
	}
	Write(t, store, ours, func(tx lyceum.Tx) error {
		return errors.Join(tx.BulkJobs.Insert(tx, jobs...), tx.BulkParts.Insert(tx, parts...))
	})
	v := store.In(t.Context(), ours)
	for _, job := range jobs {
		if got, err := v.BulkJobs.Get(v, job.ID); err != nil || cmp.Diff(job, got) != "" {
			t.Errorf("job differs: %v\n%s", err, cmp.Diff(job, got))
		}
	}
	for _, row := range []struct {
		f    lyceum.BulkPartFilter
		want []lyceum.BulkPart
	}{
		{lyceum.BulkPartFilter{Job: 1}, parts[:2]},
		{lyceum.BulkPartFilter{Job: 1, From: 1}, parts[1:2]},
		{lyceum.BulkPartFilter{Job: 2}, parts[2:]},
		{lyceum.BulkPartFilter{Job: 3}, nil},
	} {
		if got, err := lyceum.All(v.BulkParts, v, row.f); err != nil || cmp.Diff(row.want, got) != "" {
			t.Errorf("%+v: %v\n%s", row.f, err, cmp.Diff(row.want, got))
		}
	}
	listedJobs(t, store, ours)
	other := store.In(t.Context(), theirs)
	if list, err := lyceum.All(other.BulkJobs, other, lyceum.BulkJobFilter{}); err != nil || len(list) > 0 {
		t.Errorf("another school has %v: %v", list, err)
	}
	busyWith(t, store, ours)
}

func listedJobs(t *testing.T, store lyceum.Store, school lyceum.SchoolID) {
	t.Helper()
	v := store.In(t.Context(), school)
	for _, row := range []struct {
		f    lyceum.BulkJobFilter
		want string
	}{
		{lyceum.BulkJobFilter{}, "[1 2]"},
		{lyceum.BulkJobFilter{Newest: true}, "[2 1]"},
		{lyceum.BulkJobFilter{States: []lyceum.BulkState{lyceum.BulkDraft, lyceum.BulkRunning}}, "[2]"},
		{lyceum.BulkJobFilter{Before: lyceum.Some(Begin)}, "[]"},
		{lyceum.BulkJobFilter{Before: lyceum.Some(Begin.Add(time.Second))}, "[1]"},
	} {
		list, err := lyceum.All(v.BulkJobs, v, row.f)
		ids := []lyceum.BulkJobID{}
		for _, job := range list {
			ids = append(ids, job.ID)
		}
		if err != nil || fmt.Sprint(ids) != row.want {
			t.Errorf("%+v: %v, want %s: %v", row.f, ids, row.want, err)
		}
	}
}

func busyWith(t *testing.T, store lyceum.Store, school lyceum.SchoolID) {
	t.Helper()
	for _, row := range []struct {
		name              string
		state             lyceum.BulkState
		unstarted, others time.Time
		busy              bool
	}{
		{"kept", lyceum.BulkDraft, Begin, Begin, false},
		{"a draft of before", lyceum.BulkDraft, Begin.Add(3 * time.Second), Begin, true},
		{"a failed one of before", lyceum.BulkDraft, Begin, Begin.Add(time.Second), true},
		{"running", lyceum.BulkRunning, Begin, Begin, true},
		{"preparing", lyceum.BulkPreparing, Begin, Begin, true},
		{"canceled", lyceum.BulkCanceled, Begin.Add(3 * time.Second), Begin, false},
	} {
		Write(t, store, school, func(tx lyceum.Tx) error {
			job, err := tx.BulkJobs.Get(tx, 2)
			job.State = row.state
			return errors.Join(err, tx.BulkJobs.Update(tx, job))
		})
		got, err := store.FindBulkSchools(t.Context(), row.unstarted, row.others)
		if err != nil || slices.Contains(got, school) != row.busy {
			t.Errorf("%s: %v are busy: %v", row.name, got, err)
		}
	}
}

// dismissedWarnings checks filters for warnings that were dismissed.
func dismissedWarnings(t *testing.T, store lyceum.Store) {
	school := MakeShop(t, store)
	Write(t, store, school, func(tx lyceum.Tx) error {
		_, e1 := tx.Sales.Save(tx, lyceum.Sale{ID: 1, UserID: lyceum.Some(lyceum.UserID(1)), CreatedAt: Begin})
		_, e2 := tx.SaleWarnings.Save(tx, lyceum.SaleWarning{ID: 1, SaleID: 1, Code: "sold_out", CreatedAt: Begin},
			lyceum.SaleWarning{ID: 2, SaleID: 1, Code: "archived", CreatedAt: Begin, DismissedAt: lyceum.Some(Begin.Add(time.Hour))})
		return errors.Join(e1, e2)
	})
	v := store.In(t.Context(), school)
	for want, f := range map[string]lyceum.SaleWarningFilter{
		"[1 2]": {}, "[1]": {Dismissed: lyceum.Some(false)}, "[2]": {Dismissed: lyceum.Some(true)}, "[2 1]": {Newest: true},
	} {
		list, err := lyceum.All(v.SaleWarnings, v, f)
		ids := []lyceum.SaleWarningID{}
		for _, w := range list {
			ids = append(ids, w.ID)
		}
		if err != nil || fmt.Sprint(ids) != want {
			t.Errorf("%+v: %v, want %s: %v", f, ids, want, err)
		}
	}
}
