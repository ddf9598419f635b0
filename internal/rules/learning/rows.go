package learning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/lyceum-school/lyceum"
)

// Rows takes rows of one kind in, batch by batch. A row that is there already,
// by id, is brought up to date; the same batch twice changes nothing. What a
// row names must be there.
type Rows[T any] struct {
	service *Service
	by      lyceum.By
	shape   shape[T]
}

// shape is what is particular about a kind of rows.
type shape[T any] struct {
	what  string // as in "import lectures"
	names []reference[T]
	// look tells what else is wrong with the rows, and may put them right. It
	// runs before save, in the same transaction.
	look func(tx lyceum.Tx, rows []T) ([]lyceum.RowProblem, error)
	save func(tx lyceum.Tx, rows []T, now time.Time) (lyceum.Saved, error)
	// earlier is where look finds what matters of the good rows of the batches that were
	// checked before: nil where rows do not depend on those before them.
	earlier earlier[T]
}

// earlier keeps what a check of the next batches has to know of rows that are not stored yet.
type earlier[T any] interface {
	add(rows []T)
	forget()
}

// reference is something that a row names.
type reference[T any] struct {
	field, what string
	seq         lyceum.Sequence
	id          func(*T) int32 // 0 names nothing
}

// file names the kind of rows that what is named comes in.
func (r *reference[T]) file() string {
	if r.seq == lyceum.QuizSequence {
		return "attachments"
	}
	return r.what + "s"
}

// errChecked takes a transaction back that was there to look.
var errChecked = errors.New("checked")

// Check tells which rows of a batch cannot be kept, and keeps none.
func (r *Rows[T]) Check(ctx context.Context, batch []T) ([]lyceum.RowProblem, error) {
	var good []T
	_, problems, err := r.run(ctx, batch, func(rows []T) error {
		good = rows
		return errChecked
	})
	if !errors.Is(err, errChecked) {
		return problems, err
	}
	if r.shape.earlier != nil {
		r.shape.earlier.add(good)
	}
	return problems, nil
}

// Save keeps the rows of a batch that have no problem, all in one write, and
// gives the problems of the others.
func (r *Rows[T]) Save(ctx context.Context, batch []T) (lyceum.Saved, []lyceum.RowProblem, error) {
	if r.shape.earlier != nil { // from now on it is in the database
		r.shape.earlier.forget()
	}
	saved, problems, err := r.run(ctx, batch, func([]T) error { return nil })
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import %s: %w", r.shape.what, err)
	}
	return saved, problems, nil
}

func (r *Rows[T]) run(
	ctx context.Context, batch []T, end func(good []T) error,
) (saved lyceum.Saved, problems []lyceum.RowProblem, err error) {
	now := r.service.clock()
	err = r.service.store.Write(ctx, r.by.StampMany(now), func(tx lyceum.Tx) error {
		rows := append([]T(nil), batch...)
		if problems, err = r.unknown(tx, rows); err != nil {
			return err
		}
		if r.shape.look != nil {
			good, places := withPlaces(rows, problems)
			more, err := r.shape.look(tx, good)
			if err != nil {
				return err
			}
			for i, place := range places {
				rows[place] = good[i]
			}
			for _, p := range more {
				p.Index = places[p.Index]
				problems = append(problems, p)
			}
		}
		good := lyceum.WithoutProblems(rows, problems)
		if saved, err = r.shape.save(tx, good, now); err != nil {
			return err
		}
		return end(good)
	})
	return saved, problems, err
}

// withPlaces gives the rows that have no problem, and where they stand.
func withPlaces[T any](rows []T, problems []lyceum.RowProblem) (good []T, places []int) {
	bad := map[int]bool{}
	for _, p := range problems {
		bad[p.Index] = true
	}
	for i := range rows {
		if !bad[i] {
			good, places = append(good, rows[i]), append(places, i)
		}
	}
	return good, places
}

// unknown finds the rows that name what is not there.
func (r *Rows[T]) unknown(tx lyceum.Tx, rows []T) (problems []lyceum.RowProblem, err error) {
	for _, ref := range r.shape.names {
		missing := map[int32]bool{}
		var ids []int32
		for i := range rows {
			if id := ref.id(&rows[i]); id != 0 && !missing[id] {
				missing[id] = true
				ids = append(ids, id)
			}
		}
		found, err := tx.Known(ref.seq, ids)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			delete(missing, id)
		}
		for i := range rows {
			if id := ref.id(&rows[i]); missing[id] {
				problems = append(
					problems, problem(i, ref.field, "%d matches no %s of this school; import the %s first", id, ref.what, ref.file()),
				)
			}
		}
	}
	return problems, nil
}

func problem(index int, field, format string, args ...any) lyceum.RowProblem {
	return lyceum.RowProblem{
		Index: index, FieldError: lyceum.FieldError{Field: field, Message: fmt.Sprintf(format, args...)},
	}
}

// record is what is particular about rows that belong to a user and need no
// id: of those with one key there is at most one.
type record[ID ~int32, T any, K comparable] struct {
	next func(lyceum.Tx) (ID, error)
	id   func(*T) *ID
	user func(*T) lyceum.UserID
	key  func(*T) K
	// taken says which row has the key already.
	field, taken string
	find         func(lyceum.Tx, []lyceum.UserID) ([]T, error)
	// twins are the ids that rows of a file name, which may then have one key; nil: they may not.
	twins *roaring.Bitmap
}

// identify gives each row without an id that of the row with the same key, or
// a new one, and finds the rows whose key another one has.
func (k *record[ID, T, K]) identify(tx lyceum.Tx, rows []T) (problems []lyceum.RowProblem, err error) {
	kept, err := k.find(tx, usersOf(rows, k.user))
	if err != nil {
		return nil, err
	}
	owner, before := map[K]ID{}, map[ID]K{}
	for i := range kept {
		owner[k.key(&kept[i])], before[*k.id(&kept[i])] = *k.id(&kept[i]), k.key(&kept[i])
	}
	for i := range rows { // a row that says its id may give its key up
		id := *k.id(&rows[i])
		if old, there := before[id]; there && old != k.key(&rows[i]) {
			delete(owner, old)
		}
		if k.twins != nil && id != 0 {
			k.twins.Add(uint32(id))
		}
	}
	for i := range rows {
		key, id := k.key(&rows[i]), *k.id(&rows[i])
		other, there := owner[key]
		switch {
		case id == 0 && there:
			*k.id(&rows[i]) = other
		case id == 0:
			if id, err = k.next(tx); err != nil {
				return nil, err
			}
			*k.id(&rows[i]) = id
			owner[key] = id
		case there && other != id && before[id] != key && (k.twins == nil || !k.twins.Contains(uint32(other))):
			problems = append(problems, problem(i, k.field, k.taken, other))
		case k.twins == nil:
			owner[key] = id
		}
	}
	return problems, nil
}

// ofUsers returns what find returns of all users, of a few at a time.
func ofUsers[T any](users []lyceum.UserID, find func([]lyceum.UserID) ([]T, error)) (all []T, err error) {
	for part := range slices.Chunk(users, lyceum.MaxUsers) {
		found, err := find(part)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func allEnrollments(tx lyceum.Tx, users []lyceum.UserID) ([]lyceum.Enrollment, error) {
	return ofUsers(users, func(part []lyceum.UserID) ([]lyceum.Enrollment, error) {
		return lyceum.All(tx.Enrollments, tx, lyceum.EnrollmentFilter{Users: part})
	})
}

func allProgress(tx lyceum.Tx, users []lyceum.UserID) ([]lyceum.Progress, error) {
	return ofUsers(users, func(part []lyceum.UserID) ([]lyceum.Progress, error) {
		return lyceum.All(tx.Progress, tx, lyceum.ProgressFilter{Users: part})
	})
}

func allLectureProgress(tx lyceum.Tx, users []lyceum.UserID) ([]lyceum.LectureProgress, error) {
	return ofUsers(users, func(part []lyceum.UserID) ([]lyceum.LectureProgress, error) {
		return lyceum.All(tx.LectureProgress, tx, lyceum.LectureProgressFilter{Users: part})
	})
}

func allQuizResponses(tx lyceum.Tx, users []lyceum.UserID) ([]lyceum.QuizResponse, error) {
	return ofUsers(users, func(part []lyceum.UserID) ([]lyceum.QuizResponse, error) {
		return lyceum.All(tx.QuizResponses, tx, lyceum.QuizResponseFilter{Users: part})
	})
}
