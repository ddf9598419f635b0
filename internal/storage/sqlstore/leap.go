package sqlstore

import (
	"context"
	"fmt"
	"strconv"
)

const (
	// leap is how many ids and journal numbers are skipped after a restore: more than a school
	// assigns between two backups.
	leap = 1_000_000
	// leapOfLeft is the leap if few ids are left: a thousandth of them.
	leapOfLeft = "(2147483647 - value) / 1000"

	// skippedCounter counts the journal numbers of a school that were skipped.
	skippedCounter = "journal skipped"
	// receiptCounter numbers receipts, which have no gaps.
	receiptCounter = "receipt_id"
)

// leap skips the ids and the journal numbers that a restored database may have assigned after
// its backup was made, so that none means two things to anyone who stored it. The store must
// have just been opened, and nothing else may use the database. Each school needs an entry
// afterwards.
func (s *Store) leap(ctx context.Context) error {
	tx, err := s.writes.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	most := strconv.Itoa(leap)
	for _, text := range []string{
		"INSERT INTO counters (school_id, name, value) SELECT school_id, '" + skippedCounter + "', " + most +
			" FROM counters WHERE name = '" + journalCounter + "'" + addCounters,
		"UPDATE counters SET value = value + " + most + " WHERE name = '" + journalCounter + "'",
		"UPDATE counters SET value = value + CASE WHEN " + leapOfLeft + " < " + most + " THEN " + leapOfLeft +
			" ELSE " + most + ` END WHERE school_id > 0 AND name LIKE '%\_id' ESCAPE '\' AND name <> '` + receiptCounter + "'",
	} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("pass over numbers: %w", err)
		}
	}
	return tx.Commit()
}
