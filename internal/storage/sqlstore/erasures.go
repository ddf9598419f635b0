package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

var _ = define(&tables.Erasures, noun[lyceum.UserID, lyceum.Erasure, struct{}]{
	table: table[lyceum.Erasure]{name: "erasures"},
	what:  "erasure",
	key:   unnumbered(idKey("user_id", func(e *lyceum.Erasure) *lyceum.UserID { return &e.User })),
	rest: []column[lyceum.Erasure]{
		timeColumn("requested_at", func(e *lyceum.Erasure) *time.Time { return &e.RequestedAt }),
		calledColumn(),
		intColumn("passes", func(e *lyceum.Erasure) *int32 { return &e.Passes }),
		intColumn("searched_payload", func(e *lyceum.Erasure) *int64 { return &e.Searched.Payload }),
		intColumn("searched_delivery", func(e *lyceum.Erasure) *lyceum.WebhookEventID { return &e.Searched.Delivery }),
		intColumn("searched_attempt", func(e *lyceum.Erasure) *int32 { return &e.Searched.Attempt }),
	},
})

func calledColumn() column[lyceum.Erasure] {
	return column[lyceum.Erasure]{
		name: "called",
		bind: func(e *lyceum.Erasure) any {
			text, err := json.Marshal(e.Called)
			if err != nil {
				panic(fmt.Sprintf("write called: %v", err)) // no text can fail
			}
			return string(text)
		},
		scan: func(e *lyceum.Erasure) sql.Scanner {
			var text string
			read := scanText(&text)
			return scanFunc(func(src any) error {
				if err := read.Scan(src); err != nil {
					return err
				}
				e.Called = lyceum.Called{}
				return json.Unmarshal([]byte(text), &e.Called)
			})
		},
	}
}

// FindCalled reads what webhooks were told of changes of a user.
func (t *tx) FindCalled(user lyceum.UserID) (lyceum.Called, error) {
	var called lyceum.Called
	var text string
	err := t.q.each("SELECT detail FROM journal"+t.q.pool.dialect.events+" WHERE school_id = $1 AND event IS NOT NULL "+
		"AND object_id = $2 AND type = 'user.updated' AND detail IS NOT NULL", []any{int64(t.stamp.School), int64(user)},
		[]any{scanText(&text)}, func() error {
			var told struct {
				OldName  string `json:"old_name"`
				NewName  string `json:"new_name"`
				OldEmail string `json:"old_email"`
				NewEmail string `json:"new_email"`
			}
			if err := json.Unmarshal([]byte(text), &told); err != nil {
				return err
			}
			for _, name := range []string{told.OldName, told.NewName} {
				if name != "" {
					called.Names = append(called.Names, name)
				}
			}
			for _, email := range []string{told.OldEmail, told.NewEmail} {
				if email != "" {
					called.Emails = append(called.Emails, email)
				}
			}
			return nil
		})
	return called, err
}

func (s *Store) FindErasures(ctx context.Context) ([]lyceum.SchoolErasure, error) {
	var found []lyceum.SchoolErasure
	var e lyceum.SchoolErasure
	var called string
	err := s.reads.single(ctx).each("SELECT school_id, user_id, requested_at, called, passes FROM erasures "+
		"ORDER BY school_id, user_id LIMIT 100", nil, []any{
		scanInt(&e.School), scanInt(&e.User), scanTime(&e.RequestedAt), scanText(&called), scanInt(&e.Passes),
	}, func() error {
		e.Called = lyceum.Called{}
		if err := json.Unmarshal([]byte(called), &e.Called); err != nil {
			return err
		}
		found = append(found, e)
		return nil
	})
	return found, s.public(err)
}

// CleanErased cuts SQLite's log, in which what was erased may stand; the pages of
// the database are overwritten by secure_delete. PostgreSQL keeps old versions of
// rows until a vacuum.
func (s *Store) CleanErased(ctx context.Context) (bool, error) {
	if s.dialect.checkpoint != nil {
		clean, err := s.dialect.checkpoint(ctx, s.writes.db)
		return clean, s.public(err)
	}
	for _, name := range erasedTables() {
		if _, err := s.writes.db.ExecContext(ctx, "VACUUM "+name); err != nil {
			return false, s.public(fmt.Errorf("vacuum %s: %w", name, err))
		}
	}
	return true, nil
}

// trace is a column in which a text may have somebody's address or name. What is
// JSON is rewritten object by object; of the rest the words are replaced.
type trace struct {
	table, key, column string
	json               bool
	cond               string           // narrows it beyond the school, in the words of an index
	entry              lyceum.EntryType // that the journal has for a changed row, if it has one
}

var traces = []trace{
	{"answers", "hash", "body", true, "", ""},
	{"bulk_parts", "bulk_part_id", "part_rows", true, "", ""},
	{"journal", "number", "detail", true, "event IS NOT NULL AND detail IS NOT NULL", ""},
	{"bulk_jobs", "bulk_job_id", "problem", false, "problem IS NOT NULL", ""},
	{"movements", "movement_id", "reason", false, "reason IS NOT NULL", ""},
	{"disputes", "dispute_id", "reason", false, "reason IS NOT NULL", ""},
	{"payment_failures", "payment_failure_id", "reason", false, "reason IS NOT NULL", ""},
	{"sale_warnings", "sale_warning_id", "message", false, "", ""},
	{"failed_requests", "failed_request_id", "message", false, "", ""},
	{"comments", "comment_id", "body", false, "", lyceum.CommentUpdated},
	{"comments", "comment_id", "attachments", true, "attachments <> '[]'", lyceum.CommentUpdated},
	{"quiz_responses", "quiz_response_id", "answers", true, "answers IS NOT NULL", lyceum.QuizResponseUpdated},
	{"users", "user_id", "notes", false, "notes IS NOT NULL", lyceum.UserUpdated},
}

func erasedTables() []string {
	names := []string{
		"user_tags", "orders", "authors", "affiliates", "sessions", "links", "event_payloads",
		"webhook_attempts", "quiz_responses", "erasures",
	}
	for _, t := range traces {
		if !slices.Contains(names, t.table) {
			names = append(names, t.table)
		}
	}
	return names
}

// EraseTraces erases what stands of a person beside their row.
func (t *tx) EraseTraces(user lyceum.UserID, called lyceum.Called) error {
	if err := t.eraseOrders(user, called); err != nil {
		return fmt.Errorf("erase orders: %w", err)
	}
	school := int64(t.stamp.School)
	if err := t.eraseComments(user); err != nil {
		return fmt.Errorf("erase comments: %w", err)
	}
	if err := t.q.exec(`UPDATE journal SET detail = '{"name":null}' WHERE school_id = $1 AND event IS NOT NULL
		AND object_id = $2 AND type = 'user.tagged'`, school, int64(user)); err != nil {
		return fmt.Errorf("erase tags: %w", err)
	}
	if err := t.eraseAnswers(user); err != nil {
		return fmt.Errorf("erase quiz responses: %w", err)
	}
	e := eraser{user: user, called: called}
	for i := range traces {
		if err := t.eraseTexts(&e, &traces[i]); err != nil {
			return fmt.Errorf("erase %s: %w", traces[i].table, err)
		}
	}
	return nil
}

// eraseComments erases what a person wrote under lectures. The comments stay as
// removed ones, so that replies to them keep their places.
func (t *tx) eraseComments(user lyceum.UserID) error {
	var id int32
	return t.q.each("UPDATE comments SET body = '', attachments = '[]', status = CASE WHEN status = 'denied' THEN status "+
		"ELSE 'removed' END WHERE school_id = $1 AND user_id = $2 AND (body <> '' OR attachments <> '[]' OR "+
		"status NOT IN ('removed', 'denied')) RETURNING comment_id", []any{int64(t.stamp.School), int64(user)},
		[]any{scanInt(&id)}, func() error { t.Note(lyceum.CommentUpdated, id); return nil })
}

// eraseAnswers erases what a person answered to quizzes. Their grades stay.
func (t *tx) eraseAnswers(user lyceum.UserID) error {
	var id int32
	return t.q.each("UPDATE quiz_responses SET answers = NULL WHERE school_id = $1 AND user_id = $2 AND "+
		"answers IS NOT NULL RETURNING quiz_response_id", []any{int64(t.stamp.School), int64(user)},
		[]any{scanInt(&id)}, func() error { t.Note(lyceum.QuizResponseUpdated, id); return nil })
}

// eraseOrders erases who ordered: by their id, or by their address before they had
// one.
func (t *tx) eraseOrders(user lyceum.UserID, called lyceum.Called) error {
	w := &where{}
	email := w.arg(lyceum.ErasedEmail(user))
	w.and("school_id = ?", int64(t.stamp.School))
	matches := []string{"user_id = " + w.arg(int64(user))}
	for _, address := range called.Emails {
		matches = append(matches, "LOWER(email) = "+w.arg(strings.ToLower(address)))
	}
	w.and("(" + strings.Join(matches, " OR ") + ")")
	w.and("(email <> " + email + " OR name IS NOT NULL)")
	var id int32
	return t.q.each("UPDATE orders SET email = "+email+", name = NULL, return_url = NULL"+w.String()+
		" RETURNING order_id", w.args, []any{scanInt(&id)}, func() error { t.Note(lyceum.OrderUpdated, id); return nil })
}

// eraseTexts rewrites the texts of a column that have what a person was called in
// them. The types of keys differ, so that rows are read as they are.
func (t *tx) eraseTexts(e *eraser, of *trace) error {
	w := &where{}
	w.and("school_id = ?", int64(t.stamp.School))
	if of.cond != "" {
		w.and(of.cond)
	}
	if !e.narrow(w, of.column, of.json) {
		return nil
	}
	type found struct {
		key  any
		text string
	}
	var rows []found
	var row found
	query := "SELECT " + of.key + ", " + of.column + " FROM " + of.table + w.String()
	err := t.q.each(query, w.args, []any{&row.key, scanText(&row.text)},
		func() error {
			if bytes, is := row.key.([]byte); is {
				row.key = append([]byte(nil), bytes...)
			}
			rows = append(rows, row)
			return nil
		})
	if err != nil {
		return err
	}
	for _, row := range rows {
		erased := e.plain(row.text)
		if of.json {
			erased = e.json(row.text)
		}
		if erased == row.text {
			continue
		}
		err := t.q.exec("UPDATE "+of.table+" SET "+of.column+" = $1 WHERE school_id = $2 AND "+of.key+" = $3", erased,
			int64(t.stamp.School), row.key)
		if err != nil {
			return err
		}
		if id, is := row.key.(int64); is {
			t.Note(of.entry, int32(id))
		}
	}
	return nil
}
