package people

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// Doors are functions of other packages about how people sign in.
type Doors struct {
	Hash Hasher
	// Left evicts what is cached about a user. It is called after lyceum.EndAccess.
	Left func(school lyceum.SchoolID, email string)
	// Close ends, as part of a change, the access of a user to a product.
	Close func(tx lyceum.Tx, now time.Time, user lyceum.UserID, p lyceum.Product) error
	// StillErases fails with Forbidden if the actor who asked for an erasure may no longer do so; it
	// is nil if everybody always may.
	StillErases func(tx lyceum.Tx, actor string) error
	// NotifyChange queues, as part of a change, an email to a user's previous address that says
	// what was changed in their account.
	NotifyChange func(tx lyceum.Tx, user lyceum.UserID, email string, what Changed) error
	// PermitPartners fails with Forbidden if the caller may not decide who is an author or an
	// affiliate, and with which share.
	PermitPartners func(by lyceum.By) error
	// Forget drops the cached profiles of learners.
	Forget func()
	// Offer saves, as part of a change, that a user wants another email address, and returns the
	// secret of the link that confirms it. SendConfirmation queues, in the same change, the link
	// for the new address; it is nil if the server cannot send email.
	Offer            func(tx lyceum.Tx, user lyceum.UserID, email string, now time.Time) (string, error)
	SendConfirmation func(tx lyceum.Tx, user lyceum.UserID, email, link string) error
	// Backups returns the known backups that contain a user, by path; it is nil if none are
	// known.
	Backups func(ctx context.Context, school lyceum.SchoolID, user lyceum.UserID) ([]lyceum.Backup, error)
}

// Changed records what was changed in an account.
type Changed struct{ Email, Password bool }

// Account is what a program sets for a user whom it creates or changes. Absent fields stay
// unchanged.
type Account struct {
	User           lyceum.UserID // 0 for a new one
	Name           lyceum.Opt[lyceum.Opt[string]]
	Email          lyceum.Opt[string]
	Password       lyceum.Opt[string]
	Role           lyceum.Opt[lyceum.Role]
	Marketing      lyceum.Opt[bool]
	Notes          lyceum.Opt[string]
	AuthorShare    lyceum.Opt[float64]
	AffiliateShare lyceum.Opt[float64]
}

// CreateAccount creates a user, and the profile of an author or an affiliate. If a user has the
// address already, it returns that user unchanged.
func (s *Service) CreateAccount(ctx context.Context, by lyceum.By, a Account, d Doors) (Profile, error) {
	if err := a.checkNew(by); err != nil {
		return Profile{}, err
	}
	if err := a.checkPartner(by, "", d); err != nil {
		return Profile{}, err
	}
	v, same := s.store.In(ctx, by.School), lyceum.UserFilter{Email: a.Email}
	switch kept, found, err := v.Users.First(v, same); {
	case err != nil:
		return Profile{}, err
	case found:
		return s.profile(ctx, by, kept)
	}
	now := s.clock()
	user := lyceum.User{
		Email: a.Email.Value, Name: filled(a.Name.Value), Role: a.Role.Value, Marketing: a.Marketing,
		Notes: filled(a.Notes), CreatedAt: lyceum.Second(now), UpdatedAt: lyceum.Second(now),
	}
	if a.Password.Present {
		var err error
		user.PasswordHash, user.MustChangePassword, err = d.Hash(ctx, by, user.Email, a.Password.Value)
		if err != nil {
			return Profile{}, err
		}
	}
	made, err := lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.User, error) {
		ids := []lyceum.Wanted{lyceum.NextOf(lyceum.UserSequence)}
		switch user.Role {
		case lyceum.Author:
			ids = append(ids, lyceum.NextOf(lyceum.AuthorSequence))
		case lyceum.Affiliate:
			ids = append(ids, lyceum.NextOf(lyceum.AffiliateSequence))
		}
		if err := tx.Ahead(append(ids, lyceum.FirstOf(tx.Users, same))...); err != nil {
			return user, err
		}
		id, err := tx.Users.NextID(tx)
		if err != nil {
			return user, err
		}
		if kept, found, err := tx.Users.First(tx, same); err != nil || found {
			return kept, err
		}
		user.ID = id
		if err := welcome(tx, user); err != nil {
			return user, err
		}
		return user, a.begin(tx, &user)
	})
	if err != nil {
		return Profile{}, err
	}
	return afterChange(s.profile(ctx, by, made))
}

// profile returns the profile of a user.
func (s *Service) profile(ctx context.Context, by lyceum.By, user lyceum.User) (Profile, error) {
	rows, err := profiles(s.store.In(ctx, by.School), user)
	if err != nil {
		return Profile{}, err
	}
	return rows[0], nil
}

// UpdateAccount changes a user. It fails with Forbidden if the API key may not change accounts,
// and with Conflict if another user has the address.
func (s *Service) UpdateAccount(ctx context.Context, by lyceum.By, a Account, d Doors) (Profile, error) {
	hash, common, err := s.hashFor(ctx, by, &a, d)
	if err != nil {
		return Profile{}, err
	}
	var before lyceum.User
	var changed Changed
	now := s.clock()
	user, err := lyceum.Change(ctx, s.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.User, error) {
		if err := tx.Ahead(a.wanted(tx)...); err != nil {
			return before, err
		}
		if before, err = tx.Users.Get(tx, a.User); err != nil {
			return before, err
		}
		if err := a.check(by, &before); err != nil { // the user may have changed since hashFor
			return before, err
		}
		if err := a.checkStaff(tx, by, &before); err != nil {
			return before, err
		}
		if err := a.checkPartner(by, before.Role, d); err != nil {
			return before, err
		}
		user := before
		a.apply(&user)
		changed = Changed{Email: user.Email != before.Email, Password: hash.Present}
		if hash.Present {
			user.PasswordHash, user.MustChangePassword = hash, common
		}
		err := a.save(tx, &before, &user)
		if user != before {
			user.UpdatedAt = lyceum.Second(now)
		}
		if err != nil || changed == (Changed{}) {
			return user, err
		}
		if err := lyceum.EndAccess(tx, user.ID, now); err != nil {
			return user, err
		}
		return user, d.NotifyChange(tx, user.ID, before.Email, changed)
	})
	if err != nil {
		return Profile{}, err
	}
	d.Forget()
	if changed != (Changed{}) {
		d.Left(by.School, before.Email)
	}
	return afterChange(s.profile(ctx, by, user))
}

// hashFor hashes the new password of a user, if there is one, before the change, because that
// takes long.
func (s *Service) hashFor(
	ctx context.Context, by lyceum.By, a *Account, d Doors,
) (hash lyceum.Opt[string], common bool, err error) {
	if !a.Password.Present {
		return hash, false, nil
	}
	v := s.store.In(ctx, by.School)
	kept, err := v.Users.Get(v, a.User)
	if err == nil {
		err = a.check(by, &kept)
	}
	if err != nil {
		return hash, false, err
	}
	return d.Hash(ctx, by, a.Email.Else(kept.Email), a.Password.Value)
}

// wanted prefetches what a change of the user reads.
func (a *Account) wanted(tx lyceum.Tx) []lyceum.Wanted {
	all := []lyceum.Wanted{lyceum.ByID(tx.Users, a.User), lyceum.ByID(tx.StaffMembers, a.User)}
	if a.Email.Present {
		all = append(all, lyceum.FirstOf(tx.Users, a.otherWith(a.Email.Value)))
	}
	of := partnerOf(&lyceum.User{ID: a.User})
	if a.Role.Value == lyceum.Author || a.AuthorShare.Present {
		all = append(all, lyceum.FirstOf(tx.Authors, of), lyceum.NextOf(lyceum.AuthorSequence))
	}
	if a.Role.Value == lyceum.Affiliate || a.AffiliateShare.Present {
		all = append(all, lyceum.FirstOf(tx.Affiliates, of), lyceum.NextOf(lyceum.AffiliateSequence))
	}
	return all
}

// otherWith selects another user who has an address.
func (a *Account) otherWith(email string) lyceum.UserFilter {
	return lyceum.UserFilter{Email: lyceum.Some(email), Except: lyceum.Some(a.User)}
}

func (a *Account) apply(user *lyceum.User) {
	if a.Name.Present {
		user.Name = filled(a.Name.Value)
	}
	user.Email, user.Role = a.Email.Else(user.Email), a.Role.Else(user.Role)
	if a.Marketing.Present {
		user.Marketing = a.Marketing
	}
}

// save saves a changed user and announces the change.
func (a *Account) save(tx lyceum.Tx, before, user *lyceum.User) error {
	if user.Email != before.Email {
		other, found, err := tx.Users.First(tx, a.otherWith(user.Email))
		if err != nil {
			return err
		}
		if found {
			return &lyceum.Error{
				Kind: lyceum.Conflict, Code: "email_taken",
				Detail: fmt.Sprintf("user %d already has this email address", other.ID),
			}
		}
	}
	if err := a.share(tx, before, user); err != nil || *user == *before {
		return err
	}
	return change(tx, before, user)
}

// change saves a changed user and announces what webhooks are told of it.
func change(tx lyceum.Tx, before, user *lyceum.User) error {
	if err := tx.Users.Update(tx, *user); err != nil {
		return err
	}
	if before.Name != user.Name || before.Email != user.Email || before.Role != user.Role || before.Src != user.Src ||
		before.PhoneNumber != user.PhoneNumber {
		detail, err := json.Marshal(renaming(before, user))
		if err != nil {
			return err
		}
		tx.Announce(lyceum.UserUpdated, int32(user.ID), lyceum.UserUpdatedEvent, string(detail))
	}
	switch allowed := lyceum.Some(true); {
	case before.Marketing == user.Marketing:
	case user.Marketing == allowed:
		tx.Announce(lyceum.UserUpdated, int32(user.ID), lyceum.MarketingAllowedEvent, "")
	default:
		tx.Announce(lyceum.UserUpdated, int32(user.ID), lyceum.MarketingRefusedEvent, "")
	}
	return nil
}

// begin creates the profile of a new author or affiliate.
func (a *Account) begin(tx lyceum.Tx, user *lyceum.User) error {
	switch user.Role {
	case lyceum.Author:
		return beginAuthor(tx, user, a.AuthorShare)
	case lyceum.Affiliate:
		return beginAffiliate(tx, user, a.AffiliateShare)
	}
	return nil
}

// share saves the share of an author or an affiliate in their profile, and creates the profile
// if necessary. A user who had the role before does not need one.
func (a *Account) share(tx lyceum.Tx, before, user *lyceum.User) error {
	becomes := user.Role != before.Role
	switch {
	case user.Role == lyceum.Author && (becomes || a.AuthorShare.Present):
		return shareAuthor(tx, user, a.AuthorShare)
	case user.Role == lyceum.Affiliate && (becomes || a.AffiliateShare.Present):
		return shareAffiliate(tx, user, a.AffiliateShare)
	}
	return nil
}

func shareAuthor(tx lyceum.Tx, user *lyceum.User, share lyceum.Opt[float64]) error {
	kept, found, err := tx.Authors.First(tx, partnerOf(user))
	if err != nil || found && (!share.Present || kept.Share == share) {
		return err
	}
	if found {
		kept.Share = share
		return tx.Authors.Update(tx, kept)
	}
	return beginAuthor(tx, user, share)
}

func beginAuthor(tx lyceum.Tx, user *lyceum.User, share lyceum.Opt[float64]) error {
	id, err := tx.Authors.NextID(tx)
	if err != nil {
		return err
	}
	return tx.Authors.Insert(tx, lyceum.AuthorProfile{
		ID: id, Name: user.Name, UserID: lyceum.Some(user.ID), Share: share,
	})
}

func shareAffiliate(tx lyceum.Tx, user *lyceum.User, share lyceum.Opt[float64]) error {
	kept, found, err := tx.Affiliates.First(tx, partnerOf(user))
	if err != nil || found && (!share.Present || kept.Share == share) {
		return err
	}
	if found {
		kept.Share = share
		return tx.Affiliates.Update(tx, kept)
	}
	return beginAffiliate(tx, user, share)
}

func beginAffiliate(tx lyceum.Tx, user *lyceum.User, share lyceum.Opt[float64]) error {
	id, err := tx.Affiliates.NextID(tx)
	if err != nil {
		return err
	}
	return tx.Affiliates.Insert(tx, lyceum.AffiliatePartner{
		ID: id, Name: user.Name, UserID: lyceum.Some(user.ID), Share: share,
	})
}

func partnerOf(user *lyceum.User) lyceum.PartnerFilter {
	return lyceum.PartnerFilter{UserID: lyceum.Some(user.ID), IsArchived: lyceum.Some(false)}
}

// checkNew rejects what a user cannot be created with.
func (a *Account) checkNew(by lyceum.By) error {
	var wrong []lyceum.FieldError
	if by.Key != 0 && a.Role.Value == lyceum.Owner {
		wrong = append(wrong, lyceum.FieldError{
			Field: "role", Message: "must be student, author or affiliate: " + ownersApart,
		})
	}
	if a.Role.Value == lyceum.Student && !a.Marketing.Present {
		wrong = append(wrong, lyceum.FieldError{
			Field: "allow_marketing_emails", Message: "is required for a student; it must be true or false",
		})
	}
	for _, share := range a.shares() {
		if share.role == a.Role.Value && !share.value.Present {
			wrong = append(wrong, lyceum.FieldError{
				Field: share.field, Message: "is required when role is " + string(share.role) + "; it must be a number from 0 to 1",
			})
		}
	}
	return refused(slices.Concat(a.checkTexts(), wrong, a.checkShares(a.Role.Value)))
}

const ownersApart = "an API key cannot decide who administers the school"

// check rejects what a user cannot be changed to, and what the API key may not change.
func (a *Account) check(by lyceum.By, user *lyceum.User) error {
	after := *user
	a.apply(&after)
	if by.Key != 0 {
		if err := a.checkKey(by, user, &after); err != nil {
			return err
		}
	}
	return refused(append(a.checkTexts(), a.checkShares(after.Role)...))
}

// checkStaff prevents API keys, and staff who do not own the school, from changing how a member
// of the staff signs in.
func (a *Account) checkStaff(tx lyceum.Tx, by lyceum.By, user *lyceum.User) error {
	if !a.Email.Present && !a.Password.Present && !a.Role.Present {
		return nil
	}
	if err := by.PermitOver(tx.Tables, tx, user); err != nil || by.Key == 0 {
		return err
	}
	role, err := lyceum.StaffRoleOf(tx.Tables, tx, user)
	if err != nil || role == "" || role == lyceum.OwnerRole {
		return err
	}
	return lyceum.Errorf(lyceum.Forbidden, "user %d works for the school, so an API key cannot change their email "+
		"address, password or role", user.ID)
}

// checkPartner prevents staff who may not change authors and affiliates from changing them as
// users.
func (a *Account) checkPartner(by lyceum.By, before lyceum.Role, d Doors) error {
	role := a.Role.Else(before)
	becomes := role != before && (role == lyceum.Author || role == lyceum.Affiliate)
	if !becomes && !a.AuthorShare.Present && !a.AffiliateShare.Present {
		return nil
	}
	return d.PermitPartners(by)
}

func (a *Account) checkKey(by lyceum.By, user, after *lyceum.User) error {
	var wrong []lyceum.FieldError
	for _, field := range []struct {
		name    string
		changes bool
	}{
		{"email", user.Email != after.Email}, {"password", a.Password.Present}, {"role", user.Role != after.Role},
	} {
		switch {
		case !field.changes:
		case user.Role == lyceum.Owner || user.Role.Custom():
			wrong = append(wrong, lyceum.FieldError{
				Field: field.name, Message: fmt.Sprintf("of a user with the role %s cannot be changed with an API key", user.Role),
			})
		case after.Role == lyceum.Owner && field.name == "role":
			wrong = append(wrong, lyceum.FieldError{
				Field: "role", Message: "must be student, author or affiliate: " + ownersApart,
			})
		default:
			if err := by.Permit(lyceum.Accounts); err != nil {
				return err
			}
		}
	}
	return refused(wrong)
}

func (a *Account) checkTexts() (wrong []lyceum.FieldError) {
	refuse := func(field, message string) {
		wrong = append(wrong, lyceum.FieldError{Field: field, Message: message})
	}
	if a.Email.Present && !IsAddress(a.Email.Value) {
		refuse("email", addressTaken)
	}
	if length := utf8.RuneCountInString(a.Password.Value); a.Password.Present &&
		(length < minPassword || length > MaxPassword) {
		refuse("password", "must have 6 to 256 characters")
	}
	return append(wrong, checkTexts(a.Name.Value, lyceum.None[string]())...)
}

type shareOf struct {
	field string
	role  lyceum.Role
	value lyceum.Opt[float64]
}

func (a *Account) shares() []shareOf {
	return []shareOf{
		{"author_revenue_share", lyceum.Author, a.AuthorShare},
		{"affiliate_revenue_share", lyceum.Affiliate, a.AffiliateShare},
	}
}

// checkShares rejects the share of a role that the user does not have.
func (a *Account) checkShares(role lyceum.Role) (wrong []lyceum.FieldError) {
	for _, share := range a.shares() {
		if share.value.Present && share.role != role {
			wrong = append(wrong, lyceum.FieldError{
				Field: share.field, Message: "must be left out unless role is " + string(share.role),
			})
		}
	}
	return wrong
}
