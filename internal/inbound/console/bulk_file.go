package console

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
)

// readPeople parses a list of users: a CSV file with a column email or user_id, or one email
// address or number per line. It returns a description of what is wrong with the file. A row
// that names nobody counts as a user who does not exist; blank lines, and empty rows before the
// first filled one, are skipped.
func readPeople(text string, job *bulk.NewJob) (problem string) {
	text = strings.TrimPrefix(text, byteOrderMark)
	if !strings.Contains(text, "\n") { // line ends of old Macs
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	file := csv.NewReader(strings.NewReader(text))
	file.Comma, file.FieldsPerRecord, file.TrimLeadingSpace = commaOf(text), -1, true
	list := people{job: job}
	for {
		record, err := file.Read()
		switch {
		case errors.Is(err, io.EOF):
			return list.end()
		case err != nil:
			return fmt.Sprintf("cannot be read as CSV: %v", err)
		}
		line, _ := file.FieldPos(0)
		if problem := list.add(record, line); problem != "" {
			return problem
		}
	}
}

// byteOrderMark begins the CSV files of the console: spreadsheets would otherwise read names with
// letters such as ü in another encoding than UTF-8. Files that people upload may begin with it.
const byteOrderMark = "\uFEFF"

const maxShown = 60 // bytes of a cell that are shown in a message

// people collects the users in a list.
type people struct {
	job     *bulk.NewJob
	begun   bool
	header  bool
	column  int
	numbers bool // the first entry is a user ID
}

// add adds the user in a row.
func (p *people) add(record []string, line int) (problem string) {
	cells := filled(record)
	if len(cells) == 0 && (len(record) == 1 || !p.begun) { // a blank line
		return ""
	}
	if !p.begun {
		p.begun = true
		if p.column, p.numbers, p.header = headerOf(record); p.header {
			return ""
		}
		p.numbers = figures(strings.TrimSpace(record[0]))
	}
	switch {
	case !p.header && len(cells) > 1:
		return fmt.Sprintf("must have one person per line, or a column named email or user_id; line %d has %d cells",
			line, len(cells))
	case len(p.job.Emails)+len(p.job.Users) == lyceum.MaxBulkRows:
		return fmt.Sprintf("must have at most %d people", lyceum.MaxBulkRows)
	}
	p.job.Lines = append(p.job.Lines, int32(line))
	cell := ""
	if p.column < len(record) {
		cell = strings.TrimSpace(record[p.column])
	}
	return p.person(cell, line)
}

// person adds the user that a cell names; an empty cell names nobody.
func (p *people) person(cell string, line int) (problem string) {
	switch {
	case !lyceum.IsText(cell):
		return fmt.Sprintf("must be UTF-8 text; line %d is not. Save a spreadsheet as CSV in UTF-8", line)
	case !p.header && p.numbers != figures(cell) && cell != "":
		return fmt.Sprintf("must have only user IDs or only email addresses, one per line; line %d has “%s”, unlike the "+
			"first", line, shownCell(cell))
	case !p.numbers:
		p.job.Emails = append(p.job.Emails, cell)
		return ""
	case cell == "":
		p.job.Users = append(p.job.Users, 0)
		return ""
	}
	id, err := strconv.ParseInt(cell, 10, 32)
	if err != nil || id == 0 {
		return fmt.Sprintf(
			"must have only user IDs from 1 to %d; line %d has “%s”", lyceum.MaxID, line, shownCell(cell),
		)
	}
	p.job.Users = append(p.job.Users, lyceum.UserID(id))
	return ""
}

// shownCell returns as much of a cell as fits into a message.
func shownCell(cell string) string { return strings.ToValidUTF8(cell[:min(len(cell), maxShown)], "") }

func (p *people) end() (problem string) {
	if len(p.job.Emails)+len(p.job.Users) == 0 {
		return "names nobody; it needs one email address or user ID per line"
	}
	return ""
}

// filled returns the non-empty cells of a row.
func filled(record []string) (cells []string) {
	for _, cell := range record {
		if cell = strings.TrimSpace(cell); cell != "" {
			cells = append(cells, cell)
		}
	}
	return cells
}

// headerOf finds the column that names users in the first row of a file. A plain "id" is not
// accepted, because ids of other programs are not those of users.
func headerOf(record []string) (column int, numbers, found bool) {
	names := make([]string, len(record))
	for i, cell := range record {
		names[i] = strings.ToLower(strings.TrimSpace(cell))
	}
	for _, name := range []string{"email", "email address", "e-mail", "user_id"} {
		if at := slices.Index(names, name); at >= 0 {
			return at, name == "user_id", true
		}
	}
	return 0, false, false
}

// commaOf returns the separator of a file's cells.
func commaOf(text string) rune {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	comma, most := ',', strings.Count(line, ",")
	for _, other := range ";\t" {
		if n := strings.Count(line, string(other)); n > most {
			comma, most = other, n
		}
	}
	return comma
}
