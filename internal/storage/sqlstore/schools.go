package sqlstore

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

func bindPolicy(p lyceum.SalePolicy) []any {
	return []any{string(p.OnRefund), string(p.OnChargeback), string(p.OnCancellation), int64(p.AbandonAfter / time.Minute)}
}

func scanPolicy(p *lyceum.SalePolicy) []any {
	return []any{scanText(&p.OnRefund), scanText(&p.OnChargeback), scanText(&p.OnCancellation), scanFunc(func(src any) error {
		minutes, ok := src.(int64)
		if !ok {
			return wrong(src, "minutes")
		}
		p.AbandonAfter = time.Duration(minutes) * time.Minute
		return nil
	})}
}

func (t *tx) SetPolicy(p lyceum.SalePolicy) error {
	err := t.q.exec("UPDATE schools SET on_refund = $2, on_chargeback = $3, on_cancellation = $4, abandon_after = $5 WHERE school_id = $1",
		append([]any{int64(t.stamp.School)}, bindPolicy(p)...)...)
	if err != nil {
		return fmt.Errorf("update school: %w", err)
	}
	t.entry(lyceum.SchoolUpdated, int32(t.stamp.School))
	return nil
}

func (t *tx) SetTimeZone(zone lyceum.TimeZone) error {
	differs, err := t.changed("UPDATE schools SET time_zone = $2 WHERE school_id = $1 AND time_zone <> $2",
		int64(t.stamp.School), string(zone))
	if err != nil {
		return fmt.Errorf("update school: %w", err)
	}
	if differs {
		t.entry(lyceum.SchoolUpdated, int32(t.stamp.School))
	}
	return nil
}

func (t *tx) GetPolicy() (lyceum.SalePolicy, error) {
	var p lyceum.SalePolicy
	there, err := t.q.one("SELECT on_refund, on_chargeback, on_cancellation, abandon_after FROM schools WHERE school_id = $1", []any{int64(t.stamp.School)}, scanPolicy(&p)...)
	if err == nil && !there {
		err = lyceum.Errorf(lyceum.NotFound, "there is no school %d", t.stamp.School)
	}
	return p, err
}

// SwitchV2 implements lyceum.Tx.
func (t *tx) SwitchV2(off bool) error {
	if err := t.q.exec("UPDATE schools SET v2_disabled = $2 WHERE school_id = $1", int64(t.stamp.School), flag(off)); err != nil {
		return fmt.Errorf("update school: %w", err)
	}
	t.entry(lyceum.SchoolUpdated, int32(t.stamp.School))
	return nil
}
