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
	is(w, "user_id", of)
	in := scope{tables: []string{"user_tags"}, equals: w.equals}
	var user lyceum.UserID
	var name string
	err := v.q.eachIn(in, "SELECT user_id, name FROM user_tags"+w.String()+" ORDER BY user_id, name", w.args,
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
	for _, name := range gone {
		w := t.tag(user, name)
		w.update, w.gone = deleteTag, true
		if err := t.q.group.add(w); err != nil {
			return false, fmt.Errorf("delete tag: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fresh)) {
		if err := t.q.group.add(t.tag(user, name)); err != nil {
			return false, fmt.Errorf("insert tag: %w", err)
		}
	}
	t.Note(lyceum.UserTagged, int32(user))
	return true, nil
}

const deleteTag = "DELETE FROM user_tags WHERE school_id = $1 AND user_id = $2 AND name = $3"

// tag returns the edit that inserts a tag of a user.
func (t *tx) tag(user lyceum.UserID, name string) edit {
	return edit{
		table: "user_tags", list: "user_id, name", columns: []string{"user_id", "name"},
		school: int64(t.stamp.School), values: []any{int64(user), name},
	}
}
