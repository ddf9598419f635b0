package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations
var migrationFiles embed.FS

// migration makes one version of the schema from the one before it.
type migration struct {
	version    int64
	name, text string
}

// readMigrations returns the dialect's migrations in order.
func (d *dialect) readMigrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, d.migrations+"/*.sql")
	if err != nil {
		return nil, err
	}
	list := make([]migration, len(names))
	for i, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(migrationFiles, name)
		if err != nil {
			return nil, err
		}
		list[i] = migration{version, name, string(text)}
	}
	return list, nil
}

// run hands the file to the database whole, which knows best where a statement
// ends.
func (m migration) run(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, m.text); err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	return nil
}

func (s *Store) provider() (*goose.Provider, error) {
	list, err := s.dialect.readMigrations()
	if err != nil {
		return nil, err
	}
	steps := make([]*goose.Migration, len(list))
	for i, m := range list {
		steps[i] = goose.NewGoMigration(m.version, &goose.GoFunc{RunTx: m.run}, nil)
	}
	db := s.writes.db
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true), goose.WithGoMigrations(steps...)}
	if s.dialect.goose == goose.DialectPostgres {
		db = s.reads.db // whose statements may take long
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return nil, err
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(s.dialect.goose, db, nil, options...)
}

// migrate brings the schema up to date. Two processes may start at once, so a
// migration that fails is looked at again: the other may have done it.
func (s *Store) migrate(ctx context.Context) error {
	provider, err := s.provider()
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	for try := 0; ; try++ {
		current, target, err := provider.GetVersions(ctx)
		if err != nil {
			return s.public(fmt.Errorf("read schema version: %w", err))
		}
		if current > target {
			return lyceum.Errorf(lyceum.Unavailable,
				"the database has schema version %d but this lyceum only knows versions up to %d; run a newer lyceum, or "+
					"restore a backup made by this one", current, target)
		}
		if current == target {
			return nil
		}
		results, err := provider.Up(ctx)
		for _, r := range results {
			s.log.DebugContext(ctx, "schema migrated", "version", r.Source.Version, "took", r.Duration.String())
		}
		if err == nil {
			return nil
		}
		if try == 3 {
			return s.public(fmt.Errorf("migrate schema: %w", err))
		}
		time.Sleep(time.Duration(try+1) * 200 * time.Millisecond)
	}
}

// SchemaVersion gives the version of the database's schema and the newest one
// this program knows.
func (s *Store) SchemaVersion(ctx context.Context) (current, newest int64, err error) {
	provider, err := s.provider()
	if err != nil {
		return 0, 0, err
	}
	current, newest, err = provider.GetVersions(s.writes.context(ctx))
	return current, newest, s.public(err)
}
