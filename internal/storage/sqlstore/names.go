package sqlstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// named says where to find the names of a sequence's rows: the columns for id, name and note, and
// the table.
type named struct{ id, name, note, from string }

var namedIn = map[lyceum.Sequence]named{
	lyceum.UserSequence:      {"n.user_id", "COALESCE(n.name, '')", "n.email", "users n"},
	lyceum.CourseSequence:    {"n.course_id", "n.name", "''", "courses n"},
	lyceum.AffiliateSequence: {"n.affiliate_id", "COALESCE(n.name, '')", "''", "affiliates n"},
	lyceum.PricingPlanSequence: {
		"n.pricing_plan_id", "n.name", "COALESCE(c.name, '')",
		"pricing_plans n LEFT JOIN courses c ON c.school_id = n.school_id AND c.course_id = n.course_id",
	},
	lyceum.AuthorSequence: {
		"n.author_id", "COALESCE(n.name, u.name, '')", "COALESCE(u.email, '')",
		"authors n LEFT JOIN users u ON u.school_id = n.school_id AND u.user_id = n.user_id",
	},
}

func (n *named) query() string {
	return "SELECT " + n.id + ", " + n.name + ", " + n.note + " FROM " + n.from + " WHERE n.school_id = $1"
}

func scanNamed(n *lyceum.Named) []any {
	return []any{scanInt(&n.ID), scanText(&n.Name), scanText(&n.Note)}
}

func (v *view) FindNames(of lyceum.Sequence, ids []int32) (map[int32]lyceum.Named, error) {
	in, ok := namedIn[of]
	if !ok {
		return nil, fmt.Errorf("what %s numbers has no names", of)
	}
	found := map[int32]lyceum.Named{}
	var n lyceum.Named
	err := inChunks(v.q, in.query()+" AND "+in.id+" IN ", v.school, int32Args(ids), scanNamed(&n),
		func() { found[n.ID] = n })
	return found, v.public(err)
}

// errEnough stops a search that has reached its limit.
var errEnough = errors.New("enough was found")

// SearchNames compares strings in Go, because the engines differ in the letters whose case they
// can fold.
func (v *view) SearchNames(of lyceum.Sequence, text string, limit int) ([]lyceum.Named, error) {
	in, ok := namedIn[of]
	if !ok {
		return nil, fmt.Errorf("what %s numbers has no names", of)
	}
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 || limit < 1 {
		return nil, nil
	}
	var found []lyceum.Named
	var n lyceum.Named
	if of == lyceum.UserSequence {
		var err error
		if found, err = v.beginning(&in, strings.ToLower(strings.TrimSpace(text)), limit); err != nil {
			return nil, v.public(fmt.Errorf("search addresses and names: %w", err))
		}
	}
	first := found
	err := v.q.each(in.query()+" ORDER BY "+in.id+" DESC LIMIT $2", []any{int64(v.school), int64(lyceum.NamesSearched)},
		scanNamed(&n), func() error {
			if len(found) >= limit {
				return errEnough
			}
			if has(n.Name+" "+n.Note, words) && !slices.Contains(first, n) {
				found = append(found, n)
			}
			return nil
		})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, v.public(fmt.Errorf("search names: %w", err))
	}
	return found, nil
}

// beginning returns up to limit users whose email address or name begins with text, which is in
// lower case. Matches by address come first.
func (v *view) beginning(in *named, text string, limit int) ([]lyceum.Named, error) {
	var found []lyceum.Named
	var n lyceum.Named
	for _, key := range []string{"n.email_key", "n.name_key"} {
		err := v.q.each(in.query()+" AND "+key+" >= $2 AND "+key+" <= $3 ORDER BY "+key+", n.user_id LIMIT $4",
			[]any{int64(v.school), text, text + "\U0010FFFF", int64(limit)}, scanNamed(&n), func() error {
				if len(found) < limit && !slices.Contains(found, n) {
					found = append(found, n)
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func has(text string, words []string) bool {
	text = strings.ToLower(text)
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}
