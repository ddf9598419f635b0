package templates

import (
	"context"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Snippet is the template of the HTML that a school adds to its learners' pages.
type Snippet struct {
	Body      string // empty: nothing is added
	Variables []Variable
	ChangedAt lyceum.Opt[time.Time]
}

var snippetVariables = []Variable{
	schoolName, {"user.id", "The learner's number.", "11"}, userName, userEmail,
}

// Snippet returns the template that the school adds to its learners' pages.
func (s *Service) Snippet(ctx context.Context, by lyceum.By, _ struct{}) (Snippet, error) {
	v := s.store.In(ctx, by.School)
	found := Snippet{Variables: snippetVariables}
	row, err := v.EmailTemplates.Get(v, lyceum.PageSnippet)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return found, nil
	}
	found.Body, found.ChangedAt = row.Body, lyceum.Some(row.UpdatedAt)
	return found, err
}

// Shown returns the fingerprint of the parts of a snippet that can be changed.
func (s *Snippet) Shown() string { return lyceum.Fingerprint(s.Body) }

// ChangeSnippet saves a template of at most MaxSource bytes; an empty one removes the snippet.
// It rejects a template that fails with the examples. It fails with Conflict if the templates or
// secrets are changed meanwhile.
func (s *Service) ChangeSnippet(ctx context.Context, by lyceum.By, sent lyceum.Opt[string]) (Snippet, error) {
	v := s.store.In(ctx, by.School)
	tried, err := findSet(v.Tables, v)
	if err != nil {
		return Snippet{}, err
	}
	secrets, err := s.open(tried.secrets)
	if err != nil {
		return Snippet{}, err
	}
	before := tried.own[lyceum.PageSnippet].Body
	body := sent.Else(before)
	if _, err := renderSnippet(ctx, body, examples(snippetVariables), secrets); err != nil {
		return Snippet{}, err
	}
	if body == before {
		return s.Snippet(ctx, by, struct{}{})
	}
	now := s.clock()
	changed := Snippet{Body: body, Variables: snippetVariables}
	if err := by.CheckShown((&Snippet{Body: before}).Shown(), changed.Shown()); err != nil {
		return Snippet{}, err
	}
	if body != "" {
		changed.ChangedAt = lyceum.Some(now)
	}
	return changed, s.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		if err := tried.check(tx); err != nil {
			return err
		}
		tx.Note(lyceum.EmailTemplateUpdated, int32(lyceum.PageSnippet))
		if body == "" {
			return tx.EmailTemplates.Delete(tx, lyceum.PageSnippet)
		}
		_, err := tx.EmailTemplates.Save(tx, lyceum.EmailTemplate{Kind: lyceum.PageSnippet, Body: body, UpdatedAt: now})
		return err
	})
}

// PreviewSnippet renders a template with the examples. It saves nothing.
func (s *Service) PreviewSnippet(
	ctx context.Context, by lyceum.By, body lyceum.Opt[string],
) (html string, err error) {
	saved, err := s.Snippet(ctx, by, struct{}{})
	if err != nil {
		return "", err
	}
	secrets, err := s.secrets(ctx, by.School)
	if err != nil {
		return "", err
	}
	return renderSnippet(ctx, body.Else(saved.Body), examples(snippetVariables), secrets)
}

// SnippetFor returns the HTML that the school adds to a learner's pages, or "" if there is none.
// If the template fails, which was only tried with the examples, it adds nothing and logs that.
// It does not log the template's error, because that may contain a value.
func (s *Service) SnippetFor(ctx context.Context, school *lyceum.School, user *lyceum.User) (html string, err error) {
	by := lyceum.By{School: school.ID}
	snippet, err := s.Snippet(ctx, by, struct{}{})
	if err != nil || snippet.Body == "" {
		return "", err
	}
	secrets, err := s.secrets(ctx, school.ID)
	if err != nil {
		return "", err
	}
	html, err = renderSnippet(ctx, snippet.Body, Values{
		"school.name": s.o.Name(school.Name), "user.id": strconv.Itoa(int(user.ID)),
		"user.name": s.o.Name(user.Name.Value), "user.email": user.Email,
	}, secrets)
	if err != nil && lyceum.KindOf(err) == lyceum.Invalid {
		s.o.Log.WarnContext(ctx, "the snippet of the school could not be made and is left out", "school", school.ID)
		return "", nil
	}
	return html, err
}

func renderSnippet(ctx context.Context, body string, values Values, secrets Secrets) (string, error) {
	var html string
	parsed, err := Parse(body)
	if err == nil {
		html, err = parsed.Render(ctx, values.nested(), secrets)
	}
	if err != nil && lyceum.KindOf(err) == lyceum.Invalid {
		return "", lyceum.InvalidFields(broken("body", err))
	}
	return html, err
}
