package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// getByID finds one row of a table; what names the thing in a refusal.
func getByID[ID ~int32, T any](q *session, school lyceum.SchoolID, table *table[T], id ID, what string) (T, error) {
	var row T
	there, err := q.one("SELECT "+table.list()+" FROM "+table.name+" WHERE school_id = $1 AND "+table.columns[0]+" = $2", []any{int64(school), int64(id)}, table.scan(&row)...)
	if err != nil {
		return row, fmt.Errorf("get %s: %w", what, err)
	}
	if !there {
		return row, lyceum.Errorf(lyceum.NotFound, "there is no %s %d", what, id)
	}
	return row, nil
}

// rows gives all rows of a query over the columns of a table.
func rows[T any](q *session, table *table[T], tail string, args ...any) ([]T, error) {
	var found []T
	var row T
	err := q.each("SELECT "+table.list()+" FROM "+table.name+tail, args, table.scan(&row), func() error { found = append(found, row); return nil })
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", table.name, err)
	}
	return found, nil
}

// pageOf reads a page and its total.
func pageOf[T any](ctx context.Context, s *Store, columns, from string, w *where, count total, order string, p lyceum.Page, scan func(*T) []any) (found []T, n int64, err error) {
	v := &view{ctx: ctx, store: s, q: s.reads.single(ctx)}
	return pageBy(v, func(limit string) string {
		return "SELECT " + count.text + ", " + columns + from + w.String() + order + limit
	}, w, count, p, scan)
}

// FindUserPage implements lyceum.Reader.
func (s *Store) FindUserPage(ctx context.Context, school lyceum.SchoolID, f lyceum.UserFilter, p lyceum.Page) (lyceum.UserListing, error) {
	w := &where{}
	w.and("u.school_id = ?", int64(school))
	from, count := " FROM users u", kept(users.counter)
	if f.Email.Present {
		w.and("u.email_key = ?", emailKey(f.Email.Value))
		count = counted(from, w)
	}
	asked := p
	if f.After.Present {
		w.and("u.user_id > ?", int64(f.After.Value))
		p = lyceum.Page{Number: 1, Size: p.Size + 1} // one more tells whether there are more
	}
	found, n, err := pageOf(ctx, s, "u.user_id, u.email, u.name", from, w, count, " ORDER BY u.user_id", p, func(u *lyceum.User) []any {
		return []any{scanInt(&u.ID), scanText(&u.Email), scanOptText(&u.Name)}
	})
	listing := lyceum.UserListing{Page: asked, Total: n, Users: found}
	if f.After.Present && len(found) > int(asked.Size) {
		listing.More, listing.Users = true, found[:asked.Size]
	}
	return listing, err
}

// FindTags implements lyceum.Reader.
func (s *Store) FindTags(ctx context.Context, school lyceum.SchoolID, user lyceum.UserID) ([]string, error) {
	found, err := findTags(s.reads.single(ctx), school, user)
	return found, s.public(err)
}

func findTags(q *session, school lyceum.SchoolID, user lyceum.UserID) ([]string, error) {
	var found []string
	var name string
	err := q.each("SELECT name FROM user_tags WHERE school_id = $1 AND user_id = $2 ORDER BY name", []any{int64(school), int64(user)},
		[]any{scanText(&name)}, func() error { found = append(found, name); return nil })
	slices.Sort(found) // in one order on every engine
	return found, err
}

// EachTag implements lyceum.Reader.
func (s *Store) EachTag(ctx context.Context, school lyceum.SchoolID, visit func(lyceum.UserID, string) error) error {
	err := s.reads.snapshot(ctx, func(q *session) error {
		var user lyceum.UserID
		var name string
		return q.each("SELECT user_id, name FROM user_tags WHERE school_id = $1 ORDER BY user_id, name", []any{int64(school)},
			[]any{scanInt(&user), scanText(&name)}, func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return visit(user, name)
			})
	})
	return s.public(err)
}
