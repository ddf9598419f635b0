package sqlstore

import (
	"database/sql"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var users = define(&tables.Users, noun[lyceum.UserID, lyceum.User, lyceum.UserFilter]{
	table: table[lyceum.User]{
		name: "users", counter: userCounter, changed: countRoles, wide: true,
		touched: func(u *lyceum.User) *time.Time { return &u.UpdatedAt },
		born:    func(u *lyceum.User) time.Time { return u.CreatedAt },
	},
	entries: "user",
	key:     idKey("user_id", func(u *lyceum.User) *lyceum.UserID { return &u.ID }),
	rest: []column[lyceum.User]{
		textColumn("email", func(u *lyceum.User) *string { return &u.Email }),
		{
			name: "email_key", // must be unique, regardless of case
			bind: func(u *lyceum.User) any { return emailKey(u.Email) },
			scan: func(*lyceum.User) sql.Scanner { return discard },
		},
		optTextColumn("name", func(u *lyceum.User) *lyceum.Opt[string] { return &u.Name }),
		textColumn("role", func(u *lyceum.User) *lyceum.Role { return &u.Role }),
		optTextColumn("src", func(u *lyceum.User) *lyceum.Opt[string] { return &u.Src }),
		optTextColumn("password_hash", func(u *lyceum.User) *lyceum.Opt[string] { return &u.PasswordHash }),
		timeColumn("created_at", func(u *lyceum.User) *time.Time { return &u.CreatedAt }),
		optTimeColumn("disabled_at", func(u *lyceum.User) *lyceum.Opt[time.Time] { return &u.DisabledAt }),
		optTimeColumn("last_sign_in_at", func(u *lyceum.User) *lyceum.Opt[time.Time] { return &u.LastSignInAt }),
		optTextColumn("last_sign_in_ip", func(u *lyceum.User) *lyceum.Opt[string] { return &u.LastSignInIP }),
		boolColumn("must_change_password", func(u *lyceum.User) *bool { return &u.MustChangePassword }),
		{
			name: "name_key", // names are found and sorted by it
			bind: func(u *lyceum.User) any { return strings.ToLower(u.Name.Value) },
			scan: func(*lyceum.User) sql.Scanner { return discard },
		},
		optTextColumn("phone_number", func(u *lyceum.User) *lyceum.Opt[string] { return &u.PhoneNumber }),
		optBoolColumn("marketing", func(u *lyceum.User) *lyceum.Opt[bool] { return &u.Marketing }),
		optTextColumn("notes", func(u *lyceum.User) *lyceum.Opt[string] { return &u.Notes }),
		timeColumn("updated_at", func(u *lyceum.User) *time.Time { return &u.UpdatedAt }),
		optTimeColumn("erased_at", func(u *lyceum.User) *lyceum.Opt[time.Time] { return &u.ErasedAt }),
	},
	hides:      erased,
	show:       loadTags,
	weighShown: weighTagged,
	narrow:     narrowUsers,
	hint:       hintUsers,
	order:      orderUsers,
	count:      totalUsers,
	after:      afterUser,
	indexed:    followUsers,
})

var _ = define(&tables.UserSummaries, noun[lyceum.UserID, lyceum.UserSummary, lyceum.UserFilter]{
	table: table[lyceum.UserSummary]{name: users.name, counter: userCounter, wide: true},
	what:  "user",
	key:   idKey("user_id", func(u *lyceum.UserSummary) *lyceum.UserID { return &u.ID }),
	rest: []column[lyceum.UserSummary]{
		textColumn("email", func(u *lyceum.UserSummary) *string { return &u.Email }),
		optTextColumn("name", func(u *lyceum.UserSummary) *lyceum.Opt[string] { return &u.Name }),
	},
	hides:   erased,
	narrow:  narrowUsers,
	hint:    hintUsers,
	order:   orderUsers,
	count:   totalUsers,
	after:   afterUser,
	indexed: followUsers,
})

// userCounter counts the users who are not erased.
const userCounter = "users"

// erased is the column with the time at which a user was erased. Erased users are visible only to
// imports.
const (
	erased    = "erased_at"
	notErased = erased + " IS NULL"
)

func narrowUsers(w *where, f lyceum.UserFilter) {
	if f.Email.Present {
		w.equal("email_key", emailKey(f.Email.Value))
	}
	if len(f.Emails) > 0 {
		keys := make([]string, len(f.Emails))
		for i, email := range f.Emails {
			keys[i] = emailKey(email)
		}
		oneOf(w, "email_key", keys)
	}
	if f.Except.Present {
		w.and("user_id <> ?", int64(f.Except.Value))
	}
	if f.Answered.Present {
		w.and("user_id IN (SELECT r.user_id FROM quiz_responses r WHERE r.school_id = $1 AND r.quiz_id = ?)",
			int64(f.Answered.Value))
	}
	if f.Tag.Present {
		w.and("user_id IN (SELECT t.user_id FROM user_tags t WHERE t.school_id = $1 AND t.name = ?)", f.Tag.Value)
	}
	if f.Product.Present {
		narrowHolders(w, f.Product.Value, f.AccessAt)
	}
	if f.Owners {
		w.and("role = 'owner'") // worded as in the condition of an index
	}
	if f.Enabled {
		w.absent("disabled_at")
	}
	among(w, "user_id", f.IDs)
	if f.Name.Present {
		w.and("name_key LIKE ? ESCAPE '!'", partOf(f.Name.Value))
	}
	if f.Begins.Present {
		narrowBeginning(w, strings.ToLower(f.Begins.Value))
	}
	if f.NeverBegan {
		narrowNeverBegan(w, f.AccessAt)
	}
	narrowRole(w, f.Role)
	w.within("created_at", f.Created)
	if !f.Erased {
		w.absent(erased)
	}
}

// narrowBeginning narrows users to those whose address or name begins with text, which is in
// lower case, or whose id it is.
func narrowBeginning(w *where, text string) {
	const of = "SELECT user_id FROM (SELECT b.user_id FROM users b WHERE b.school_id = $1 AND b.erased_at IS NULL"
	last, most := text+"\U0010FFFF", int64(lyceum.MaxBeginning)
	begins := func(key string) string {
		return of + " AND b." + key + " >= ? AND b." + key + " <= ? ORDER BY b." + key + " LIMIT ?) f"
	}
	cond, args := begins("email_key")+" UNION "+begins("name_key"), []any{text, last, most, text, last, most}
	if id, err := strconv.ParseInt(text, 10, 32); err == nil {
		cond, args = cond+" UNION SELECT b.user_id FROM users b WHERE b.school_id = $1 AND b.user_id = ?", append(args, id)
	}
	w.and("user_id IN ("+cond+")", args...)
}

// narrowNeverBegan narrows users to recent ones who bought a course and have not begun it. It
// reads the rows of one user at a time, each by a key.
func narrowNeverBegan(w *where, at time.Time) {
	w.and(`created_at >= COALESCE((SELECT n.created_at FROM users n WHERE n.school_id = $1
		ORDER BY n.created_at DESC, n.user_id DESC LIMIT 1 OFFSET ?), ?)`,
		int64(lyceum.NamesSearched-1), int64(math.MinInt64))
	const theirs = " WHERE o.school_id = $1 AND o.user_id = e.user_id AND o.course_id = e.course_id"
	w.and(`EXISTS (SELECT 1 FROM enrollments e WHERE e.school_id = $1 AND e.user_id = users.user_id
		AND e.ended_at IS NULL AND e.sale_id IS NOT NULL AND (e.expires_at IS NULL OR e.expires_at > ?)
		AND NOT EXISTS (SELECT 1 FROM progress o`+theirs+` AND (o.percent_complete > 0 OR o.completed_at IS NOT NULL))
		AND NOT EXISTS (SELECT 1 FROM lecture_progress o`+theirs+`)
		AND NOT EXISTS (SELECT 1 FROM quiz_responses q
			JOIN attachments a ON a.school_id = q.school_id AND a.quiz_id = q.quiz_id
			JOIN lectures l ON l.school_id = a.school_id AND l.lecture_id = a.lecture_id
			WHERE q.school_id = $1 AND q.user_id = e.user_id AND l.course_id = e.course_id))`, micros(at))
}

// narrowRole narrows users to a role. Except for students, the conditions are worded as in the
// index.
func narrowRole(w *where, role lyceum.Opt[lyceum.Role]) {
	switch {
	case !role.Present:
	case role.Value == lyceum.CustomRole:
		w.and("role NOT IN ('student', 'owner', 'author', 'affiliate')")
	case role.Value == lyceum.Student:
		w.and("role = 'student'")
	case role.Value == lyceum.Owner || role.Value == lyceum.Author || role.Value == lyceum.Affiliate:
		w.and("role <> 'student' AND role = ?", string(role.Value))
	default:
		w.and("1 = 0")
	}
}

// hintUsers makes queries use the index of the few users of a role, or the index by time for a
// period, whatever the order.
func hintUsers(d *dialect, f lyceum.UserFilter) string {
	role, period := f.Role.Value, f.Created != (lyceum.Period{})
	switch {
	case f.IDs != nil || f.Email.Present || f.Emails != nil || f.Begins.Present:
		return ""
	case !f.Role.Present || role == lyceum.Student:
		if period && !f.Tag.Present && !f.Product.Present && !f.Answered.Present {
			return d.indexed("users_created")
		}
		return ""
	case role == lyceum.CustomRole:
		return d.indexed("users_custom")
	case role.Custom():
		return ""
	}
	return d.indexed("users_roles")
}

func orderUsers(f lyceum.UserFilter) string {
	direction := ""
	if f.Order.Descending {
		direction = " DESC"
	}
	by := map[lyceum.UserKey]string{
		lyceum.UserByName: "name_key", lyceum.UserByEmail: "email_key", lyceum.UserByCreated: "created_at",
		lyceum.UserByUpdated: "updated_at", lyceum.UserBySignIn: "COALESCE(last_sign_in_at, 0)",
	}[f.Order.By]
	if by == "created_at" && f.Begins.Present {
		by += " + 0" // sorts the few matches; the index has all users
	}
	if by != "" {
		by += direction + ", "
	}
	return by + "user_id" + direction
}

// totalUsers reads a counter for the total of all users and of a role; it counts all others.
func totalUsers(f lyceum.UserFilter, w *where) total {
	role := f.Role
	f.Role, f.After, f.Order = lyceum.None[lyceum.Role](), lyceum.None[lyceum.UserID](), lyceum.UserOrder{}
	whole := f.Emails == nil
	f.Emails = nil
	switch {
	case !whole || !reflect.DeepEqual(f, lyceum.UserFilter{}):
		return counted(" FROM users", w)
	case !role.Present:
		return kept(userCounter)
	case role.Value.Custom() && role.Value != lyceum.CustomRole:
		return counted(" FROM users", w)
	}
	return kept(roleCounter(role.Value))
}

// roleCounter is the counter of the users of a role; all custom roles share one.
func roleCounter(role lyceum.Role) string {
	if role.Custom() {
		role = lyceum.CustomRole
	}
	return "users:" + string(role)
}

// countRoles updates the counters of users who are not erased.
func countRoles(t *tx, old, row *lyceum.User) {
	for _, side := range []struct {
		user *lyceum.User
		by   int64
	}{{old, -1}, {row, 1}} {
		if side.user != nil && !side.user.Erased() {
			t.count(roleCounter(side.user.Role), side.by)
		}
	}
	if row != nil && row.Erased() && (old == nil || !old.Erased()) {
		t.count(userCounter, -1)
	}
}

// narrowHolders narrows users to those who may use a product at a given time. Those who hold it,
// or a product that it comes with, are found by indexes, because they may be few compared with
// all entitlements of a school.
func narrowHolders(w *where, p lyceum.Product, at time.Time) {
	kind, id := string(p.Kind), int64(p.ID)
	direct, args := "SELECT h.user_id FROM entitlements h WHERE "+held+"h.product_type = ? AND h.product_id = ?",
		[]any{kind, id}
	if p.Kind == lyceum.CourseKind {
		direct, args = `SELECT h.user_id FROM enrollments h WHERE h.school_id = $1 AND h.course_id = ?
			AND h.ended_at IS NULL`, []any{id}
	}
	const comes = " AND i.school_id = $1 AND i.product_type = ? AND i.product_id = ?"
	w.and("user_id IN ("+direct+`
		UNION ALL SELECT h.user_id FROM collection_products i CROSS JOIN entitlements h
		WHERE `+held+"h.product_type = 'product_collection' AND h.product_id = i.product_collection_id"+comes+`
		UNION ALL SELECT h.user_id FROM tier_products i CROSS JOIN entitlements h
		WHERE `+held+"h.product_type = 'membership_tier' AND h.product_id = i.membership_tier_id"+comes+`
		UNION ALL SELECT h.user_id FROM collection_products i CROSS JOIN tier_products o CROSS JOIN entitlements h
		WHERE `+held+`h.product_type = 'membership_tier' AND h.product_id = o.membership_tier_id AND o.school_id = $1
		AND o.product_type = 'product_collection' AND o.product_id = i.product_collection_id`+comes+")",
		append(args, kind, id, kind, id, kind, id)...)
	w.and(`EXISTS (SELECT 1 FROM reaching r WHERE r.school_id = $1 AND r.user_id = users.user_id AND r.product_type = ?
		AND r.product_id = ? AND r.ended_at IS NULL AND (r.ends_at IS NULL OR r.ends_at > ?) AND `+unblocked("r")+")",
		kind, id, micros(at))
}

// held are entitlements h to products other than courses, worded as in the condition of an index.
const held = "h.school_id = $1 AND h.product_type <> 'course' AND "

// followUsers reports whether a list depends only on users and their tags. Sign-ins are not in
// the journal.
func followUsers(f lyceum.UserFilter) (follow, bool) {
	others := f.After.Present || f.Email.Present || f.Emails != nil || f.Answered.Present || f.Product.Present ||
		f.IDs != nil || f.Begins.Present || f.NeverBegan || f.Order.By == lyceum.UserBySignIn
	return follow{rows: "user"}, !others
}

func afterUser(f lyceum.UserFilter) lyceum.Opt[lyceum.UserID] { return f.After }

// loadTags completes users with their tags.
func loadTags(q *session, school lyceum.SchoolID, found map[int32]lyceum.User) (map[int32]any, error) {
	tags := map[int32][]string{}
	var user int32
	var name string
	err := inChunks(q, "SELECT user_id, name FROM user_tags WHERE school_id = $1 AND user_id IN ", school,
		int32Args(slices.Collect(maps.Keys(found))),
		[]any{scanInt(&user), scanText(&name)}, func() { tags[user] = append(tags[user], name) })
	tagged := make(map[int32]any, len(found))
	for id, row := range found {
		slices.Sort(tags[id]) // the same order on every engine
		tagged[id] = lyceum.TaggedUser{User: row, Tags: tags[id]}
	}
	return tagged, err
}

func weighTagged(o any) int {
	u := o.(lyceum.TaggedUser)
	return bareObject + lyceum.Weight(u.Tags...) +
		lyceum.Weight(u.Email, u.Name.Value, string(u.Role), u.Src.Value, u.PhoneNumber.Value) +
		len(u.Tags)
}
