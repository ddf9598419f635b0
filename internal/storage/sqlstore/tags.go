package sqlstore

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lyceum-school/lyceum"
)

func (v *view) EachTag(of lyceum.Opt[lyceum.UserID], visit func(lyceum.UserID, string) error) error {
	w := &where{}
	w.and("school_id = ?", int64(v.school))
	if of.Present {
		w.and("user_id = ?", int64(of.Value))
	}
	var user lyceum.UserID
	var name string
	err := v.q.each("SELECT user_id, name FROM user_tags"+w.String()+" ORDER BY user_id, name", w.args,
		[]any{scanInt(&user), scanText(&name)}, func() error {
			if err := v.ctx.Err(); err != nil {
				return err
			}
			return visit(user, name)
		})
	return v.public(err)
}

func (t *tx) SetTags(user lyceum.UserID, tags []string) (changed bool, err error) {
	fresh := map[string]bool{}
	for _, name := range tags {
		fresh[name] = true
	}
	var gone []string
	err = t.EachTag(lyceum.Some(user), func(_ lyceum.UserID, name string) error {
		if !fresh[name] {
			gone = append(gone, name)
		}
		delete(fresh, name)
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("find tags: %w", err)
	}
	if len(gone)+len(fresh) == 0 {
		return false, nil
	}
	if err := t.deleteTags(user, gone); err != nil {
		return false, fmt.Errorf("delete tags: %w", err)
	}
	if err := t.insertTags(user, slices.Sorted(maps.Keys(fresh))); err != nil {
		return false, fmt.Errorf("insert tags: %w", err)
	}
	t.Note(lyceum.UserTagged, int32(user))
	return true, nil
}

func (t *tx) deleteTags(user lyceum.UserID, names []string) error {
	for len(names) > 0 {
		n := chunkOf(len(names))
		args := []any{int64(t.stamp.School), int64(user)}
		for _, name := range names[:n] {
			args = append(args, name)
		}
		err := t.q.exec("DELETE FROM user_tags WHERE school_id = $1 AND user_id = $2 AND name IN "+placeholders(3, n),
			args...)
		if err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}

func (t *tx) insertTags(user lyceum.UserID, names []string) error {
	for len(names) > 0 {
		n := chunkOf(len(names))
		args := make([]any, 0, 3*n)
		for _, name := range names[:n] {
			args = append(args, int64(t.stamp.School), int64(user), name)
		}
		if err := t.q.exec(insertText("user_tags", "user_id, name", 3, n), args...); err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}
