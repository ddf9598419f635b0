package learning

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Reorder is the requested order of all parts of something.
type Reorder[Of any, ID ~int32] struct {
	Of     Of
	Places []Place[ID]
}

// Place is the place of a part. Only the order of positions counts.
type Place[ID ~int32] struct {
	ID       ID
	Position int32
}

// placed has the fields of an ordered part that the rules write.
type placed[ID ~int32] struct {
	id       ID
	position *int32
	updated  *time.Time
}

// reorder sorts rows into the requested order, numbers them 1, 2, 3 and so on, and saves those
// that moved. It fails with Invalid unless each row, and no other, is named exactly once. what
// names a row in errors.
func reorder[T any, ID ~int32](
	tx lyceum.Tx, seq lyceum.Sequence, rows []T, wanted []Place[ID], what string, at func(*T) placed[ID], now time.Time,
) error {
	if err := complete(rows, wanted, what, at); err != nil {
		return err
	}
	wanted = slices.Clone(wanted)
	slices.SortFunc(wanted, func(a, b Place[ID]) int { return cmp.Compare(a.Position, b.Position) })
	place := map[ID]int32{}
	for i := range wanted {
		place[wanted[i].ID] = int32(i + 1)
	}
	moved := map[int32]int32{}
	for i := range rows {
		p := at(&rows[i])
		if *p.position == place[p.id] {
			continue
		}
		*p.position, *p.updated = place[p.id], now
		moved[int32(p.id)] = *p.position
	}
	slices.SortFunc(rows, func(a, b T) int { return cmp.Compare(*at(&a).position, *at(&b).position) })
	return tx.Reorder(seq, moved)
}

// complete rejects an order that does not name each row exactly once.
func complete[T any, ID ~int32](rows []T, wanted []Place[ID], what string, at func(*T) placed[ID]) error {
	missing := map[ID]bool{}
	for i := range rows {
		missing[at(&rows[i]).id] = true
	}
	var wrong []lyceum.FieldError
	named, taken := map[ID]bool{}, map[int32]bool{}
	for i, p := range wanted {
		refuse := func(field, message string) {
			wrong = append(wrong, lyceum.FieldError{Field: fmt.Sprintf("data[%d].%s", i, field), Message: message})
		}
		switch {
		case named[p.ID]:
			refuse("id", fmt.Sprintf("repeats %d", p.ID))
		case !missing[p.ID]:
			refuse("id", fmt.Sprintf("%d matches no %s", p.ID, what))
		case taken[p.Position]:
			refuse("position", fmt.Sprintf("repeats %d", p.Position))
		}
		named[p.ID], taken[p.Position] = true, true
		delete(missing, p.ID)
	}
	if len(missing) > 0 {
		ids := make([]string, 0, len(missing))
		for i := range rows {
			if id := at(&rows[i]).id; missing[id] {
				ids = append(ids, strconv.Itoa(int(id)))
			}
		}
		wrong = append(wrong, lyceum.FieldError{
			Field: "data", Message: fmt.Sprintf("must have every %s; missing: %s", what, strings.Join(ids, ", ")),
		})
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	return nil
}

// next returns the position after the last one.
func next[T any](rows []T, position func(*T) int32) int32 {
	last := int32(0)
	for i := range rows {
		last = max(last, position(&rows[i]))
	}
	return last + min(1, maxPosition-last)
}

const maxPosition = 1<<31 - 1
