package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/lyceum-school/lyceum"
)

// Store stores schools in one database. It is safe for concurrent use.
type Store struct {
	dialect    *dialect
	reads      *pool
	writes     *pool
	queue      *queue
	guesses    guesses
	known      known
	hastyTurn  string // dialect.turn for a group that waits only briefly for its turn
	hastyTurns string // likewise dialect.turns
	distant    bool   // see pool.distant
	aheadAfter int    // see leastStreakAhead
	log        *slog.Logger
	files      *files     // SQLite only; nil with PostgreSQL
	moving     sync.Mutex // held while pages of a SQLite file are moved, or must not be

	tallies    *tallies // PostgreSQL only; nil with SQLite
	statistics statistics
	condition  condition
	lists      listIndex
	contents   contents
	watch      watch
	seen       *knownEnds
	patience   time.Duration
	clock      func() time.Time
	closing    chan struct{}
	closeOnce  sync.Once
	writers    sync.WaitGroup
}

var _ lyceum.Store = (*Store)(nil)

// FileName is the name of the SQLite database in a data folder.
const FileName = "lyceum.db"

// Synchronous is when SQLite waits for the disk.
type Synchronous string

// The settings of SQLite's synchronous pragma with which the store can be opened. Only Full
// survives a power cut; Normal exists so that the test of that guarantee can be seen to fail. Off
// is for data that is thrown away when the process ends.
const (
	Full   Synchronous = "FULL"
	Normal Synchronous = "NORMAL"
	Off    Synchronous = "OFF"
)

// Options are the options of Open. The zero value is right for production.
type Options struct {
	Synchronous Synchronous  // for SQLite; empty means Full
	Log         *slog.Logger // nil logs nothing
	// Trace is called with the text of every statement before it runs, possibly by several
	// goroutines at once.
	Trace func(text string)
	// Cache and ReadCache are how many KiB of a SQLite file the writing connection and each
	// reading connection cache; 0 means 32,768. The pages take up to twice that in memory.
	Cache, ReadCache int
	// Patience is how long a write waits for its turn, and then how long the database may take to
	// do it; 0 means 10 s. A lock in PostgreSQL is waited for a quarter of it.
	Patience time.Duration
	Clock    func() time.Time // measures how long groups of writes work; nil means the system clock
	// AnySchema accepts a schema older than this program's and leaves it as it is; then only
	// Backup works. A new database still gets the newest schema.
	AnySchema bool
	// Primary rejects a PostgreSQL server that is a standby, which can serve all reads, but late.
	Primary bool
}

// Open opens the SQLite database in a data folder, and creates both if they do not exist. It
// returns an error if the database has schools and an older schema; see Upgrade.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &lyceum.Error{Kind: lyceum.Unavailable, Detail: "the data folder " + dir + " cannot be created; " +
			"choose another one with --data", Err: err}
	}
	return OpenFile(ctx, filepath.Join(dir, FileName), o)
}

// OpenFile is Open for a database file of any name in an existing folder.
func OpenFile(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Synchronous == "" {
		o.Synchronous = Full
	}
	before, err := writable(path)
	if err != nil {
		return nil, err
	}
	of := &files{path: path, cache: cachePragma(o.ReadCache)}
	own := "_txlock=immediate"
	if before.Size() == 0 {
		// auto_vacuum can only be set when the file is created.
		own += "&_busy_timeout=" + pragmaTimeout(busyTimeout) + "&_auto_vacuum=incremental"
	}
	writes, err := of.open(sqliteDSN(path, o.Synchronous, own))
	if err != nil {
		return nil, err
	}
	writes.SetMaxOpenConns(1)
	reads, err := of.open(sqliteDSN(path, o.Synchronous, "_pragma=query_only(1)"))
	if err != nil {
		return nil, errors.Join(err, writes.Close())
	}
	reads.SetMaxOpenConns(mostReaders)
	s, err := start(ctx, sqliteDialect(), of, reads, writes, o)
	if err != nil {
		return nil, err
	}
	err = errors.Join(s.Ping(ctx), of.remember(before)) // opens a reading connection
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.writers.Go(s.tend)
	return s, nil
}

// writable checks early that a database file can be written, and returns a readable error if not;
// SQLite itself would fail only at the first write. It returns the file's info.
func writable(path string) (os.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &lyceum.Error{Kind: lyceum.Unavailable, Detail: "the database " + path + " cannot be opened for " +
			"writing; make it writable for this user, or choose another folder with --data", Err: err}
	}
	info, err := file.Stat()
	return info, errors.Join(err, file.Close())
}

// logLimit is the size in bytes to which SQLite truncates its write-ahead log after a checkpoint.
// A long read may have let it grow far beyond that.
const logLimit = "67108864"

// defaultCache is how many KiB of a SQLite file a connection caches by default.
const defaultCache = 32 << 10

func cachePragma(kib int) string { return "cache_size = -" + strconv.Itoa(cmp.Or(kib, defaultCache)) }

// busyTimeout is how long SQLite waits for another process.
const busyTimeout = 10 * time.Second

// pragmaTimeout formats a duration for SQLite's busy_timeout pragma.
func pragmaTimeout(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// sqlitePragmas are the pragmas of a connection that may write, as pairs of name and value.
func sqlitePragmas(synchronous Synchronous) [][2]string {
	return [][2]string{
		{"busy_timeout", pragmaTimeout(busyTimeout)},
		{"journal_mode", "WAL"},
		{"synchronous", string(synchronous)},
		{"foreign_keys", "1"},
		{"temp_store", "memory"},
		{"wal_autocheckpoint", "8000"},
		{"secure_delete", "1"},
		{"journal_size_limit", logLimit},
	}
}

func sqliteDSN(path string, synchronous Synchronous, more string) string {
	var query strings.Builder
	for _, pragma := range sqlitePragmas(synchronous) {
		query.WriteString("_pragma=" + pragma[0] + "(" + pragma[1] + ")&")
	}
	query.WriteString("_pragma=cache_size(-" + strconv.Itoa(defaultCache) + ")&")
	return fileDSN(path, query.String()+more)
}

func fileDSN(path, query string) string {
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: path}
	if !filepath.IsAbs(path) {
		dsn = url.URL{Scheme: "file", Opaque: url.PathEscape(path)}
	}
	dsn.RawQuery = query
	return dsn.String()
}

// OpenPostgres opens a PostgreSQL database by its URL, such as
// postgres://lyceum@db.example.com/lyceum. The database must exist; see Open for how its schema
// is handled.
func OpenPostgres(ctx context.Context, address string, o Options) (*Store, error) {
	config, err := postgresConfig(address)
	if err != nil {
		return nil, err
	}
	isPooled, err := pooled(ctx, config)
	if err != nil {
		return nil, err
	}
	is := &primary{only: o.Primary, seen: newKnownEnds()}
	config.ValidateConnect = is.admits(config.ValidateConnect)
	d := postgresDialect()
	within := func(setting string, d time.Duration) string {
		return "SET " + setting + " = " + strconv.FormatInt(d.Milliseconds(), 10)
	}
	wait := o.patience()
	lock := within("lock_timeout", wait/4)
	// How long a read may take is decided by its caller, and an export waits for whoever receives it.
	reads := postgresPool(config, 16, append(slices.Clone(unhurried), lock, planOnce)...)
	// The server cancels a statement before this program gives up on it, and ends the transaction
	// of a process that stopped in the middle of it.
	writes := postgresPool(config, d.writers+d.followers+d.slow, lock, within("statement_timeout", wait/2),
		within("idle_in_transaction_session_timeout", wait))
	store, err := start(ctx, d, nil, reads, writes, o)
	if err != nil {
		return nil, unopened(config, err)
	}
	store.seen = is.seen
	counting := postgresPool(config, tallyConnections, within("statement_timeout", tallyPatience),
		"SET synchronous_commit = off")
	store.tallies = &tallies{store, newPool(counting, d, o.Trace)}
	err = store.findOrigin(ctx)
	if err == nil && isPooled && o.Primary {
		err = connectAll(ctx, config, reads, writes, counting)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	store.writers.Go(store.tend)
	return store, nil
}

func postgresConfig(address string) (*pgx.ConnConfig, error) {
	if cutShort(address) {
		return nil, lyceum.Errorf(lyceum.Invalid, "the database URL has an @ after its host; write / and @ in the user "+
			"and the password as %%2F and %%40")
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		// pgx's message may include the URL with its password.
		return nil, lyceum.Errorf(lyceum.Invalid, "the database URL is invalid; it must be like "+
			"postgres://user:password@host:5432/name")
	}
	hosts := []string{config.Host}
	for _, other := range config.Fallbacks {
		hosts = append(hosts, other.Host)
	}
	if strings.Contains(strings.Join(hosts, ""), "@") { // part of a password, which must not appear in a message
		return nil, lyceum.Errorf(lyceum.Invalid, "the database URL has more than one @; write those of the user and the "+
			"password as %%40")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 2 * time.Second
	}
	// Results are decoded in the same format as those of prepared statements.
	config.DefaultQueryExecMode, config.StatementCacheCapacity = pgx.QueryExecModeCacheStatement, 512
	// Connections that read the data do not know with which settings it was written.
	config.RuntimeParams["client_encoding"] = "UTF8"
	config.RuntimeParams["standard_conforming_strings"] = "on"
	return config, nil
}

// cutShort reports whether a part of the password is read as the name of the database or of a
// parameter, which appear in messages, because a / in it was not escaped.
func cutShort(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		rest = rest[i+1:]
	}
	_, name, _ := strings.Cut(rest, "/")
	name, _, _ = strings.Cut(name, "=")
	return strings.Contains(name, "@")
}

// unopened adds advice on what to do to an error with which opening a database failed.
func unopened(config *pgx.ConnConfig, err error) error {
	if refused, is := errors.AsType[*pgconn.PgError](err); is && (refused.Code == "42501" || refused.Code == "3F000") {
		return &lyceum.Error{Kind: lyceum.Unavailable, Err: err, Detail: fmt.Sprintf("the role %s lacks rights in the "+
			"database %s; it must own the database and the tables in it", config.User, config.Database)}
	}
	if e := lyceum.Public(err); e.Kind == lyceum.Unavailable && postgresFault(err) == faultDown {
		return unreachable(config, e.Err)
	}
	return err
}

// keepsText returns an error if the encoding of the database would change text or reject it.
// SQL_ASCII stores text as it is.
func keepsText(conn *pgconn.PgConn) error {
	switch encoding := conn.ParameterStatus("server_encoding"); encoding {
	case "UTF8", "SQL_ASCII", "":
		return nil
	default:
		return lyceum.Errorf(lyceum.Unavailable, "the database has the encoding %s; create one with ENCODING 'UTF8' "+
			"TEMPLATE template0", encoding)
	}
}

func unreachable(config *pgx.ConnConfig, err error) error {
	todo := "cannot be reached; start it, create the database, or correct the database URL"
	switch {
	case errors.Is(err, errShared):
		todo = "is behind a connection pooler in which transactions share sessions; use session pooling, or name " +
			"PostgreSQL itself in the database URL"
	case errors.Is(err, errSilent):
		todo = "accepts connections, but does not answer; if it is a connection pooler, make its pool larger"
	}
	if full, is := errors.AsType[*pgconn.PgError](err); is && full.Code == "53300" {
		todo = "accepts no more connections; raise max_connections, or the CONNECTION LIMIT of the role or the " +
			"database: a server uses up to 26"
	}
	for _, no := range []error{errStandby, pgconn.ErrStandbyConnection, pgconn.ErrReadOnlyConnection} {
		if errors.Is(err, no) {
			todo = "accepts no changes: it is a standby or set to be read-only; promote it, or name the primary in " +
				"the database URL"
		}
	}
	return &lyceum.Error{Kind: lyceum.Unavailable, Err: err, Detail: "PostgreSQL at " + hostsOf(config) + " " + todo}
}

// hostsOf lists the servers in a database URL.
func hostsOf(config *pgx.ConnConfig) string {
	hosts := []string{fmt.Sprintf("%s:%d", config.Host, config.Port)}
	for _, other := range config.Fallbacks { // lists each host again without TLS, if that is allowed
		if host := fmt.Sprintf("%s:%d", other.Host, other.Port); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return strings.Join(hosts, ", ")
}

// findOrigin disables the origin if the database does not report it, as is the case for some
// PostgreSQL-compatible databases.
func (s *Store) findOrigin(ctx context.Context) error {
	var origin string
	_, err := s.reads.single(ctx).one("SELECT "+s.dialect.origin, nil, scanText(&origin))
	if _, refused := errors.AsType[*pgconn.PgError](err); refused && unreported(s.dialect.fault(err)) {
		s.dialect.origin = noOrigin
		s.log.WarnContext(ctx, "the database does not report its timeline: restart all servers after a failover that "+
			"lost changes", "err", err)
		return nil
	}
	return s.public(err)
}

// postgresPool opens up to n connections, each of which first runs the statements in begin. JIT
// compilation is off, because compiling a query can take longer than running it. A database may
// have another default isolation, but whoever has waited for a lock must see what was committed
// meanwhile.
func postgresPool(config *pgx.ConnConfig, n int, begin ...string) *sql.DB {
	begin = append(begin, "SET jit = off", "SET default_transaction_isolation = 'read committed'")
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		if err := keepsText(conn.PgConn()); err != nil {
			return err
		}
		conn.PgConn().CustomData()[openedAt] = time.Now()
		if _, err := conn.PgConn().Exec(ctx, strings.Join(begin, "; ")).ReadAll(); err != nil {
			return err
		}
		return knowsSchema(ctx, conn)
	}), stdlib.OptionResetSession(stillGood))
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}

const openedAt = "opened"

// stillGood discards a connection to a server that is no longer the primary, and one that was
// opened while the database was set to read-only, because such a connection stays read-only for
// as long as it is open.
func stillGood(_ context.Context, conn *pgx.Conn) error {
	opened, _ := conn.PgConn().CustomData()[openedAt].(time.Time)
	readOnly := conn.PgConn().ParameterStatus("default_transaction_read_only") == "on"
	if overtaken(conn.PgConn()) || readOnly && time.Since(opened) > time.Second {
		return driver.ErrBadConn
	}
	return nil
}

func (o *Options) patience() time.Duration { return cmp.Or(o.Patience, patience) }

// start creates the store of a database; of are the files of SQLite, or nil.
func start(ctx context.Context, d *dialect, of *files, reads, writes *sql.DB, o Options) (*Store, error) {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		dialect: d, log: log, files: of,
		reads: newPool(reads, d, o.Trace), writes: newPool(writes, d, o.Trace),
		seen: newKnownEnds(), patience: o.patience(), clock: o.Clock, closing: make(chan struct{}),
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.lists.open(s)
	if of != nil {
		of.log, s.reads.direct = log, newReaders(of, s.reads.trace)
		s.writes.writer = &writer{files: of}
		for _, pragma := range sqlitePragmas(o.Synchronous) {
			s.writes.writer.pragmas = append(s.writes.writer.pragmas, pragma[0]+" = "+pragma[1])
		}
		s.writes.writer.pragmas = append(s.writes.writer.pragmas, cachePragma(o.Cache))
	}
	err := s.migrate(ctx, &o)
	if err == nil && !o.AnySchema {
		err = s.public(d.estimate(ctx, s.schemaDB()))
	}
	if err != nil {
		return nil, errors.Join(err, s.closePools())
	}
	if s.writes.ranks, err = s.reads.readRanks(ctx); err == nil && d.pipelined {
		if s.writes.types, s.writes.records, err = s.reads.readTypes(ctx); err == nil {
			s.writes.keys, err = s.reads.readTriggerKeys(ctx)
		}
		if err == nil {
			s.aheadAfter = leastStreakAhead
			s.distant, err = s.reads.distant(ctx)
		}
	} else if err == nil {
		s.writes.keys, err = s.reads.readKeys(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.closePools())
	}
	s.hastyTurn = d.hasty(d.turn, s.patience/hasty, s.patience/4)
	s.hastyTurns = d.hasty(d.turns, s.patience/hasty, s.patience/4)
	s.queue = newQueue(d.writers, d.followers, d.slow)
	s.queue.shared = s.guesses.shared
	for range cap(s.queue.wake) {
		s.writers.Go(s.work)
	}
	return s, nil
}

// Close commits the pending changes and closes the database.
func (s *Store) Close() error {
	var err error
	s.closeOnce.Do(func() {
		close(s.closing)
		s.writers.Wait()
		s.lists.close()
		err = s.closePools()
	})
	return err
}

func (s *Store) closePools() error {
	err := errors.Join(s.reads.close(), s.writes.close())
	if s.tallies != nil {
		err = errors.Join(err, s.tallies.pool.close())
	}
	return err
}

// Engine returns the name of the engine: sqlite or postgres.
func (s *Store) Engine() string { return s.dialect.name }

func (s *Store) Ping(ctx context.Context) error {
	if err := s.sound(); err != nil {
		return err
	}
	if since := s.oldestWrite(); !since.IsZero() && time.Since(since) > s.patience/2 {
		return lyceum.Errorf(lyceum.Unavailable, "a write has been waiting for the database since "+
			"%s", since.UTC().Format(time.TimeOnly))
	}
	var n int64
	_, err := s.reads.single(ctx).one("SELECT count(*) FROM schools WHERE school_id = 0", nil, scanInt(&n))
	return s.public(err)
}

// oldestWrite returns when the longest-waiting write began to wait, or the zero time if none is
// waiting.
func (s *Store) oldestWrite() (since time.Time) { return s.queue.oldest() }

// IsPostgres reports whether an address is a URL for OpenPostgres.
func IsPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}
