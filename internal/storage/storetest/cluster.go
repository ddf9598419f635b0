package storetest

import (
	"database/sql"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Cluster is a PostgreSQL primary with a standby that receives its changes a moment later.
type Cluster struct {
	Primary, Standby string // addresses
	Both             string // the address of both, the standby first

	dir, bin string
	as       *syscall.Credential
}

// NewCluster starts a primary and a standby for one test. If PostgreSQL's programs are missing,
// it skips the test or fails it, like Postgres without a server.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{bin: postgresPrograms(t)}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		of, err := osuser.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		id, _ := strconv.ParseUint(of.Uid, 10, 32)
		group, _ := strconv.ParseUint(of.Gid, 10, 32)
		c.as = &syscall.Credential{Uid: uint32(id), Gid: uint32(group)}
	}
	var err error
	if c.dir, err = os.MkdirTemp("", "cluster"); err != nil { // socket paths must be short
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(c.dir) })
	for _, name := range []string{"", "a", "b"} {
		at := filepath.Join(c.dir, name)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if c.as != nil {
			if err := os.Chown(at, int(c.as.Uid), int(c.as.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	address := func(hosts ...string) string {
		return "postgres://lyceum@/postgres?host=" + strings.Join(hosts, ",")
	}
	a, b := filepath.Join(c.dir, "a"), filepath.Join(c.dir, "b")
	c.Primary, c.Standby, c.Both = address(a), address(b), address(b, a)
	c.run(t, "initdb", "-D", a+"/data", "-U", "lyceum", "--auth=trust", "-E", "UTF8", "--no-locale", "-N")
	c.start(t, a)
	c.run(t, "pg_basebackup", "-h", a, "-U", "lyceum", "-D", b+"/data", "-R", "-X", "stream", "-c", "fast", "--no-sync")
	c.start(t, b)
	return c
}

// postgresPrograms finds the folder of PostgreSQL's programs.
func postgresPrograms(t testing.TB) string {
	t.Helper()
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if told, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		places = append(places, strings.TrimSpace(string(told)))
	}
	for _, place := range places {
		if _, err := os.Stat(filepath.Join(place, "initdb")); err == nil {
			return place
		}
	}
	const sentence = "PostgreSQL's server programs (initdb, pg_basebackup) are not installed"
	if os.Getenv("CI") == "true" {
		t.Fatal(sentence)
	}
	t.Skip(sentence)
	return ""
}

func (c *Cluster) run(t testing.TB, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(c.bin, program), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	if told, err := cmd.CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
		t.Fatalf("%s: %v: %s %s", program, err, told, log)
	}
}

func (c *Cluster) start(t testing.TB, at string) {
	t.Helper()
	c.run(t, "pg_ctl", "-D", at+"/data", "-l", c.dir+"/log", "-w", "-o",
		"-c listen_addresses='' -c fsync=off -c unix_socket_directories="+at, "start")
	t.Cleanup(func() { c.run(t, "pg_ctl", "-D", at+"/data", "-m", "immediate", "-w", "stop") })
}

// Part stops replication to the standby.
func (c *Cluster) Part(t testing.TB) {
	t.Helper()
	c.QueryValue(t, c.Standby, "ALTER SYSTEM SET primary_conninfo = ''")
	c.QueryValue(t, c.Standby, "SELECT pg_reload_conf()")
	if !Await(func() bool { return c.QueryValue(t, c.Standby, "SELECT count(*) FROM pg_stat_wal_receiver") == "0" }) {
		t.Fatal("the standby still receives changes")
	}
}

// CaughtUp waits until the standby has everything that the primary has.
func (c *Cluster) CaughtUp(t testing.TB) {
	t.Helper()
	at := c.QueryValue(t, c.Primary, "SELECT pg_current_wal_lsn()")
	if !Await(func() bool {
		return c.QueryValue(t, c.Standby, "SELECT pg_last_wal_replay_lsn() >= '"+at+"'") == "true"
	}) {
		t.Fatal("the standby does not catch up")
	}
}

// Promote promotes the standby to a primary. The other server keeps running.
func (c *Cluster) Promote(t testing.TB) {
	t.Helper()
	c.run(t, "pg_ctl", "-D", c.dir+"/b/data", "-w", "promote")
}

// QueryValue runs a statement and returns the first column of its first row.
func (c *Cluster) QueryValue(t testing.TB, address, statement string) (text string) {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var value sql.NullString
	if err := db.QueryRowContext(t.Context(), statement).Scan(&value); err != nil && err != sql.ErrNoRows {
		t.Fatalf("%s: %v", statement, err)
	}
	return value.String
}
