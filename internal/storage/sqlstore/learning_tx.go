package sqlstore

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// SetTags implements lyceum.Tx.
func (t *tx) SetTags(user lyceum.UserID, tags []string) (changed bool, err error) {
	there, err := findTags(t.q, t.stamp.School, user)
	if err != nil {
		return false, fmt.Errorf("find tags: %w", err)
	}
	gone, fresh := map[string]bool{}, map[string]bool{}
	for _, name := range tags {
		fresh[name] = true
	}
	for _, name := range there {
		if fresh[name] {
			delete(fresh, name)
		} else {
			gone[name] = true
		}
	}
	if len(gone)+len(fresh) == 0 {
		return false, nil
	}
	if err := t.deleteTags(user, slices.Sorted(maps.Keys(gone))); err != nil {
		return false, fmt.Errorf("delete tags: %w", err)
	}
	if err := t.insertTags(user, slices.Sorted(maps.Keys(fresh))); err != nil {
		return false, fmt.Errorf("insert tags: %w", err)
	}
	t.entry(lyceum.UserTagged, int32(user))
	return true, nil
}

func (t *tx) deleteTags(user lyceum.UserID, names []string) error {
	for len(names) > 0 {
		n := chunkOf(len(names))
		args := []any{int64(t.stamp.School), int64(user)}
		for _, name := range names[:n] {
			args = append(args, name)
		}
		err := t.q.exec("DELETE FROM user_tags WHERE school_id = $1 AND user_id = $2 AND name IN "+placeholders(3, n), args...)
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

// FindTags implements lyceum.Tx.
func (t *tx) FindTags(user lyceum.UserID) ([]string, error) {
	return findTags(t.q, t.stamp.School, user)
}

// SwitchV2 implements lyceum.Tx.
func (t *tx) SwitchV2(off bool) error {
	if err := t.q.exec("UPDATE schools SET v2_disabled = $2 WHERE school_id = $1", int64(t.stamp.School), flag(off)); err != nil {
		return fmt.Errorf("update school: %w", err)
	}
	t.entry(lyceum.SchoolUpdated, int32(t.stamp.School))
	return nil
}

// SignedIn implements lyceum.Tx.
func (t *tx) SignedIn(user lyceum.UserID, from string, at time.Time) error {
	return t.q.exec("UPDATE users SET last_sign_in_at = $3, last_sign_in_ip = $4 WHERE school_id = $1 AND user_id = $2",
		int64(t.stamp.School), int64(user), micros(at), from)
}

// GetUser implements lyceum.Tx.
func (t *tx) GetUser(id lyceum.UserID) (lyceum.User, error) {
	return getByID(t.q, t.stamp.School, &users.table, id, "user")
}

// GetUserByEmail implements lyceum.Tx.
func (t *tx) GetUserByEmail(email string) (lyceum.User, error) {
	return getUserByEmail(t.q, t.stamp.School, email)
}
