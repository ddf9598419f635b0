package sqlstore

import (
	"fmt"

	"github.com/lyceum-school/lyceum"
)

// SwitchV2 implements lyceum.Tx.
func (t *tx) SwitchV2(off bool) error {
	if err := t.q.exec("UPDATE schools SET v2_disabled = $2 WHERE school_id = $1", int64(t.stamp.School), flag(off)); err != nil {
		return fmt.Errorf("update school: %w", err)
	}
	t.entry(lyceum.SchoolUpdated, int32(t.stamp.School))
	return nil
}
