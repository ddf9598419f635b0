package access

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Learner is the learner an app acts for, and what it may do.
type Learner struct {
	School  lyceum.SchoolID
	User    lyceum.UserID
	App     lyceum.OAuthAppID
	Version lyceum.InterfaceVersion
	Scopes  lyceum.Scopes
	profile lyceum.User // as it was when the token was looked up
}

// By returns the app that acts for the learner, in the form that rules use.
func (l *Learner) By() lyceum.By {
	return lyceum.By{School: l.School, Actor: appActor(l.App), Learner: lyceum.Some(l.User)}
}

// Me is what an app learns about the learner it acts for. Name and Email are absent if the app
// lacks the scope for them.
type Me struct {
	ID    lyceum.UserID
	Role  lyceum.Role
	Name  lyceum.Opt[string]
	Email lyceum.Opt[string]
}

// Me returns the part of the learner's profile that the scopes allow. Changes made by another
// process are seen within five seconds.
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

// knownToken is a bearer token that was found valid.
type knownToken struct {
	learner Learner
	grant   lyceum.GrantID
	expires time.Time
	since   time.Time // when the store was queried
	entry   int64     // of the school's journal, which the store had reached then
}

// maxKnownTokens bounds the cache of bearer tokens.
const maxKnownTokens = 100_000

// ErrBearer rejects a bearer token, whether it is unknown, expired or revoked (RFC 6750,
// section 3.1).
var ErrBearer = &lyceum.Error{
	Kind: lyceum.Unauthenticated, Code: "invalid_token",
	Detail: "The access token is not valid: it is unknown, expired or revoked.",
}

// ErrNoBearer rejects a request without a bearer token. It has no code, because the response to
// such a request must not include one (RFC 6750, section 3.1).
var ErrNoBearer = &lyceum.Error{Kind: lyceum.Unauthenticated, Detail: "An access token is required: " +
	"Authorization: bearer ACCESS_TOKEN."}

// Bearer returns the learner on whose behalf the app that presents an access token acts. A
// token revoked in this process is rejected immediately, one revoked in another process within
// five seconds.
func (o *OAuth) Bearer(ctx context.Context, token string) (Learner, error) {
	return o.BearerSince(ctx, token, 0)
}

// BearerSince is Bearer for a caller that has seen an entry of the school's journal: what was
// cached about the token before that entry does not count.
func (o *OAuth) BearerSince(ctx context.Context, token string, entry int64) (Learner, error) {
	now := o.clock()
	hash := HashSecret(token)
	o.mu.RLock()
	known, ok := o.known[hash]
	o.mu.RUnlock()
	if !ok || !trusted(known.since, now) || known.entry < entry {
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
		grant: kept.Grant, expires: kept.ExpiresAt, since: now, entry: entry,
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

// forgetAll evicts all bearer tokens from the cache, and prevents one that is being looked up
// at the moment from being cached.
func (o *OAuth) forgetAll() {
	o.mu.Lock()
	clear(o.known)
	o.generation++
	o.mu.Unlock()
}

// LacksScope is the code of the error for an access token that does not allow an operation.
const LacksScope = "access_forbidden"

// May reports whether a learner's app may call an operation of a version; the error names the
// scope it lacks.
func (l *Learner) May(version lyceum.InterfaceVersion, operation string) error {
	wanted := ScopesFor(version, operation)
	if l.Version != version {
		return &lyceum.Error{Kind: lyceum.Forbidden, Code: LacksScope, Detail: fmt.Sprintf("This access token "+
			"belongs to an app for version %d of the interface; this is version %d.", l.Version, version)}
	}
	if wanted.met(l.Scopes) {
		return nil
	}
	return &lyceum.Error{Kind: lyceum.Forbidden, Code: LacksScope, Detail: "The access token lacks the " +
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

// Uses returns the uses of grants and apps since the last call.
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

// userActor and appActor name the actor in journal entries.
func userActor(id lyceum.UserID) string    { return "user:" + strconv.Itoa(int(id)) }
func appActor(id lyceum.OAuthAppID) string { return "oauth_app:" + strconv.Itoa(int(id)) }
