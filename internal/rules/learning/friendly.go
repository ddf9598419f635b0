package learning

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/lyceum-school/lyceum"
)

const addressTaken = "is that of another course of the school"

// addressed rejects a course whose friendly URL another course has, ignoring case, and makes one
// for a course without.
func addressed(tx lyceum.Tx, c *lyceum.Course) error {
	if c.FriendlyURL.Present {
		taken, err := addressOfAnother(tx, c.ID, c.FriendlyURL.Value)
		if err == nil && taken {
			err = lyceum.InvalidFields(lyceum.FieldError{Field: "friendly_url", Message: addressTaken})
		}
		return err
	}
	for address := slug(c.Name); ; address = strings.TrimPrefix(fmt.Sprintf("%s-%d", address, c.ID), "-") {
		taken, err := addressOfAnother(tx, c.ID, address)
		if c.FriendlyURL = lyceum.Some(address); err != nil || !taken && address != "" {
			return err
		}
	}
}

func addressOfAnother(tx lyceum.Tx, id lyceum.CourseID, address string) (bool, error) {
	other, found, err := tx.Courses.First(tx, lyceum.CourseFilter{FriendlyURL: lyceum.Some(address)})
	return found && other.ID != id, err
}

var notOfSlug = regexp.MustCompile(`[^a-z0-9]+`)

// maxSlug is the maximum length of a friendly URL that is made from a name, in characters. An id
// may follow.
const maxSlug = 80

// slug makes a friendly URL from a name.
func slug(name string) string {
	s := strings.Trim(notOfSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return strings.Trim(s[:min(len(s), maxSlug)], "-")
}

var friendly = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,100}$`)

// takenAddresses returns a problem for each row whose friendly URL is malformed or taken by
// another course.
func takenAddresses(tx lyceum.Tx, rows []lyceum.CourseRow) (problems []lyceum.RowProblem, err error) {
	said := map[string]lyceum.CourseID{}
	for i := range rows {
		address, id := rows[i].FriendlyURL, rows[i].ID
		if !address.Present {
			continue
		}
		key := strings.ToLower(address.Value)
		if !friendly.MatchString(address.Value) {
			problems = append(problems, problem(i, "friendly_url", "must be 1 to 100 letters, digits, - or _"))
			continue
		}
		taken, err := addressOfAnother(tx, id, key)
		if err != nil {
			return nil, err
		}
		if other, there := said[key]; taken || there && other != id {
			problems = append(problems, problem(i, "friendly_url", addressTaken))
		}
		said[key] = id
	}
	return problems, nil
}
