package storetest

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
)

// begunEnrollments checks that an enrollment begins only once, and only for an existing user and
// course, and that progress begins with it.
func begunEnrollments(t *testing.T, store lyceum.Store) {
	school, _ := MakeClassroom(t, store, "ours")
	MakeClassroom(t, store, "theirs")
	for name, tc := range map[string]struct {
		user    lyceum.UserID
		course  lyceum.CourseID
		entries []lyceum.EntryType // nil if it does not begin
	}{
		"of nobody":             {99, 4, nil},
		"in no course":          {2, 99, nil},
		"in one that goes on":   {2, 1, nil},
		"in one that expired":   {3, 1, nil},
		"the first in a course": {2, 4, []lyceum.EntryType{lyceum.EnrollmentCreated, lyceum.ProgressCreated}},
		"after progress":        {5, 3, []lyceum.EntryType{lyceum.EnrollmentCreated}},
	} {
		Write(t, store, school, func(tx lyceum.Tx) error {
			_, err := tx.Progress.Save(tx, lyceum.Progress{ID: 77, User: 5, Course: 3, PercentComplete: 50})
			return err
		})
		var begun bool
		var entries []lyceum.EntryType
		Write(t, store, school, func(tx lyceum.Tx) (err error) {
			id, err := tx.Enrollments.NextID(tx)
			if err != nil {
				return err
			}
			row := lyceum.Enrollment{ID: id, User: tc.user, Course: tc.course, EnrolledAt: Day(9)}
			begun, err = tx.BeginEnrollment(row)
			entries = nil
			for _, e := range tx.Entries() {
				entries = append(entries, e.Type)
			}
			if err != nil || !begun {
				return err
			}
			return Enroll(tx, row)
		})
		if diff := gocmp.Diff(tc.entries, entries); diff != "" || begun != (tc.entries != nil) {
			t.Errorf("%s: begun %v (-want +got):\n%s", name, begun, diff)
		}
	}
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

// rowsOfUsers checks that the rows of several users are found in one query, in the same order.
func rowsOfUsers(t *testing.T, store lyceum.Store) {
	school, _ := MakeClassroom(t, store, "ours")
	MakeClassroom(t, store, "theirs")
	v := store.In(t.Context(), school)
	for name, tc := range map[string]struct {
		users                                    []lyceum.UserID
		enrollments, progress, lectures, answers []int32
	}{
		"nobody":   {[]lyceum.UserID{}, nil, nil, nil, nil},
		"one":      {[]lyceum.UserID{5}, []int32{6}, []int32{2}, []int32{2, 3, 4}, []int32{2}},
		"three":    {[]lyceum.UserID{5, 2, 99}, []int32{2, 5, 7, 6}, []int32{1, 4, 2}, []int32{1, 2, 3, 4}, []int32{1, 3, 2}},
		"everyone": {nil, []int32{1, 2, 3, 4, 5, 6, 7, 8}, []int32{1, 2, 3, 4}, []int32{1, 2, 3, 4}, []int32{1, 2, 3, 4}},
	} {
		var enrollments, progress, lectures, answers []int32
		for _, read := range []func() error{
			func() error {
				return v.Enrollments.Each(v, lyceum.EnrollmentFilter{Users: tc.users},
					collectIDs(&enrollments, func(e *lyceum.Enrollment) int32 { return int32(e.ID) }))
			},
			func() error {
				return v.Progress.Each(v, lyceum.ProgressFilter{Users: tc.users},
					collectIDs(&progress, func(p *lyceum.Progress) int32 { return int32(p.ID) }))
			},
			func() error {
				return v.LectureProgress.Each(v, lyceum.LectureProgressFilter{Users: tc.users},
					collectIDs(&lectures, func(p *lyceum.LectureProgress) int32 { return int32(p.ID) }))
			},
			func() error {
				return v.QuizResponses.Each(v, lyceum.QuizResponseFilter{Users: tc.users},
					collectIDs(&answers, func(r *lyceum.QuizResponse) int32 { return int32(r.ID) }))
			},
		} {
			if err := read(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(enrollments, tc.enrollments) || !slices.Equal(progress, tc.progress) ||
			!slices.Equal(lectures, tc.lectures) || !slices.Equal(answers, tc.answers) {
			t.Errorf("%s: enrollments %v, progress %v, lecture progress %v, responses %v",
				name, enrollments, progress, lectures, answers)
		}
	}
}

func collectIDs[T any](into *[]int32, id func(*T) int32) func(*T) error {
	return func(row *T) error {
		*into = append(*into, id(row))
		return nil
	}
}

// clearedEnrollments checks that the total of a course is updated when enrollments are deleted.
func clearedEnrollments(t *testing.T, store lyceum.Store) {
	school, _ := MakeClassroom(t, store, "ours")
	Crowd(t, store, school, 4, 1000, 30)
	var n int
	Write(t, store, school, func(tx lyceum.Tx) (err error) {
		n, err = tx.Enrollments.Clear(tx, lyceum.EnrollmentFilter{Users: []lyceum.UserID{1000, 1003, 1004}})
		if err != nil {
			return err
		}
		of := lyceum.EntitlementFilter{Users: []lyceum.UserID{1000, 1003, 1004, 1029}}
		if _, err := tx.Entitlements.Clear(tx, of); err != nil {
			return err
		}
		return tx.Enrollments.Delete(tx, 1029)
	})
	if n != 3 {
		t.Errorf("%d were deleted", n)
	}
	v := store.In(t.Context(), school)
	listing, err := v.FindEnrolled(lyceum.EnrolledFilter{Course: 4, ActiveAt: Day(10)}, lyceum.Page{Number: 1, Size: 100})
	if err != nil || listing.Total != 26 || len(listing.Rows) != 26 {
		t.Errorf("total %d of %d rows, %v", listing.Total, len(listing.Rows), err)
	}
	Crowd(t, store, school, 4, 2000, 100)
	few := make([]lyceum.UserID, 64)
	for i := range few {
		few[i] = lyceum.UserID(2000 + i)
	}
	course := lyceum.EnrollmentFilter{Course: lyceum.Some(lyceum.CourseID(4))}
	for _, tc := range []struct {
		of         lyceum.EnrollmentFilter
		want, left int
	}{
		{lyceum.EnrollmentFilter{Users: few}, 64, 62},
		{lyceum.EnrollmentFilter{Users: few}, 0, 62},
		{course, 62, 0},
	} {
		Write(t, store, school, func(tx lyceum.Tx) (err error) {
			n, err = tx.Enrollments.Clear(tx, tc.of)
			return err
		})
		left, err := lyceum.All(v.Enrollments, v, course)
		if err != nil || n != tc.want || len(left) != tc.left {
			t.Errorf("%d were deleted, %d are left, want %d and %d, %v", n, len(left), tc.want, tc.left, err)
		}
	}
	Write(t, store, school, func(tx lyceum.Tx) (err error) {
		if _, err := tx.Enrollments.Clear(tx, lyceum.EnrollmentFilter{}); err != nil {
			return err
		}
		n, err = tx.Entitlements.Clear(tx, lyceum.EntitlementFilter{})
		return err
	})
	if n <= 100 {
		t.Errorf("%d entitlements were deleted", n)
	}
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}
