package sqlstore

import (
	"slices"
	"strings"
	"testing"
)

// notPersonal are tables with user ids that are not handed over, and why.
var notPersonal = map[string]string{
	"erasures": "of those who are erased, who can ask for nothing",
}

// copies are tables that are erased but contain only copies of what is handed over, or what
// others wrote.
var copies = []string{"answers", "bulk_jobs", "bulk_parts", "event_payloads", "webhook_attempts", "erasures"}

// A person is handed every column of every table with their user id, and something from every
// table that erasing them touches, without secrets.
func TestPeopleAreHandedAllOfTheirData(t *testing.T) {
	t.Parallel()
	store, _ := spied(t)
	listed := map[string]*personalTable{}
	for i := range personalTables {
		listed[personalTables[i].table] = &personalTables[i]
	}
	rows, err := store.writes.db.QueryContext(t.Context(),
		"SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		columns[table] = append(columns[table], column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for table, names := range columns {
		p, is := listed[table]
		if !is {
			if slices.Contains(names, "user_id") && notPersonal[table] == "" {
				t.Errorf("a person is not handed what %s has of them", table)
			}
			continue
		}
		said := append(strings.Fields(p.columns), strings.Fields(p.kept)...)
		for _, name := range names {
			if name != "school_id" && !slices.Contains(said, name) {
				t.Errorf("nothing is said of %s.%s", table, name)
			}
		}
		for _, secret := range []string{"hash", "password_hash", "sealed", "shown"} {
			if slices.Contains(strings.Fields(p.columns), secret) {
				t.Errorf("%s.%s is handed over", table, secret)
			}
		}
	}
	for _, table := range erasedTables() {
		if listed[table] == nil && !slices.Contains(copies, table) {
			t.Errorf("erasing touches %s, of which a person is handed nothing", table)
		}
	}
}
