package sqlstore

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// trace is a column whose texts may contain somebody's email address or name. JSON is
// rewritten object by object; in other texts the words are replaced.
type trace struct {
	table, key, column string
	json               bool
	cond               string           // narrows it beyond the school, in the same words as an index
	entry              lyceum.EntryType // of a changed row in the journal, if any
	packed             *packed          // instead of the above
}

// packed is a column of compressed text, which the database cannot search. find searches the
// next texts after a key, which is empty at first, and returns the key at which to resume, or
// an empty one at the end.
type packed struct {
	find  func(v *view, e *eraser, after string) (keys []string, next string, err error)
	erase func(t *tx, e *eraser, key string) error
}

// orders is the table in which people who ordered are found by their ids and email addresses.
const orders = "orders"

var traces = []trace{
	{orders, "order_id", "email", false, "", lyceum.OrderUpdated, nil},
	{"answers", "hash", "body", true, "", "", nil},
	{"bulk_parts", "bulk_part_id", "part_rows", true, "", "", nil},
	{"journal", "number", "detail", true, "event IS NOT NULL AND detail IS NOT NULL", "", nil},
	{"bulk_jobs", "bulk_job_id", "problem", false, "problem IS NOT NULL", "", nil},
	{"movements", "movement_id", "reason", false, "reason IS NOT NULL", "", nil},
	{"disputes", "dispute_id", "reason", false, "reason IS NOT NULL", "", nil},
	{"payment_failures", "payment_failure_id", "reason", false, "reason IS NOT NULL", "", nil},
	{"sale_warnings", "sale_warning_id", "message", false, "", "", nil},
	{"failed_requests", "failed_request_id", "message", false, "", "", nil},
	{"comments", "comment_id", "body", false, "", lyceum.CommentUpdated, nil},
	{"comments", "comment_id", "attachments", true, "attachments <> '[]'", lyceum.CommentUpdated, nil},
	{"quiz_responses", "quiz_response_id", "answers", true, "answers IS NOT NULL", lyceum.QuizResponseUpdated, nil},
	{"users", "user_id", "notes", false, "notes IS NOT NULL", lyceum.UserUpdated, nil},
	{table: "event_payloads", packed: &packed{(*view).findPayloads, (*tx).erasePayload}},
	{table: "webhook_attempts", packed: &packed{(*view).findAttempts, (*tx).eraseAttempt}},
}

// bind converts a key to its form in the database: hexadecimal to bytes, or digits to a
// number.
func (of *trace) bind(key string) (any, error) {
	if of.key == "hash" {
		return hex.DecodeString(key)
	}
	return strconv.ParseInt(key, 10, 64)
}

// foundTexts is how many texts one change rewrites at most.
const foundTexts = 100

// FindTexts searches one column, or resumes in it, until it has found as many texts as fit
// into one change or reaches the end. In a packed column it searches the next few hundred
// texts.
func (v *view) FindTexts(
	user lyceum.UserID, called lyceum.Called, from lyceum.Searched,
) (found lyceum.FoundTexts, next lyceum.Searched, more bool, err error) {
	if from.Text < 0 || int(from.Text) >= len(traces) {
		return found, from, false, nil
	}
	e, of, next := &eraser{user: user, called: called}, &traces[from.Text], from
	found = lyceum.FoundTexts{Text: from.Text}
	if of.packed != nil {
		found.Keys, next.Key, err = of.packed.find(v, e, from.Key)
	} else {
		found.Keys, next.Key, err = v.findTexts(e, of, from.Key)
	}
	if err != nil {
		return found, from, false, v.public(fmt.Errorf("find %s: %w", of.table, err))
	}
	if next.Key == "" {
		next.Text++
	}
	return found, next, int(next.Text) < len(traces), nil
}

func (v *view) findTexts(e *eraser, of *trace, after string) (keys []string, next string, err error) {
	w := &where{}
	w.and("school_id = ?", int64(v.school))
	if of.cond != "" {
		w.and(of.cond)
	}
	if after != "" {
		key, err := of.bind(after)
		if err != nil {
			return nil, "", err
		}
		w.and(of.key+" > ?", key)
	}
	if of.table == orders {
		e.narrowOrders(w)
	} else if !e.narrow(w, of.column, of.json) {
		return nil, "", nil
	}
	add := scanFunc(func(key any) error {
		if bytes, is := key.([]byte); is {
			keys = append(keys, hex.EncodeToString(bytes))
		} else {
			keys = append(keys, fmt.Sprint(key))
		}
		return nil
	})
	text := "SELECT " + of.key + " FROM " + of.table + w.String() + " ORDER BY " + of.key +
		" LIMIT " + strconv.Itoa(foundTexts)
	err = v.q.each(text, w.args, []any{add}, func() error { return nil })
	if len(keys) == foundTexts {
		next = keys[foundTexts-1]
	}
	return keys, next, err
}

// narrowOrders narrows to the orders of a person: by their id, or by their email address for
// orders from before they had one. An address that they had earlier may be in the order of
// somebody else.
func (e *eraser) narrowOrders(w *where) {
	matches := []string{"user_id = " + w.arg(int64(e.user))}
	for _, address := range e.called.Emails {
		matches = append(matches, "user_id IS NULL AND LOWER(email) = "+w.arg(strings.ToLower(address)))
	}
	w.and("(" + strings.Join(matches, " OR ") + ")")
	w.and("(email <> ? OR name IS NOT NULL)", lyceum.ErasedEmail(e.user))
}

// EraseTexts rewrites what FindTexts found, as it is now.
func (t *tx) EraseTexts(user lyceum.UserID, called lyceum.Called, found lyceum.FoundTexts) error {
	e, of := &eraser{user: user, called: called}, &traces[found.Text]
	for _, key := range found.Keys {
		if err := t.eraseFound(e, of, key); err != nil {
			return fmt.Errorf("erase %s: %w", of.table, err)
		}
	}
	return nil
}

func (t *tx) eraseFound(e *eraser, of *trace, text string) error {
	if of.packed != nil {
		return of.packed.erase(t, e, text)
	}
	key, err := of.bind(text)
	if err != nil {
		return err
	}
	if of.table == orders {
		return t.eraseOrder(e, key)
	}
	return t.eraseText(e, of, key)
}

func (t *tx) eraseOrder(e *eraser, key any) error {
	err := t.q.exec("UPDATE orders SET email = $1, name = NULL, return_url = NULL WHERE school_id = $2 AND order_id = $3",
		lyceum.ErasedEmail(e.user), int64(t.stamp.School), key)
	t.Note(lyceum.OrderUpdated, int32(key.(int64)))
	return err
}

func (t *tx) eraseText(e *eraser, of *trace, key any) error {
	one := " WHERE school_id = $1 AND " + of.key + " = $2"
	var texts []string
	var text string
	err := t.q.each("SELECT "+of.column+" FROM "+of.table+one+" AND "+of.column+" IS NOT NULL",
		[]any{int64(t.stamp.School), key}, []any{scanText(&text)}, func() error {
			texts = append(texts, text)
			return nil
		})
	if err != nil || len(texts) == 0 {
		return err
	}
	erased := e.plain(text)
	if of.json {
		erased = e.json(text)
	}
	if erased == text {
		return nil
	}
	err = t.q.exec("UPDATE "+of.table+" SET "+of.column+" = $3"+one, int64(t.stamp.School), key, erased)
	if id, is := key.(int64); is && err == nil {
		t.Note(of.entry, int32(id))
	}
	return err
}

// erasedTables returns the tables that had something about a person.
func erasedTables() []string {
	names := []string{
		"user_tags", "authors", "affiliates", "sessions", "links", "emails", "second_factors", "passkeys", "recovery_codes",
		"planned_erasures", "erasures",
	}
	for _, t := range traces {
		if !slices.Contains(names, t.table) {
			names = append(names, t.table)
		}
	}
	return names
}
