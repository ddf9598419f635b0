package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sell records sales until one is not acknowledged, and returns the ids of the others.
func (s *shop) sell(t *testing.T, most int) (sold []int32, status int) {
	t.Helper()
	for range most {
		var sale soldBy
		var err error
		status, err = s.send(http.MethodPost, "/lyceum/v1/sales", "", map[string]any{"user_id": 1, "pricing_plan_id": 1}, &sale)
		if err != nil {
			t.Fatal(err)
		}
		if status != http.StatusCreated {
			return sold, status
		}
		sold = append(sold, sale.Sale.ID)
	}
	return sold, status
}

// limit limits how large the server's files can get from now on.
func (s *shop) limit(t *testing.T, size string) {
	t.Helper()
	if out, err := exec.Command("prlimit", "--pid", fmt.Sprint(s.server.cmd.Process.Pid), "--fsize="+size+":unlimited").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func (s *shop) measures(t *testing.T, line string) bool {
	t.Helper()
	_, body := get(t, "http://"+s.metrics+"/metrics")
	return strings.Contains(body, "\n"+line+"\n")
}

// TestR30_LogFillsTheDisk checks that if the database's log takes the last space, it is
// checkpointed and truncated, and changes continue.
func TestR30_LogFillsTheDisk(t *testing.T) {
	t.Parallel()
	s := openShop(t, t.TempDir())
	s.fileSize = 2 << 20 // a sixteenth of the size that the log reaches before it is checkpointed
	s.serve(t)
	if sold, status := s.sell(t, 100); status != http.StatusCreated {
		log, err := os.Stat(filepath.Join(s.place, "lyceum.db-wal"))
		t.Fatalf("after %d sales: %d; the log has %d bytes, %v", len(sold), status, log.Size(), err)
	}
	if status, body := get(t, "http://"+s.addr+"/readyz"); status != http.StatusOK {
		t.Errorf("/readyz answers %d %s", status, body)
	}
}

// TestR30_FullDisk checks that while the disk is full, changes are rejected and lists still
// served, and readiness and metrics say why. Once there is space again, changes continue
// without a restart. Nothing that was acknowledged is lost.
func TestR30_FullDisk(t *testing.T) {
	t.Parallel()
	s := openShop(t, t.TempDir())
	s.serve(t)
	sold, _ := s.sell(t, 5)
	s.limit(t, "4096")
	before := len(sold)
	more, status := s.sell(t, 5)
	if sold = append(sold, more...); len(sold) > before || status != http.StatusServiceUnavailable {
		t.Errorf("a sale on a full disk: %d", status)
	}
	if status, err := s.send(http.MethodGet, "/v1/transactions", "", nil, nil); err != nil || status != http.StatusOK {
		t.Errorf("a list on a full disk: %d %v", status, err)
	}
	if status, body := get(t, "http://"+s.addr+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "the database's disk is full or failing") {
		t.Errorf("/readyz answers %d %s", status, body)
	}
	if !s.measures(t, "lyceum_storage_full 1") {
		t.Error("/metrics does not have lyceum_storage_full 1")
	}
	s.limit(t, "unlimited")
	if !await(func() bool { status, _ := get(t, "http://"+s.addr+"/readyz"); return status == http.StatusOK }) {
		t.Fatal("the server does not become ready again")
	}
	if more, status = s.sell(t, 5); status != http.StatusCreated || !s.measures(t, "lyceum_storage_full 0") {
		t.Errorf("a sale when there is room again: %d", status)
	}
	sold = append(sold, more...)
	if status, err := s.server.signal(15); err != nil || status != 0 {
		t.Error(status, err)
	}
	if status, said := ran(t, "check", "--data", s.place); status != 0 || !strings.Contains(said, fmt.Sprintf(" %d transactions, all in order", len(sold))) {
		t.Errorf("%d sales were acknowledged: %d %s", len(sold), status, said)
	}
}

// TestR30_DamagedDatabase checks that readiness and metrics report that damaged data was read.
func TestR30_DamagedDatabase(t *testing.T) {
	t.Parallel()
	s := openShop(t, t.TempDir())
	file, err := os.OpenFile(filepath.Join(s.place, "lyceum.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s.serve(t)
	if !s.measures(t, "lyceum_storage_damaged 0") {
		t.Error("the database is damaged from the begin")
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(4096); at < info.Size(); at += 4096 {
		if _, err := file.WriteAt([]byte(strings.Repeat("\xff", 4096)), at); err != nil {
			t.Fatal(err)
		}
	}
	for id := 1; id < 9; id++ { // the damaged page does not stay in memory forever
		_, _ = s.send(http.MethodGet, fmt.Sprintf("/v1/users/%d", id), "", nil, nil)
	}
	if !s.measures(t, "lyceum_storage_damaged 1") {
		t.Error("/metrics does not have lyceum_storage_damaged 1")
	}
	if status, body := get(t, "http://"+s.addr+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "the database is damaged") {
		t.Errorf("/readyz answers %d %s", status, body)
	}
}

// TestExportToAFullDisk checks that an export whose file does not fit says what to do, and leaves
// nothing behind.
func TestExportToAFullDisk(t *testing.T) {
	t.Parallel()
	data, dir := newSchool(t), t.TempDir()
	var rows strings.Builder
	rows.WriteString("id,email\n")
	for id := range 5000 {
		fmt.Fprintf(&rows, "%d,u%[1]d@example.com\n", id+2)
	}
	users := filepath.Join(t.TempDir(), "users.csv")
	if err := os.WriteFile(users, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "import", "users", users, "--data", data)
	path := filepath.Join(dir, "users.csv")
	out, err := exec.Command(
		"prlimit", "--fsize=100000:unlimited", "lyceum", "export", "users", "--data", data, "--output", path,
	).CombinedOutput()
	if want := "lyceum: " + path + " cannot be written; choose a folder that exists, is writable and has free space\n"; err == nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("%v %s, want %s", err, out, want)
	}
	if holds := names(t, dir); holds != "" {
		t.Errorf("the folder holds %s", holds)
	}
}
