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

// Rows imports rows of one kind, batch by batch. A row that exists already, by id, is updated;
// importing the same batch twice changes nothing. What a row refers to must exist.
type Rows[T any] struct {
	service *Service
	by      lyceum.By
	shape   shape[T]
}

// shape is what is specific to a kind of rows.
type shape[T any] struct {
	what  string // as in "import lectures"
	names []reference[T]
	// look returns further problems of the rows, and may correct them. It runs before save, in
	// the same transaction.
	look func(tx lyceum.Tx, rows []T) ([]lyceum.RowProblem, error)
	save func(tx lyceum.Tx, rows []T, now time.Time) (lyceum.Saved, error)
	// earlier is where look finds what it needs of the good rows of batches that were checked
	// before. It is nil if rows do not depend on earlier ones.
	earlier earlier[T]
}

// earlier remembers what the check of the next batches needs of rows that are not stored yet.
type earlier[T any] interface {
	add(rows []T)
	forget()
}

// reference is something that a row refers to by id.
type reference[T any] struct {
	field, what string
	seq         lyceum.Sequence
	id          func(*T) int32 // 0: no reference
}

// file returns the name of the kind of rows that the referenced thing is imported with.
func (r *reference[T]) file() string {
	if r.seq == lyceum.QuizSequence {
		return "attachments"
	}
	return r.what + "s"
}

// errChecked rolls back a transaction that only checks.
var errChecked = errors.New("checked")

// Check returns the problems of the rows of a batch that cannot be imported, and saves nothing.
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

// Save saves the rows of a batch that have no problem, all in one write, and returns the
// problems of the others.
func (r *Rows[T]) Save(ctx context.Context, batch []T) (lyceum.Saved, []lyceum.RowProblem, error) {
	if r.shape.earlier != nil { // from now on they are in the database
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
			problems, err = others(rows, problems, func(good []T) ([]lyceum.RowProblem, error) {
				return r.shape.look(tx, good)
			})
			if err != nil {
				return err
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

// others calls look with the rows that have no problem, and returns its problems along with theirs.
func others[T any](
	rows []T, problems []lyceum.RowProblem, look func([]T) ([]lyceum.RowProblem, error),
) ([]lyceum.RowProblem, error) {
	bad := map[int]bool{}
	for _, p := range problems {
		bad[p.Index] = true
	}
	var good []T
	var places []int
	for i := range rows {
		if !bad[i] {
			good, places = append(good, rows[i]), append(places, i)
		}
	}
	more, err := look(good)
	for i, place := range places {
		rows[place] = good[i]
	}
	for _, p := range more {
		p.Index = places[p.Index]
		problems = append(problems, p)
	}
	return problems, err
}

// unknown returns a problem for each row that refers to something that does not exist.
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

// record is what is specific to rows that belong to a user and need no id: at most one of them
// has a given key.
type record[ID ~int32, T any, K comparable] struct {
	next func(lyceum.Tx) (ID, error)
	id   func(*T) *ID
	user func(*T) lyceum.UserID
	key  func(*T) K
	// taken is the message that another row already has the key.
	field, taken string
	find         func(lyceum.Tx, []lyceum.UserID) ([]T, error)
	// twins has the ids that rows of a file name, which may then share a key; if nil, they may
	// not.
	twins *roaring.Bitmap
}

// identify assigns each row without an id the id of the row with the same key, or a new one, and
// returns a problem for each row whose key another row has.
func (k *record[ID, T, K]) identify(tx lyceum.Tx, rows []T) (problems []lyceum.RowProblem, err error) {
	kept, err := k.find(tx, usersOf(rows, k.user))
	if err != nil {
		return nil, err
	}
	owner, before := map[K]ID{}, map[ID]K{}
	for i := range kept {
		owner[k.key(&kept[i])], before[*k.id(&kept[i])] = *k.id(&kept[i]), k.key(&kept[i])
	}
	for i := range rows { // a row with an id may give up its key
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

// identifyInPlace is identify for records that stay what they are about: a row with the id of
// another one is a problem that names it, as describe does.
func (k *record[ID, T, K]) identifyInPlace(
	tx lyceum.Tx, rows []T, find func(lyceum.Source, ...ID) (map[ID]T, error), describe func(*T) string,
) (problems []lyceum.RowProblem, err error) {
	id := func(row *T) ID { return *k.id(row) }
	same := func(a, b *T) bool { return k.key(a) == k.key(b) }
	problems, err = movedRows(tx, rows, id, find, same, describe)
	if err != nil {
		return nil, err
	}
	return others(rows, problems, func(good []T) ([]lyceum.RowProblem, error) { return k.identify(tx, good) })
}

// movedRows returns a problem for each row with the id of a stored row that is not about the same. The
// problem names that row, as describe does.
func movedRows[ID ~int32, T any](
	tx lyceum.Tx, rows []T, id func(*T) ID, find func(lyceum.Source, ...ID) (map[ID]T, error),
	same func(a, b *T) bool, describe func(*T) string,
) (problems []lyceum.RowProblem, err error) {
	kept, err := find(tx, idsOf(rows, id)...)
	for i := range rows {
		if old, there := kept[id(&rows[i])]; there && !same(&old, &rows[i]) {
			problems = append(problems, problem(
				i, "id", "%d is %s; use another id, or leave the column out", id(&old), describe(&old),
			))
		}
	}
	return problems, err
}

// ofUsers returns what find returns for all users, calling it with lyceum.MaxUsers of them at a
// time.
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
