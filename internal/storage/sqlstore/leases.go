package sqlstore

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// postgresNow is the time of the database, in microseconds.
const postgresNow = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"

// postgresLease changes nothing while another process holds the lease.
const postgresLease = "INSERT INTO leases (name, holder, until) VALUES ($1, $2, " + postgresNow + " + $3) " +
	"ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until " +
	"WHERE leases.holder = excluded.holder OR leases.until <= " + postgresNow + " RETURNING until"

// HoldLease uses a read connection, because the write connections are in use while schools are
// busy.
func (s *Store) HoldLease(ctx context.Context, lease lyceum.Lease, holder string, d time.Duration) (bool, error) {
	if s.dialect.lease == "" {
		return true, nil
	}
	var until int64
	held, err := s.reads.single(ctx).one(s.dialect.lease, []any{string(lease), holder, d.Microseconds()}, scanInt(&until))
	return held, s.public(err)
}
