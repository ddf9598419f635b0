package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// EachTags visits the tags of a school's users by ascending id, all from one snapshot. It skips
// users without tags.
func (s *Service) EachTags(ctx context.Context, by lyceum.By, visit func(*lyceum.UserTags) error) error {
	v := s.store.In(ctx, by.School)
	if _, err := v.GetSchool(); err != nil {
		return err
	}
	var row lyceum.UserTags
	end := func() error {
		if row.User == 0 {
			return nil
		}
		slices.Sort(row.Tags) // so that the order is the same on every engine
		return visit(&row)
	}
	err := v.EachTag(lyceum.None[lyceum.UserID](), func(user lyceum.UserID, tag string) error {
		if user != row.User {
			if err := end(); err != nil {
				return err
			}
			row = lyceum.UserTags{User: user}
		}
		row.Tags = append(row.Tags, tag)
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}

// tagsOf returns the tags of a user, sorted by name.
func tagsOf(from lyceum.TagReads, user lyceum.UserID) ([]string, error) {
	var tags []string
	err := from.EachTag(lyceum.Some(user), func(_ lyceum.UserID, name string) error {
		tags = append(tags, name)
		return nil
	})
	slices.Sort(tags) // so that the order is the same on every engine
	return tags, err
}

// SetTags replaces the tags of a user, and announces each that was added or removed.
func (s *Service) SetTags(ctx context.Context, by lyceum.By, t lyceum.UserTags) (Detail, error) {
	if err := s.CheckTags(t.Tags); err != nil {
		return Detail{}, err
	}
	err := s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		if _, err := tx.Users.Get(tx, t.User); err != nil {
			return err
		}
		before, err := tagsOf(tx, t.User)
		if err != nil {
			return err
		}
		_, err = retag(tx, t.User, before, t.Tags)
		return err
	})
	if err != nil {
		return Detail{}, err
	}
	return afterChange(s.Show(ctx, by, t.User))
}

// CheckTags fails with Invalid for tags that no user can have.
func (s *Service) CheckTags(tags []string) error {
	if err := checkTags(tags); err != nil {
		return lyceum.InvalidFields(lyceum.FieldError{Field: "tags", Message: err.Error()})
	}
	return nil
}

// AddTags adds tags to those of a user, and reports whether that changed anything. It fails with
// Invalid if that would be too many, and with NotFound for a user who was erased.
func (s *Service) AddTags(tx lyceum.Tx, user lyceum.UserID, tags []string) (changed bool, err error) {
	if _, err := tx.Users.Get(tx, user); err != nil {
		return false, err
	}
	before, err := tagsOf(tx, user)
	if err != nil {
		return false, err
	}
	after := append(slices.Clone(before), tags...)
	if err := s.CheckTags(after); err != nil {
		return false, err
	}
	return retag(tx, user, before, after)
}

// RemoveTags removes tags from a user, and reports whether that changed anything.
func (s *Service) RemoveTags(tx lyceum.Tx, user lyceum.UserID, tags []string) (changed bool, err error) {
	before, err := tagsOf(tx, user)
	if err != nil {
		return false, err
	}
	after := slices.DeleteFunc(slices.Clone(before), func(tag string) bool { return slices.Contains(tags, tag) })
	return retag(tx, user, before, after)
}

// retag replaces the tags of a user, and announces each that was added or removed.
func retag(tx lyceum.Tx, user lyceum.UserID, before, tags []string) (changed bool, err error) {
	if changed, err = tx.SetTags(user, tags); err != nil || !changed {
		return changed, err
	}
	announce := func(event lyceum.EventName, name string) error {
		detail, err := json.Marshal(map[string]string{"name": name})
		tx.Announce(lyceum.UserTagged, int32(user), event, string(detail))
		return err
	}
	wanted, had := map[string]bool{}, map[string]bool{}
	for _, name := range tags {
		wanted[name] = true
	}
	for _, name := range before {
		had[name] = true
		if !wanted[name] {
			err = errors.Join(err, announce(lyceum.UserTagRemovedEvent, name))
		}
	}
	for _, name := range tags {
		if !had[name] {
			had[name] = true
			err = errors.Join(err, announce(lyceum.UserTagCreatedEvent, name))
		}
	}
	return true, err
}

// TagImport imports tags. A row replaces all tags of its user.
type TagImport struct {
	service *Service
	by      lyceum.By
}

// ImportTags begins an import of tags.
func (s *Service) ImportTags(by lyceum.By) *TagImport {
	return &TagImport{service: s, by: by}
}

// Limits of tags. If an older database has more than maxTags of a user, all of them are shown
// until they are replaced.
const (
	maxTags = 100 // distinct ones of a user
	maxTag  = 255 // bytes of one
)

// Check returns the problems of the rows of a batch that cannot be imported, and saves nothing.
func (i *TagImport) Check(ctx context.Context, batch []lyceum.UserTags) ([]lyceum.RowProblem, error) {
	v := i.service.store.In(ctx, i.by.School)
	known, err := v.Users.Find(v, usersOf(batch)...)
	return tagProblems(batch, known), err
}

// Save saves the rows of a batch that have no problem, all in one write, and returns the
// problems of the others.
func (i *TagImport) Save(
	ctx context.Context, batch []lyceum.UserTags,
) (saved lyceum.Saved, problems []lyceum.RowProblem, err error) {
	now := i.service.clock()
	err = i.service.store.Write(ctx, i.by.Stamp(now), func(tx lyceum.Tx) error {
		known, err := tx.Users.Find(tx, usersOf(batch)...)
		if err != nil {
			return err
		}
		problems, saved = tagProblems(batch, known), lyceum.Saved{}
		for _, row := range lyceum.WithoutProblems(batch, problems) {
			changed, err := tx.SetTags(row.User, row.Tags)
			if err != nil {
				return err
			}
			if changed {
				saved.Updated++
			} else {
				saved.Unchanged++
			}
		}
		return nil
	})
	if err != nil {
		return lyceum.Saved{}, nil, fmt.Errorf("import tags: %w", err)
	}
	return saved, problems, nil
}

func usersOf(batch []lyceum.UserTags) []lyceum.UserID {
	ids := make([]lyceum.UserID, len(batch))
	for n := range batch {
		ids[n] = batch[n].User
	}
	return ids
}

func tagProblems(batch []lyceum.UserTags, known map[lyceum.UserID]lyceum.User) (problems []lyceum.RowProblem) {
	for n, row := range batch {
		if _, there := known[row.User]; !there {
			problems = append(problems, lyceum.RowProblem{Index: n, FieldError: lyceum.FieldError{
				Field: "user_id", Message: fmt.Sprintf("%d matches no user of this school; import the users first", row.User),
			}})
			continue
		}
		if err := checkTags(row.Tags); err != nil {
			problems = append(problems, lyceum.RowProblem{
				Index:      n,
				FieldError: lyceum.FieldError{Field: "tags", Message: err.Error()},
			})
		}
	}
	return problems
}

func checkTags(tags []string) error {
	for _, tag := range tags {
		if !lyceum.IsText(tag) {
			return errors.New("must be UTF-8 text without NUL characters")
		}
		if tag == "" || len(tag) > maxTag {
			return errors.New("must be 1 to 255 bytes long each")
		}
	}
	return checkTagCount(tags)
}

func checkTagCount(tags []string) error {
	if len(tags) <= maxTags {
		return nil
	}
	different := make(map[string]bool, len(tags))
	for _, tag := range tags {
		different[tag] = true
	}
	if n := len(different); n > maxTags {
		return fmt.Errorf("must be at most %d different tags; there are %d", maxTags, n)
	}
	return nil
}
