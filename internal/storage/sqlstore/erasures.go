package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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
		intColumn("searched_text", func(e *lyceum.Erasure) *int32 { return &e.Searched.Text }),
		textColumn("searched_key", func(e *lyceum.Erasure) *string { return &e.Searched.Key }),
	},
})

func calledColumn() column[lyceum.Erasure] {
	return column[lyceum.Erasure]{
		name: "called",
		bind: func(e *lyceum.Erasure) any {
			text, err := json.Marshal(e.Called)
			if err != nil {
				panic(fmt.Sprintf("write called: %v", err)) // no string can fail to marshal
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

// mostCalled is the maximum number of names, and of addresses, that FindCalled returns. Every text
// is compared with each of them, and people can change their names as often as they like.
const mostCalled = 20

// FindCalled reads what webhooks were told about changes of a user, the newest first.
func (t *tx) FindCalled(user lyceum.UserID) (lyceum.Called, error) {
	var called lyceum.Called
	var text string
	err := t.q.each("SELECT detail FROM journal WHERE school_id = $1 AND event IS NOT NULL "+
		"AND detail IS NOT NULL AND event = $2 AND object_id = $3 ORDER BY number DESC",
		[]any{int64(t.stamp.School), string(lyceum.UserUpdatedEvent), int64(user)},
		[]any{scanText(&text)}, func() error {
			var detail struct {
				OldName  string `json:"old_name"`
				NewName  string `json:"new_name"`
				OldEmail string `json:"old_email"`
				NewEmail string `json:"new_email"`
			}
			if err := json.Unmarshal([]byte(text), &detail); err != nil {
				return err
			}
			called.Names = withWords(called.Names, detail.NewName, detail.OldName)
			called.Emails = withWords(called.Emails, detail.NewEmail, detail.OldEmail)
			return nil
		})
	return called, err
}

// withWords returns the known words and those of more that are new, as long as they are few.
func withWords(known []string, more ...string) []string {
	for _, word := range more {
		if word != "" && len(known) < mostCalled && !slices.Contains(known, word) {
			known = append(known, word)
		}
	}
	return known
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

// CleanErased overwrites what SQLite left of erased data. secure_delete overwrites a row where
// it was deleted, but not copies in the unused parts of other pages, nor in the log, which is
// truncated. PostgreSQL keeps old versions of rows until a vacuum, and their bytes until new
// rows take their place.
func (s *Store) CleanErased(ctx context.Context) (bool, error) {
	if s.dialect.checkpoint != nil {
		clean, err := s.dialect.checkpoint(ctx, s.writes.db)
		if !clean || err != nil {
			return false, s.public(err)
		}
		if err := s.overwriteUnused(ctx); err != nil {
			return false, s.public(err)
		}
		clean, err = s.dialect.checkpoint(ctx, s.writes.db)
		return clean, s.public(err)
	}
	for _, name := range erasedTables() {
		if _, err := s.schemaDB().ExecContext(ctx, "VACUUM "+name); err != nil {
			return false, s.public(fmt.Errorf("vacuum %s: %w", name, err))
		}
	}
	return true, nil
}

// EraseTraces erases what is stored about a person outside their row and can be found by their
// id.
func (t *tx) EraseTraces(user lyceum.UserID) error {
	school := int64(t.stamp.School)
	if err := t.eraseComments(user); err != nil {
		return fmt.Errorf("erase comments: %w", err)
	}
	address := strconv.Quote(lyceum.ErasedEmail(user))
	renamed := `{"old_name":"","new_name":"","old_email":` + address + `,"new_email":` + address + `}`
	if err := t.q.exec(`UPDATE journal SET detail = CASE WHEN event = $5 THEN $6 ELSE '{"name":null}' END
		WHERE school_id = $1 AND event IS NOT NULL AND detail IS NOT NULL AND event IN ($2, $3, $5)
		AND object_id = $4`, school, string(lyceum.UserTagCreatedEvent), string(lyceum.UserTagRemovedEvent),
		int64(user), string(lyceum.UserUpdatedEvent), renamed); err != nil {
		return fmt.Errorf("erase tags and names: %w", err)
	}
	if err := t.eraseAnswers(user); err != nil {
		return fmt.Errorf("erase quiz responses: %w", err)
	}
	return nil
}

// eraseComments erases what a person wrote under lectures. The comments stay, as removed ones,
// so that replies to them keep their places.
func (t *tx) eraseComments(user lyceum.UserID) error {
	const text = "UPDATE comments SET body = '', attachments = '[]', " +
		"status = CASE WHEN status = 'denied' THEN status ELSE 'removed' END WHERE school_id = $1 AND user_id = $2 AND " +
		"(body <> '' OR attachments <> '[]' OR status NOT IN ('removed', 'denied')) RETURNING comment_id"
	_, err := t.noteEach(lyceum.CommentUpdated, text, []any{int64(t.stamp.School), int64(user)})
	return err
}

// eraseAnswers erases a person's answers to quizzes. Their grades stay.
func (t *tx) eraseAnswers(user lyceum.UserID) error {
	const text = "UPDATE quiz_responses SET answers = NULL WHERE school_id = $1 AND user_id = $2 AND " +
		"answers IS NOT NULL RETURNING quiz_response_id"
	_, err := t.noteEach(lyceum.QuizResponseUpdated, text, []any{int64(t.stamp.School), int64(user)})
	return err
}
