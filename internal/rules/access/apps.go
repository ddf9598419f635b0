package access

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Apps registers and changes a school's OAuth apps. It is safe for concurrent use.
type Apps struct {
	store    lyceum.Store
	clock    func() time.Time
	entropy  func() Entropy
	oauth    *OAuth
	loopback bool
}

// NewApps returns an Apps for a store. If loopback is true, Redirect URLs may use http on the
// local machine, which only a sandbox allows.
func NewApps(store lyceum.Store, clock func() time.Time, oauth *OAuth, loopback bool) *Apps {
	return &Apps{store: store, clock: clock, entropy: NewEntropy, oauth: oauth, loopback: loopback}
}

// AppForm is what an owner enters about an app.
type AppForm struct {
	Name                string
	RedirectURL         string
	Version             lyceum.InterfaceVersion // cannot be changed later
	RequirePKCE         bool
	RotateRefreshTokens bool
}

func (a *Apps) check(f AppForm) error {
	var wrong []lyceum.FieldError
	if message := lyceum.CheckText(strings.TrimSpace(f.Name), 1, maxNameLength); message != "" {
		wrong = append(wrong, lyceum.FieldError{Field: "name", Message: message})
	}
	if message := a.redirectProblem(f.RedirectURL); message != "" {
		wrong = append(wrong, lyceum.FieldError{Field: "redirect_url", Message: message})
	}
	if f.Version != lyceum.V1 && f.Version != lyceum.V2 {
		wrong = append(wrong, lyceum.FieldError{Field: "version", Message: "must be 1 or 2"})
	}
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	return nil
}

// redirectProblem returns what is wrong with a Redirect URL (RFC 6749, section 3.1.2;
// docs/oauth.md), or "" if it is valid.
func (a *Apps) redirectProblem(text string) string {
	const taken = "must be an address that begins with https:// and a host, without a fragment (#…), such as " +
		"https://app.example.com/callback"
	if !lyceum.IsText(text) {
		return lyceum.TextTaken
	}
	if len(text) > 2000 || strings.ContainsAny(text, " \t\r\n\"<>\\^`{|}") || strings.Contains(text, "#") {
		return taken
	}
	to, err := url.Parse(text)
	if err != nil || to.Hostname() == "" || to.User != nil {
		return taken
	}
	switch {
	case to.Scheme == "https":
		return ""
	case to.Scheme == "http" && a.loopback &&
		(to.Hostname() == "localhost" || to.Hostname() == "127.0.0.1" || to.Hostname() == "::1"):
		return ""
	}
	return taken
}

// List returns the apps of a school that are not deleted, oldest first.
func (a *Apps) List(ctx context.Context, by lyceum.By) ([]lyceum.OAuthApp, error) {
	v := a.store.In(ctx, by.School)
	if _, err := v.GetSchool(); err != nil {
		return nil, err
	}
	return lyceum.All(v.OAuthApps, v, lyceum.OAuthAppFilter{Undeleted: true})
}

// Get returns one app that is not deleted.
func (a *Apps) Get(ctx context.Context, by lyceum.By, id lyceum.OAuthAppID) (lyceum.OAuthApp, error) {
	apps, err := a.List(ctx, by)
	if err != nil {
		return lyceum.OAuthApp{}, err
	}
	for _, app := range apps {
		if app.ID == id {
			return app, nil
		}
	}
	return lyceum.OAuthApp{}, lyceum.Errorf(lyceum.NotFound, "there is no OAuth app %d in school %d", id, by.School)
}

// maxApps is the most OAuth apps that a school can have, not counting deleted ones.
const maxApps = 1000

// roomForApp rejects an app beyond maxApps.
func roomForApp(tx lyceum.Tx) error {
	kept, err := lyceum.All(tx.OAuthApps, tx, lyceum.OAuthAppFilter{Undeleted: true})
	if err == nil && len(kept) >= maxApps {
		err = lyceum.Errorf(lyceum.Conflict, "A school can have at most %d OAuth apps. Delete one first.", maxApps)
	}
	return err
}

// Register creates an app and returns it with its client secret, which is not stored and cannot
// be retrieved again.
func (a *Apps) Register(ctx context.Context, by lyceum.By, f AppForm) (lyceum.OAuthApp, string, error) {
	if err := a.check(f); err != nil {
		return lyceum.OAuthApp{}, "", err
	}
	if _, err := a.store.In(ctx, by.School).GetSchool(); err != nil {
		return lyceum.OAuthApp{}, "", err
	}
	now := a.clock()
	secret := ClientSecret(by.School, a.entropy())
	app := lyceum.OAuthApp{
		Name: strings.TrimSpace(f.Name), Version: f.Version, RedirectURL: f.RedirectURL,
		ClientID: ClientID(by.School, a.entropy()), SecretHash: HashSecret(secret), CreatedAt: lyceum.Second(now),
		RequirePKCE: f.RequirePKCE, RotateRefreshTokens: f.RotateRefreshTokens,
	}
	app, err := lyceum.Change(ctx, a.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.OAuthApp, error) {
		if err := roomForApp(tx); err != nil {
			return app, err
		}
		id, err := tx.OAuthApps.NextID(tx)
		if err != nil {
			return app, err
		}
		app.ID = id
		return app, tx.OAuthApps.Insert(tx, app)
	})
	return app, secret, err
}

// Change changes an app's name, Redirect URL or switches. Codes issued for the old Redirect URL
// fail.
func (a *Apps) Change(ctx context.Context, by lyceum.By, id lyceum.OAuthAppID, f AppForm) (lyceum.OAuthApp, error) {
	return a.edit(ctx, by, id, func(app *lyceum.OAuthApp, _ time.Time) error {
		f.Version = app.Version
		before := app.Shown()
		if err := a.check(f); err != nil {
			return err
		}
		app.Name, app.RedirectURL = strings.TrimSpace(f.Name), f.RedirectURL
		app.RequirePKCE, app.RotateRefreshTokens = f.RequirePKCE, f.RotateRefreshTokens
		return by.CheckShown(before, app.Shown())
	})
}

// maxOldSecret is the longest that an old client secret can stay valid.
const maxOldSecret = 30 * 24 * time.Hour

// Rotate gives an app a new client secret; the old one stays valid for keep.
func (a *Apps) Rotate(
	ctx context.Context, by lyceum.By, id lyceum.OAuthAppID, keep time.Duration,
) (lyceum.OAuthApp, string, error) {
	if keep < 0 || keep > maxOldSecret {
		wrong := lyceum.FieldError{Field: "keep", Message: "must be from 0 to 720 hours"}
		return lyceum.OAuthApp{}, "", lyceum.InvalidFields(wrong)
	}
	secret := ClientSecret(by.School, a.entropy())
	app, err := a.edit(ctx, by, id, func(app *lyceum.OAuthApp, now time.Time) error {
		app.OldSecretHash, app.OldSecretUntil = lyceum.None[lyceum.KeyHash](), lyceum.None[time.Time]()
		if keep > 0 {
			app.OldSecretHash, app.OldSecretUntil = lyceum.Some(app.SecretHash), lyceum.Some(now.Add(keep))
		}
		app.SecretHash = HashSecret(secret)
		return nil
	})
	return app, secret, err
}

// Disable disables an app along with all its tokens, or enables it again.
func (a *Apps) Disable(ctx context.Context, by lyceum.By, id lyceum.OAuthAppID, off bool) (lyceum.OAuthApp, error) {
	return a.edit(ctx, by, id, func(app *lyceum.OAuthApp, now time.Time) error {
		app.DisabledAt = lyceum.None[time.Time]()
		if off {
			app.DisabledAt = lyceum.Some(lyceum.Second(now))
		}
		return nil
	})
}

// Delete permanently deletes an app and revokes all its grants.
func (a *Apps) Delete(ctx context.Context, by lyceum.By, id lyceum.OAuthAppID) error {
	_, err := a.edit(ctx, by, id, func(app *lyceum.OAuthApp, now time.Time) error {
		app.DeletedAt = lyceum.Some(lyceum.Second(now))
		return nil
	})
	if err != nil {
		return err
	}
	return a.revoke(ctx, by, lyceum.GrantFilter{App: lyceum.Some(id)})
}

// revokeSize is the most grants that one write revokes.
const revokeSize = 500

// revoke revokes grants in batches.
func (a *Apps) revoke(ctx context.Context, by lyceum.By, which lyceum.GrantFilter) error {
	now := a.clock()
	for n := revokeSize; n == revokeSize; {
		err := a.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) (err error) {
			n, err = tx.RevokeGrants(which, revokeSize, now)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// edit changes an app in one write and evicts all cached tokens.
func (a *Apps) edit(
	ctx context.Context, by lyceum.By, id lyceum.OAuthAppID, change func(*lyceum.OAuthApp, time.Time) error,
) (lyceum.OAuthApp, error) {
	if _, err := a.Get(ctx, by, id); err != nil {
		return lyceum.OAuthApp{}, err
	}
	now := a.clock()
	app, err := lyceum.Change(ctx, a.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.OAuthApp, error) {
		app, err := tx.OAuthApps.Get(tx, id)
		if err != nil {
			return lyceum.OAuthApp{}, err
		}
		if app.DeletedAt.Present {
			return lyceum.OAuthApp{}, lyceum.Errorf(lyceum.NotFound, "there is no OAuth app %d in school %d", id, by.School)
		}
		if err := change(&app, now); err != nil {
			return lyceum.OAuthApp{}, err
		}
		_, err = tx.OAuthApps.Save(tx, app)
		return app, err
	})
	a.oauth.forgetAll()
	return app, err
}

// Granted is an app that a learner has granted access to.
type Granted struct {
	App      lyceum.OAuthApp
	Scopes   lyceum.Scopes
	Since    time.Time
	LastUsed lyceum.Opt[time.Time]
}

// GrantedBy returns the apps that a learner has granted access to.
func (a *Apps) GrantedBy(ctx context.Context, by lyceum.By, user lyceum.UserID) ([]Granted, error) {
	v := a.store.In(ctx, by.School)
	grants, err := lyceum.All(v.Grants, v, lyceum.GrantFilter{User: lyceum.Some(user), Unrevoked: true})
	if err != nil {
		return nil, err
	}
	apps, err := a.List(ctx, by)
	if err != nil {
		return nil, err
	}
	var list []Granted
	for _, app := range apps {
		granted := Granted{App: app}
		for _, g := range grants {
			if g.App != app.ID {
				continue
			}
			if granted.Since.IsZero() || g.CreatedAt.Before(granted.Since) {
				granted.Since = g.CreatedAt
			}
			granted.Scopes = lyceum.NewScopes(append(append([]lyceum.Scope{}, granted.Scopes...), g.Scopes...)...)
			if g.LastUsedAt.Present && (!granted.LastUsed.Present || granted.LastUsed.Value.Before(g.LastUsedAt.Value)) {
				granted.LastUsed = g.LastUsedAt
			}
		}
		if !granted.Since.IsZero() {
			list = append(list, granted)
		}
	}
	return list, nil
}

// TakeBack revokes what a learner granted an app.
func (a *Apps) TakeBack(ctx context.Context, by lyceum.By, user lyceum.UserID, app lyceum.OAuthAppID) error {
	err := a.revoke(ctx, by, lyceum.GrantFilter{App: lyceum.Some(app), User: lyceum.Some(user)})
	a.oauth.forgetAll()
	return err
}
