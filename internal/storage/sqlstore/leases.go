package sqlstore

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// postgresNow is the time of the database, in microseconds.
const postgresNow = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"

// postgresLease changes nothing while another process holds the lease.
const postgresLease = "UPDATE leases SET holder = $2, until = " + postgresNow + " + $3 WHERE name = $1 AND " +
	"(holder = $2 OR until <= " + postgresNow + ") RETURNING until"

// HoldLease takes a connection of those that read: the ones that write are taken
// while schools are busy.
func (s *Store) HoldLease(ctx context.Context, lease lyceum.Lease, holder string, d time.Duration) (bool, error) {
	if s.dialect.lease == "" {
		return true, nil
	}
	var until int64
	held, err := s.reads.single(ctx).one(s.dialect.lease, []any{string(lease), holder, d.Microseconds()}, scanInt(&until))
	return held, s.public(err)
}
