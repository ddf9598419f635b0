package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

type usageCommand struct {
	database       `embed:""`
	indexSettings  `embed:""`
	School         *lyceum.SchoolID `help:"Show the rows of this school. Default: all schools." placeholder:"N"`
	JSON           bool             `help:"Print one JSON object, with all sizes in bytes."`
	retentionFlags `embed:""`
}

// Help implements kong's help for the command.
func (usageCommand) Help() string {
	return `Examples:
  lyceum usage --data /var/lib/lyceum
  lyceum usage --keep-events 30 --keep-attempts 7

Shows how much disk space the tables and files use, and how many rows each school keeps for a limited time. EXPIRED
counts the rows that the server deletes in its next sweep; with --keep-… flags, the rows that it would delete with
these settings, which lyceum school set changes. Sizes of rows are estimates, based on the average row. The command
only reads, and the server may keep running. It reads the whole SQLite file.`
}

// Run prints the sizes and the numbers of rows.
func (c *usageCommand) Run(p *program) (err error) {
	store, err := c.existing(p)
	if err != nil {
		return err
	}
	defer closing(store, &err)
	schools, err := store.FindSchools(p.ctx)
	if err != nil {
		return err
	}
	for i := range schools {
		if err := c.of(schools[i].Retention).Check(); err != nil {
			return asFlags(err)
		}
	}
	var only lyceum.SchoolID
	if c.School != nil {
		only = *c.School
		if !slices.ContainsFunc(schools, func(s lyceum.School) bool { return s.ID == only }) {
			return lyceum.Errorf(lyceum.NotFound, "there is no school %d", only)
		}
	}
	found, err := access.UsageOf(p.ctx, store, schools, p.clock(), c.of)
	if err != nil {
		return err
	}
	u := usageOf(&found, only)
	if c.Data != "" {
		if err := u.addFolder("uploaded files", filepath.Join(c.Data, "files")); err != nil {
			return err
		}
	}
	if folder := c.snapshots(c.folder()); folder != "" {
		if err := u.addFolder("saved sales indexes", folder); err != nil {
			return err
		}
	}
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(u)
	}
	return u.print(p)
}

// diskUsage is what the command prints.
type diskUsage struct {
	Bytes   int64         `json:"database_bytes"`
	Free    int64         `json:"free_bytes"` // of the database
	Groups  []usageGroup  `json:"groups"`
	Schools []schoolUsage `json:"schools"`
}

type usageGroup struct {
	Name    string   `json:"name"`
	Bytes   int64    `json:"bytes"`
	Indexes int64    `json:"index_bytes"`
	Tables  []string `json:"tables"`
}

type schoolUsage struct {
	ID   lyceum.SchoolID `json:"id"`
	Name string          `json:"name"`
	Kept []keptUsage     `json:"kept"`
}

type keptUsage struct {
	What         lyceum.Kept `json:"what"`
	Days         int32       `json:"days"` // 0 means forever
	Rows         int64       `json:"rows"`
	Bytes        int64       `json:"bytes"`
	Expired      int64       `json:"expired_rows"`
	ExpiredBytes int64       `json:"expired_bytes"`
}

// tableGroups groups the tables of a database by what they are about.
var tableGroups = []struct {
	name   string
	tables []string
}{
	{"sales", []string{
		"sales", "transactions", "movements", "disputes", "payment_failures", "sale_warnings", "charge_references",
		"orders", "coupons", "pricing_plans", "receipts", "sellers",
	}},
	{"users", []string{"users", "user_tags", "authors", "affiliates", "erasures", "planned_erasures"}},
	{"learning", []string{
		"courses", "lecture_sections", "lectures", "attachments", "download_attachments", "digital_downloads",
		"product_collections", "collection_products", "memberships", "membership_tiers", "tier_products", "coaching",
		"enrollments", "admissions", "entitlements", "relinkings", "recountings", "blocks", "progress", "lecture_progress",
		"quiz_responses", "comments", "uploads",
	}},
	{"journal", []string{"journal", "journal_runs", "cursors", "counters"}},
	{"events", []string{"event_payloads"}},
	{"deliveries", []string{"webhooks", "webhook_events", "webhook_usage", "delivery_changes"}},
	{"attempts", []string{"webhook_attempts"}},
	{"answers", []string{"answers"}},
	{"access", []string{
		"sessions", "links", "authorization_codes", "access_tokens", "refresh_tokens", "grants", "oauth_apps", "api_keys",
		"rate_windows", "staff_members", "second_factors",
		"recovery_codes", "passkeys",
	}},
	{"emails", []string{"email_templates", "template_secrets", "emails"}},
	{"failed requests", []string{"failed_requests"}},
	{"bulk jobs", []string{"bulk_jobs", "bulk_parts"}},
}

// keptIn maps what is kept for a limited time to its tables.
var keptIn = map[lyceum.Kept][]string{
	lyceum.KeptEvents:     {"event_payloads"},
	lyceum.KeptAttempts:   {"webhook_attempts"},
	lyceum.KeptDeliveries: {"webhook_events"},
	lyceum.KeptAnswers:    {"answers"},
	lyceum.KeptSessions:   {"sessions", "authorization_codes", "access_tokens", "refresh_tokens"},
	lyceum.KeptLinks:      {"links"},
	lyceum.KeptEmails:     {"emails"},
}

// usageOf combines what was found, for one school or, with 0, for all.
func usageOf(found *access.Usage, school lyceum.SchoolID) *diskUsage {
	u := &diskUsage{Bytes: found.Bytes, Free: found.Free, Groups: []usageGroup{}, Schools: []schoolUsage{}}
	sizes := map[string]lyceum.TableSize{}
	for _, t := range found.Tables {
		sizes[t.Table] = t
	}
	add := func(name string, tables []string) {
		g := usageGroup{Name: name, Tables: tables}
		for _, table := range tables {
			g.Bytes += sizes[table].Bytes
			g.Indexes += sizes[table].Indexes
			delete(sizes, table)
		}
		u.Groups = append(u.Groups, g)
	}
	average := averages(found, sizes)
	for _, g := range tableGroups {
		add(g.name, g.tables)
	}
	var others []string
	for table := range sizes {
		others = append(others, table)
	}
	slices.Sort(others)
	add("other", others)
	for i := range found.Schools {
		if s := &found.Schools[i]; school == 0 || s.ID == school {
			u.Schools = append(u.Schools, schoolUsage{ID: s.ID, Name: s.Name, Kept: keptOf(s, average)})
		}
	}
	return u
}

// averages returns the average size of a row of each kind that is kept for a limited time,
// including its share of the indexes, in bytes.
func averages(found *access.Usage, sizes map[string]lyceum.TableSize) map[lyceum.Kept]float64 {
	average := map[lyceum.Kept]float64{}
	for kept, tables := range keptIn {
		var bytes, rows int64
		for _, table := range tables {
			bytes += sizes[table].Bytes + sizes[table].Indexes
		}
		for i := range found.Schools {
			rows += found.Schools[i].Rows[kept]
		}
		if rows > 0 {
			average[kept] = float64(bytes) / float64(rows)
		}
	}
	return average
}

func keptOf(s *access.SchoolUsage, average map[lyceum.Kept]float64) []keptUsage {
	r := s.Retention
	kept := []keptUsage{
		{What: lyceum.KeptEvents, Days: r.Events},
		{What: lyceum.KeptAttempts, Days: r.Attempts},
		{What: lyceum.KeptDeliveries, Days: r.Deliveries()},
		{What: lyceum.KeptAnswers, Days: r.Answers},
		{What: lyceum.KeptSessions, Days: r.Sessions},
		{What: lyceum.KeptLinks, Days: r.Links},
		{What: lyceum.KeptEmails, Days: r.Emails},
	}
	for i := range kept {
		k := &kept[i]
		k.Rows, k.Expired = s.Rows[k.What], s.Expired[k.What]
		k.Bytes = int64(average[k.What] * float64(k.Rows))
		k.ExpiredBytes = int64(average[k.What] * float64(k.Expired))
	}
	return kept
}

// addFolder adds the size of the files in a folder, if it exists.
func (u *diskUsage) addFolder(name, folder string) error {
	g := usageGroup{Name: name, Tables: []string{}}
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		}
		if err == nil {
			g.Bytes += info.Size()
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &lyceum.Error{Kind: lyceum.Unavailable, Detail: "the folder " + folder + " cannot be read", Err: err}
	}
	u.Groups = append(u.Groups, g)
	return nil
}

func (u *diskUsage) print(p *program) error {
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "SIZE\tINDEXES\t  OF")
	for _, g := range u.Groups {
		fmt.Fprintf(table, "%s\t%s\t  %s\n", shownBytes(g.Bytes), shownBytes(g.Indexes), g.Name)
	}
	fmt.Fprintf(table, "%s\t\t  database in total\n", shownBytes(u.Bytes))
	fmt.Fprintf(table, "%s\t\t  of that, free and reused\n", shownBytes(u.Free))
	for _, s := range u.Schools {
		fmt.Fprintf(table, "\nROWS\tSIZE\tKEPT\tEXPIRED\tSIZE\t  OF SCHOOL %d, %s\n", s.ID, s.Name)
		for _, k := range s.Kept {
			fmt.Fprintf(table, "%d\t%s\t%s\t%d\t%s\t  %s\n", k.Rows, shownBytes(k.Bytes), shownDays(k.Days), k.Expired,
				shownBytes(k.ExpiredBytes), k.What)
		}
	}
	return table.Flush()
}

// shownBytes formats a size in kB, or in MB if it is at least 10 MB.
func shownBytes(bytes int64) string {
	if bytes < 10<<20 {
		return fmt.Sprintf("%d kB", kilobytes(bytes))
	}
	return fmt.Sprintf("%d MB", (bytes+(1<<19))>>20)
}
