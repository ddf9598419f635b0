package learning

import (
	"slices"

	"github.com/lyceum-school/lyceum"
)

// aboutErased returns a problem for each row that has something about a person who was erased,
// with what must be done about it. Its user exists. has returns the user and the field that it is
// in, or no user if there is nothing.
func aboutErased[T any](
	tx lyceum.Tx, rows []T, must string, has func(*T) (of lyceum.UserID, field string),
) (problems []lyceum.RowProblem, err error) {
	var ids []lyceum.UserID
	for i := range rows {
		if of, _ := has(&rows[i]); of != 0 {
			ids = append(ids, of)
		}
	}
	slices.Sort(ids)
	there, err := tx.UserSummaries.Find(tx, slices.Compact(ids)...)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		of, field := has(&rows[i])
		if _, found := there[of]; of != 0 && !found {
			problems = append(problems, problem(i, field, "must be %s, because user %d was erased", must, of))
		}
	}
	return problems, nil
}

func saidBy(c *lyceum.Comment) (lyceum.UserID, string) {
	switch {
	case c.Body != "":
		return c.User, "body"
	case len(c.Attachments) > 0:
		return c.User, "attachments"
	}
	return 0, ""
}

func answeredBy(r *lyceum.QuizResponse) (lyceum.UserID, string) {
	if r.Answers.Present {
		return r.User, "answers"
	}
	return 0, ""
}

func authorOf(a *lyceum.AuthorProfile) (lyceum.UserID, string) {
	switch {
	case a.Name.Present:
		return a.UserID.Value, "name"
	case a.Bio.Present:
		return a.UserID.Value, "bio"
	case a.ProfileImageURL.Present:
		return a.UserID.Value, "profile_image_url"
	}
	return 0, ""
}

func affiliateOf(a *lyceum.AffiliatePartner) (lyceum.UserID, string) {
	if a.Name.Present {
		return a.UserID.Value, "name"
	}
	return 0, ""
}

func enrolledStill(e *lyceum.Enrollment) (lyceum.UserID, string) {
	if e.EndedAt.Present {
		return 0, ""
	}
	return e.User, "ended_at"
}
