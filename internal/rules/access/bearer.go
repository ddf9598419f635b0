package access

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Learner is on whose behalf an app asks, and how far it may go.
type Learner struct {
	School  lyceum.SchoolID
	User    lyceum.UserID
	App     lyceum.OAuthAppID
	Version lyceum.InterfaceVersion
	Scopes  lyceum.Scopes
	profile lyceum.User // as it was when the token was looked up
}

// By is the app that acts for the learner, as rules know it.
func (l *Learner) By() lyceum.By {
	return lyceum.By{School: l.School, Actor: appActor(l.App), Learner: lyceum.Some(l.User)}
}

// Me is what an app learns of the learner it acts for. Name and email are
// absent without the scope that opens them.
type Me struct {
	ID    lyceum.UserID
	Role  lyceum.Role
	Name  lyceum.Opt[string]
	Email lyceum.Opt[string]
}

// Me gives the learner's profile as far as the scopes go. What another process
// changed is seen within five seconds.
func (l *Learner) Me() Me {
	me := Me{ID: l.User, Role: l.profile.Role}
	if l.Scopes.Has("name:read") || l.Scopes.Has("profile:read") {
		me.Name = l.profile.Name
	}
	if l.Scopes.Has("email:read") || l.Scopes.Has("profile:read") {
		me.Email = lyceum.Some(l.profile.Email)
	}
	return me
}

// knownToken is a bearer token that was found good.
type knownToken struct {
	learner Learner
	grant   lyceum.GrantID
	expires time.Time
	until   time.Time // when the store is asked again
	entry   int64     // of the school's journal, which the store showed when it was asked
}

// maxKnownTokens bounds what is remembered of bearer tokens.
const maxKnownTokens = 100_000

// ErrBearer refuses a bearer token; wrong, expired and revoked ones alike (RFC
// 6750, section 3.1).
var ErrBearer = &lyceum.Error{
	Kind: lyceum.Unauthenticated, Code: "invalid_token",
	Detail: "The access token is not valid: it is unknown, expired or revoked.",
}

// ErrNoBearer refuses a request without a bearer token. It has no code, for
// such a request is told none (RFC 6750, section 3.1).
var ErrNoBearer = &lyceum.Error{Kind: lyceum.Unauthenticated, Detail: "An access token is required: " +
	"Authorization: bearer ACCESS_TOKEN."}

// Bearer tells on whose behalf an app asks that presents an access token. A
// token that is revoked in this process is refused at once, one revoked in
// another within five seconds.
func (o *OAuth) Bearer(ctx context.Context, token string) (Learner, error) {
	return o.BearerSince(ctx, token, 0)
}

// BearerSince is Bearer for who knows of an entry of the school's journal, which the
// store shows: what was believed of the token before does not count.
func (o *OAuth) BearerSince(ctx context.Context, token string, entry int64) (Learner, error) {
	now := o.clock()
	hash := HashSecret(token)
	o.mu.RLock()
	known, ok := o.known[hash]
	o.mu.RUnlock()
	if !ok || !now.Before(known.until) || known.entry < entry {
		school, ok := schoolOf(accessPrefix, token)
		if !ok {
			return Learner{}, ErrBearer
		}
		var err error
		if known, err = o.lookBearer(ctx, school, hash, now, entry); err != nil {
			return Learner{}, err
		}
	}
	if !now.Before(known.expires) {
		return Learner{}, ErrBearer
	}
	o.usedGrant(known.learner.School, known.grant, now)
	return known.learner, nil
}

func (o *OAuth) lookBearer(
	ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash, now time.Time, entry int64,
) (knownToken, error) {
	o.mu.RLock()
	generation := o.generation
	o.mu.RUnlock()
	v := o.store.In(ctx, school)
	kept, standing, err := v.AccessStandings.Get(v, hash)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return knownToken{}, ErrBearer
	}
	if err != nil {
		return knownToken{}, err
	}
	if kept.RevokedAt.Present || !standing.Good() {
		o.mu.Lock()
		delete(o.known, hash)
		o.mu.Unlock()
		return knownToken{}, ErrBearer
	}
	known := knownToken{
		learner: Learner{
			School: school, User: standing.User.ID, App: standing.App.ID, Version: standing.App.Version,
			Scopes: kept.Scopes, profile: standing.User,
		},
		grant: kept.Grant, expires: kept.ExpiresAt, until: now.Add(keyMemory), entry: entry,
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if generation != o.generation {
		return known, nil
	}
	if len(o.known) >= maxKnownTokens {
		clear(o.known)
	}
	o.known[hash] = known
	return known, nil
}

// forgetAll makes every bearer token be looked up again, also one that is being
// looked up at this moment.
func (o *OAuth) forgetAll() {
	o.mu.Lock()
	clear(o.known)
	o.generation++
	o.mu.Unlock()
}

// May tells whether a learner's app may ask for an operation of a version; the
// refusal names the scope that is wanted.
func (l *Learner) May(version lyceum.InterfaceVersion, operation string) error {
	wanted := ScopesFor(version, operation)
	if l.Version != version {
		return &lyceum.Error{Kind: lyceum.Forbidden, Code: "access_forbidden", Detail: fmt.Sprintf("This access token "+
			"belongs to an app for version %d of the interface; this is version %d.", l.Version, version)}
	}
	if wanted.met(l.Scopes) {
		return nil
	}
	return &lyceum.Error{Kind: lyceum.Forbidden, Code: "access_forbidden", Detail: "The access token lacks the " +
		"required scope: " + wanted.String() + "."}
}

func (o *OAuth) usedGrant(school lyceum.SchoolID, grant lyceum.GrantID, at time.Time) {
	o.useMu.Lock()
	o.grantUses[grantName{school, grant}] = lyceum.Second(at)
	o.useMu.Unlock()
}

func (o *OAuth) usedApp(school lyceum.SchoolID, app lyceum.OAuthAppID) {
	o.useMu.Lock()
	o.appUses[appName{school, app}] = lyceum.Second(o.clock())
	o.useMu.Unlock()
}

// Uses gives the uses of grants and apps seen since it was asked last.
func (o *OAuth) Uses() ([]lyceum.GrantUse, []lyceum.AppUse) {
	o.useMu.Lock()
	defer o.useMu.Unlock()
	var grants []lyceum.GrantUse
	for name, at := range o.grantUses {
		grants = append(grants, lyceum.GrantUse{School: name.school, Grant: name.grant, At: at})
	}
	var apps []lyceum.AppUse
	for name, at := range o.appUses {
		apps = append(apps, lyceum.AppUse{School: name.school, App: name.app, At: at})
	}
	clear(o.grantUses)
	clear(o.appUses)
	return grants, apps
}

// How the journal names who did something.
func userActor(id lyceum.UserID) string    { return "user:" + strconv.Itoa(int(id)) }
func appActor(id lyceum.OAuthAppID) string { return "oauth_app:" + strconv.Itoa(int(id)) }
