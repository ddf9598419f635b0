package intake_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

// allocated returns how many bytes of memory were ever allocated. What a call adds to it is an
// upper bound of the memory that it used at any time.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// school is a sink that stores rows in memory and rejects those that refuse names a column of.
type school[T comparable] struct {
	id            func(T) int32
	rows          map[int32]T
	refuse        func(T) string // returns the column at fault, or ""
	checks, saves int
	largest       int
	onSave        func() error
}

func newSchool[T comparable](id func(T) int32) *school[T] {
	return &school[T]{id: id, rows: map[int32]T{}}
}

func (s *school[T]) problems(batch []T) (refused []lyceum.RowProblem) {
	s.largest = max(s.largest, len(batch))
	for i, v := range batch {
		if s.refuse == nil {
			break
		}
		if column := s.refuse(v); column != "" {
			refused = append(refused, lyceum.RowProblem{Index: i, FieldError: lyceum.FieldError{Field: column, Message: "is not known"}})
		}
	}
	return refused
}

func (s *school[T]) Check(_ context.Context, batch []T) ([]lyceum.RowProblem, error) {
	s.checks++
	return s.problems(batch), nil
}

func (s *school[T]) Save(_ context.Context, batch []T) (saved lyceum.Saved, refused []lyceum.RowProblem, err error) {
	s.saves++
	if s.onSave != nil {
		if err := s.onSave(); err != nil {
			return saved, nil, err
		}
	}
	refused = s.problems(batch)
	for i, v := range batch {
		if slices.ContainsFunc(refused, func(r lyceum.RowProblem) bool { return r.Index == i }) {
			continue
		}
		switch old, ok := s.rows[s.id(v)]; {
		case !ok:
			saved.Created++
		case old == v:
			saved.Unchanged++
		default:
			saved.Updated++
		}
		s.rows[s.id(v)] = v
	}
	return saved, refused, nil
}

func userSchool() *school[lyceum.User] {
	return newSchool(func(u lyceum.User) int32 { return int32(u.ID) })
}

func fileOf(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// imported imports users, and also returns the reported problems.
func imported(text string, sink intake.Sink[lyceum.User], o intake.Options) (intake.Result, string, error) {
	var reported []string
	o.Problem = func(p intake.Problem) {
		reported = append(reported, fmt.Sprintf("%d %s: %s", p.Line, p.Column, cut(p.Message)))
	}
	result, err := intake.Import(context.Background(), fileOf(text), intake.Users(), sink, o)
	return result, strings.Join(reported, "\n"), err
}

const mixedUsers = "id,email,x\n1,a@x,\n0,b@x,\n3,c@x,\n4,refused@x,\n5,e@x,\n6,,\n3,g@x,\n8,A@X,\n9,h@x,\n"

const mixedProblems = "3 id: must be an integer\n5 email: is not known\n7 email: must not be empty\n8 id: appears twice in the\n9 email: appears twice in the"

func refuseByEmail(u lyceum.User) string {
	if strings.HasPrefix(u.Email, "refused") {
		return "email"
	}
	return ""
}

func TestImportPolicies(t *testing.T) {
	for _, size := range []int{0, 1, 2, 3, 4} {
		stop := userSchool()
		stop.refuse = refuseByEmail
		result, reported, err := imported(mixedUsers, stop, intake.Options{BatchSize: size})
		wantInvalid(t, err, "5 of 9 rows are not valid; nothing was imported. Correct them, or import the others with --on-error skip")
		if reported != mixedProblems || result.Rows != 9 || result.Bad != 5 || stop.saves != 0 || !slices.Equal(result.Ignored, []string{"x"}) {
			t.Errorf("stop by %d: %+v, %d saves\n%s", size, result, stop.saves, reported)
		}

		skip := userSchool()
		skip.refuse = refuseByEmail
		result, reported, err = imported(mixedUsers, skip, intake.Options{OnError: intake.Skip, BatchSize: size})
		if err != nil || reported != mixedProblems || result.Rows != 9 || result.Bad != 5 || result.Saved != (lyceum.Saved{Created: 4}) || skip.checks != 0 {
			t.Errorf("skip by %d: %+v, %v\n%s", size, result, err, reported)
		}
		if len(skip.rows) != 4 || skip.rows[3].Email != "c@x" || skip.rows[9].Email != "h@x" {
			t.Errorf("skip by %d kept %v", size, skip.rows)
		}

		again, _, err := imported(mixedUsers, skip, intake.Options{OnError: intake.Skip, BatchSize: size})
		if err != nil || again.Saved != (lyceum.Saved{Unchanged: 4}) {
			t.Errorf("again by %d: %+v, %v", size, again, err)
		}
	}
}

func TestDryRun(t *testing.T) {
	for _, policy := range []intake.Policy{intake.Stop, intake.Skip} {
		sink := userSchool()
		result, _, err := imported("id,email\n1,a@x\n2,b@x\n", sink, intake.Options{DryRun: true, OnError: policy})
		if err != nil || result.Rows != 2 || result.Bad != 0 || sink.saves != 0 || sink.checks != 1 {
			t.Errorf("good file: %+v, %v", result, err)
		}
		result, reported, err := imported(mixedUsers, sink, intake.Options{DryRun: true, OnError: policy})
		if (err != nil) != (policy == intake.Stop) || result.Bad != 4 || strings.Count(reported, "\n") != 3 || sink.saves != 0 {
			t.Errorf("bad file: %+v, %v", result, err)
		}
	}
}

func TestImportEmpty(t *testing.T) {
	sink := userSchool()
	_, _, err := imported("", sink, intake.Options{})
	wantInvalid(t, err, "the file is empty", "nothing was imported")
	for _, none := range []string{"", "\n\n", string(zipped(t, ""))} {
		for _, policy := range []intake.Policy{intake.Stop, intake.Skip} {
			if result, reported, err := imported(none, sink, intake.Options{JSON: true, OnError: policy}); err != nil || result.Rows != 0 || reported != "" {
				t.Errorf("JSON of no rows: %+v, %s, %v", result, reported, err)
			}
		}
	}
	_, _, err = imported("id\n", sink, intake.Options{JSON: true})
	wantInvalid(t, err, "lacks email")
	result, _, err := imported("id,email\n", sink, intake.Options{})
	if err != nil || result.Rows != 0 || sink.saves != 0 {
		t.Errorf("header alone: %+v, %v", result, err)
	}
	lost := errors.New("no such file")
	_, err = intake.Import(t.Context(), func() (io.ReadCloser, error) { return nil, lost }, intake.Users(), sink, intake.Options{})
	if !errors.Is(err, lost) {
		t.Error(err)
	}
}

// TestRepeated checks that an id or email address belongs to the first good row that has it,
// whether the reader or the sink rejected those before it.
func TestRepeated(t *testing.T) {
	rows := []string{
		"1,not an address", "1,refused1@x", "1,refused2@x", "1,a@x", "1,b@x", // lines 2 to 6
		"2,A@x", "2,refused3@x", "3,c@x", "2,C@X", "2,d@x", // lines 7 to 11
		"0,e@x", "5,E@x", "6,ÉLODIE@x", "7,élodie@x", // lines 12 to 15
	}
	const want = "2 email: must be an e-mail\n3 email: is not known\n4 email: is not known\n6 id: appears twice in the\n" +
		"7 email: appears twice in the\n8 email: is not known\n10 email: appears twice in the\n12 id: must be an integer\n15 email: appears twice in the"
	for size := 1; size < 20; size++ {
		sink := userSchool()
		sink.refuse = refuseByEmail
		result, reported, err := imported("id,email\n"+strings.Join(rows, "\n"), sink, intake.Options{OnError: intake.Skip, BatchSize: size})
		if err != nil || reported != want || result.Bad != 9 || result.Saved.Created != 5 {
			t.Errorf("by %d: %+v, %v\n%s", size, result, err, reported)
		}
		if sink.rows[1].Email != "a@x" || sink.rows[2].Email != "d@x" {
			t.Errorf("by %d kept %v", size, sink.rows)
		}
	}
}

func TestImportBreaksOff(t *testing.T) {
	var file strings.Builder
	file.WriteString("id,email\n")
	for i := range 5000 {
		fmt.Fprintf(&file, "%d,u%d@x\n", i+1, i+1)
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		sink := userSchool()
		sink.onSave = func() error {
			if sink.saves == 3 {
				cancel()
			}
			return nil
		}
		result, err := intake.Import(ctx, fileOf(file.String()), intake.Users(), sink, intake.Options{})
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "3,000 rows were imported before that") || result.Saved.Total() != 3000 {
			t.Errorf("%+v, %v", result, err)
		}
		result, err = intake.Import(t.Context(), fileOf(file.String()), intake.Users(), sink, intake.Options{})
		if err != nil || result.Saved != (lyceum.Saved{Created: 2000, Unchanged: 3000}) {
			t.Errorf("resumed: %+v, %v", result, err)
		}
	})
	t.Run("store fails", func(t *testing.T) {
		const unsure = "the database did not confirm the rows that were stored last, so it is unknown whether they were saved"
		for _, tc := range []struct {
			fails int // the save that fails
			with  lyceum.Error
			want  string
		}{
			{1, lyceum.Error{Kind: lyceum.Unavailable, Detail: "it is full"}, "it is full; nothing was imported"},
			{2, lyceum.Error{Kind: lyceum.Unavailable, Detail: "it is full"}, "it is full; 1,000 rows were imported before that; repeat the import to continue"},
			{1, lyceum.Error{Kind: lyceum.Unavailable, Code: lyceum.OutcomeUnknown, Detail: "use the same Idempotency-Key"}, unsure + "; 0 rows were imported before that; repeat the import to continue"},
			{2, lyceum.Error{Kind: lyceum.Unavailable, Code: lyceum.OutcomeUnknown, Detail: "use the same Idempotency-Key"}, unsure + "; 1,000 rows were imported before that; repeat the import to continue"},
			{2, lyceum.Error{Kind: lyceum.Conflict, Detail: "it has one"}, "it has one; 1,000 rows were imported before that; correct the file and import it again"},
		} {
			sink := userSchool()
			sink.onSave = func() error {
				if sink.saves == tc.fails {
					return &tc.with
				}
				return nil
			}
			_, err := intake.Import(t.Context(), fileOf(file.String()), intake.Users(), sink, intake.Options{OnError: intake.Skip})
			if lyceum.KindOf(err) != tc.with.Kind || lyceum.Public(err).Detail != tc.want {
				t.Errorf("%v, want %s", err, tc.want)
			}
		}
	})
	t.Run("file ends in the middle", func(t *testing.T) {
		whole := zipped(t, file.String())
		open := fileOf(string(whole[:len(whole)-9]))
		for policy, saved := range map[intake.Policy]bool{intake.Stop: false, intake.Skip: true} {
			sink := userSchool()
			result, err := intake.Import(t.Context(), open, intake.Users(), sink, intake.Options{OnError: policy})
			wantInvalid(t, err, "the gzip data ends too early")
			if (len(sink.rows) > 0) != saved || len(sink.rows) != result.Saved.Created || strings.Contains(err.Error(), "nothing was imported") == saved {
				t.Errorf("%d rows, %v", len(sink.rows), err)
			}
		}
	})
	t.Run("list is broken", func(t *testing.T) {
		sink := userSchool()
		result, reported, err := imported("["+ann+",\n"+bob+",\n}", sink, intake.Options{OnError: intake.Skip})
		wantInvalid(t, err, "line 3 at column 1", "2 rows were imported before that")
		if result.Rows != 3 || result.Bad != 1 || reported != "3 : is not valid JSON" {
			t.Errorf("%+v %s", result, reported)
		}
	})
}

func TestChangedBetweenPasses(t *testing.T) {
	refuse := false
	sink := userSchool()
	sink.refuse = func(u lyceum.User) string {
		if refuse && u.ID == 2 {
			return "id"
		}
		return ""
	}
	sink.onSave = func() error { refuse = true; return nil }
	result, reported, err := imported("id,email\n1,a@x\n2,b@x\n3,c@x\n4,d@x\n", sink, intake.Options{BatchSize: 2})
	if lyceum.KindOf(err) != lyceum.Conflict || reported != "3 id: is not known" || result.Bad != 1 || len(sink.rows) != 1 {
		t.Errorf("school changed: %+v, %v, %s", result, err, reported)
	}

	opened := 0
	files := []string{"id,email\n1,a@x\n", "id,email\n1,a@x\n2,\n"}
	open := func() (io.ReadCloser, error) { opened++; return fileOf(files[opened-1])() }
	sink = userSchool()
	_, err = intake.Import(t.Context(), open, intake.Users(), sink, intake.Options{})
	if lyceum.KindOf(err) != lyceum.Conflict || len(sink.rows) != 0 || opened != 2 {
		t.Errorf("file changed: %v, %d rows", err, len(sink.rows))
	}
}

func TestSinkOutOfRange(t *testing.T) {
	sink := outOfRange{}
	if _, _, err := imported("id,email\n1,a@x\n", sink, intake.Options{}); err == nil || lyceum.KindOf(err) != lyceum.Internal {
		t.Error(err)
	}
}

type outOfRange struct{}

func (outOfRange) Check(_ context.Context, batch []lyceum.User) ([]lyceum.RowProblem, error) {
	return []lyceum.RowProblem{{Index: len(batch)}}, nil
}

func (outOfRange) Save(context.Context, []lyceum.User) (lyceum.Saved, []lyceum.RowProblem, error) {
	return lyceum.Saved{}, nil, os.ErrInvalid
}

func TestProgress(t *testing.T) {
	var file strings.Builder
	file.WriteString("id,email\n")
	for i := range 2500 {
		fmt.Fprintf(&file, "%d,u%d@x\n", i+1, i+1)
	}
	var got []string
	o := intake.Options{Progress: func(p intake.Progress) {
		got = append(got, fmt.Sprintf("%s %d", p.Phase, p.Rows))
		if p.Bytes != int64(file.Len()) {
			t.Errorf("%d of %d bytes", p.Bytes, file.Len())
		}
	}}
	sink := userSchool()
	if _, err := intake.Import(t.Context(), fileOf(file.String()), intake.Users(), sink, o); err != nil {
		t.Fatal(err)
	}
	want := []string{"checking 1000", "checking 2000", "checking 2500", "importing 1000", "importing 2000", "importing 2500"}
	if !slices.Equal(got, want) || sink.largest != 1000 {
		t.Errorf("%q, batches up to %d", got, sink.largest)
	}
}
