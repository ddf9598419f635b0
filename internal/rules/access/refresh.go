package access

import (
	"context"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Refresh issues another access token to an app. If wanted is not empty, it narrows the scopes
// to a part of those of the refresh token. The refresh token stays valid, as the contract
// requires, unless the app rotates them: then a new one is returned, and reuse of an old one
// revokes the grant (RFC 9700, section 4.14.2).
func (o *OAuth) Refresh(ctx context.Context, client Client, refreshToken, wanted string) (Tokens, error) {
	school, app, err := o.authenticate(ctx, client)
	if err != nil {
		return Tokens{}, err
	}
	if from, ok := schoolOf(refreshPrefix, refreshToken); !ok || from != school {
		return Tokens{}, errGrant
	}
	hash := HashSecret(refreshToken)
	now := o.clock()
	var tokens Tokens
	reused := false
	var of lyceum.Grant
	err = o.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: appActor(app.ID)}, func(tx lyceum.Tx) error {
		reused = false
		kept, standing, err := o.line(tx, hash, app, now)
		if err != nil {
			return err
		}
		scopes := kept.Scopes
		if wanted != "" {
			narrowed, ok := listed(app.Version, wanted)
			if !ok || !kept.Scopes.Covers(narrowed) || len(narrowed) == 0 {
				return refusal(codeInvalidScope, "scope must be some of the scopes that were granted")
			}
			scopes = narrowed
		}
		if reused, err = o.replaced(tx, kept, now); err != nil {
			return err
		}
		if reused {
			of = standing.Grant
			return revokeGrant(tx, standing.Grant, now)
		}
		var issue func(lyceum.Tx, *lyceum.RefreshToken) error
		tokens, issue = o.mint(school, standing.Grant, scopes, now)
		if !app.RotateRefreshTokens && !kept.ReplacedAt.Present { // a replaced one expires with its grace period
			tokens.RefreshToken = refreshToken
			kept.UsedAt = now
			if err := tx.RefreshTokens.Update(tx, kept); err != nil {
				return err
			}
			return tx.AccessTokens.Insert(tx, o.accessToken(tokens, standing.Grant.ID, now))
		}
		if err := o.succeed(tx, kept, HashSecret(tokens.RefreshToken), now); err != nil {
			return err
		}
		return issue(tx, &kept)
	})
	if err != nil {
		return Tokens{}, err
	}
	if reused {
		o.forgetAll()
		o.Traces.Add(ctx, Trace{
			Kind: TokenReused, School: school, User: of.User, Object: int32(of.ID), From: client.From,
		})
		return Tokens{}, errGrant
	}
	return tokens, nil
}

// line finds a refresh token of an app that may still be used.
func (o *OAuth) line(
	tx lyceum.Tx, hash lyceum.KeyHash, app lyceum.OAuthApp, now time.Time,
) (lyceum.RefreshToken, lyceum.Standing, error) {
	kept, standing, err := tx.RefreshStandings.Get(tx, hash)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return kept, standing, errGrant
	}
	if err != nil {
		return kept, standing, err
	}
	if standing.App.ID != app.ID || !standing.Good() || expired(kept, now) {
		return kept, standing, errGrant
	}
	return kept, standing, nil
}

func expired(r lyceum.RefreshToken, now time.Time) bool { return !now.Before(expiry(r)) }

// expiry returns when a refresh token expires if it is not used again.
func expiry(r lyceum.RefreshToken) time.Time {
	idle, absolute := r.UsedAt.Add(RefreshIdle), r.Family.Add(RefreshAbsolute)
	if idle.Before(absolute) {
		return idle
	}
	return absolute
}

// succeed records that a refresh token was used and which one follows it. If a token has
// several successors, the first one used is the client's; the others are in nobody's hands, or
// in the wrong ones, and are ended.
func (o *OAuth) succeed(tx lyceum.Tx, kept lyceum.RefreshToken, next lyceum.KeyHash, now time.Time) error {
	if kept.Parent.Present {
		if err := endSiblings(tx, kept, now); err != nil {
			return err
		}
	}
	if kept.ReplacedAt.Present {
		return nil
	}
	kept.ReplacedAt, kept.ReplacedBy, kept.UsedAt = lyceum.Some(now), lyceum.Some(next), now
	return tx.RefreshTokens.Update(tx, kept)
}

// endSiblings ends the unused refresh tokens with the same parent.
func endSiblings(tx lyceum.Tx, kept lyceum.RefreshToken, now time.Time) error {
	siblings, err := lyceum.All(tx.RefreshTokens, tx, lyceum.RefreshTokenFilter{
		Parent: kept.Parent, Except: lyceum.Some(kept.Hash), Unused: true,
	})
	if err != nil {
		return err
	}
	for _, sibling := range siblings {
		sibling.ReplacedAt = lyceum.Some(now)
		if err := tx.RefreshTokens.Update(tx, sibling); err != nil {
			return err
		}
	}
	return nil
}

// revokeGrant revokes a grant unless it is revoked already.
func revokeGrant(tx lyceum.Tx, g lyceum.Grant, now time.Time) error {
	_, err := tx.RevokeGrants(lyceum.GrantFilter{ID: lyceum.Some(g.ID)}, 0, now)
	return err
}

// replaced reports whether a refresh token is being reused after it was replaced. A token does
// not count as reused if it is the immediate predecessor of successors that nobody has used yet
// and the grace period is not over, because then the response may have been lost.
func (o *OAuth) replaced(tx lyceum.Tx, kept lyceum.RefreshToken, now time.Time) (reused bool, err error) {
	if !kept.ReplacedAt.Present {
		return false, nil
	}
	if !kept.ReplacedBy.Present || !now.Before(kept.ReplacedAt.Value.Add(o.grace)) {
		return true, nil
	}
	next, err := tx.RefreshTokens.Get(tx, kept.ReplacedBy.Value)
	if err != nil {
		return false, err
	}
	return next.ReplacedAt.Present, nil
}

// Revoke revokes an app's token (RFC 7009): an access token by itself, a refresh token with its
// whole grant. An unknown token counts as revoked.
func (o *OAuth) Revoke(ctx context.Context, client Client, token string) error {
	school, app, err := o.authenticate(ctx, client)
	if err != nil {
		return err
	}
	shown, err := o.tokenOf(ctx, school, token)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if shown.standing.App.ID != app.ID {
		return refusal(codeUnauthorized, "the token was issued to another app")
	}
	now := o.clock()
	err = o.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: appActor(app.ID)}, func(tx lyceum.Tx) error {
		if !shown.isAccess {
			return revokeGrant(tx, shown.standing.Grant, now)
		}
		revoked, err := tx.AccessTokens.Get(tx, shown.access.Hash)
		if err != nil || revoked.RevokedAt.Present {
			return err
		}
		revoked.RevokedAt = lyceum.Some(now)
		return tx.AccessTokens.Update(tx, revoked)
	})
	o.forgetAll()
	return err
}

// shownToken is a token that an app presents, whatever its state.
type shownToken struct {
	isAccess bool
	access   lyceum.AccessToken
	refresh  lyceum.RefreshToken
	standing lyceum.Standing
}

func (o *OAuth) tokenOf(ctx context.Context, school lyceum.SchoolID, token string) (shown shownToken, err error) {
	v, hash := o.store.In(ctx, school), HashSecret(token)
	if from, ok := schoolOf(accessPrefix, token); ok && from == school {
		shown.isAccess = true
		shown.access, shown.standing, err = v.AccessStandings.Get(v, hash)
		return shown, err
	}
	if from, ok := schoolOf(refreshPrefix, token); ok && from == school {
		shown.refresh, shown.standing, err = v.RefreshStandings.Get(v, hash)
		return shown, err
	}
	return shown, lyceum.Errorf(lyceum.NotFound, "unknown token")
}

// Introspection is what an app learns about one of its tokens (RFC 7662). If the token is not
// active, all else is empty.
type Introspection struct {
	Active    bool
	Access    bool // it is an access token
	Scopes    lyceum.Scopes
	ClientID  string
	User      lyceum.UserID
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Introspect returns what an app may know about one of its own tokens.
func (o *OAuth) Introspect(ctx context.Context, client Client, token string) (Introspection, error) {
	school, app, err := o.authenticate(ctx, client)
	if err != nil {
		return Introspection{}, err
	}
	shown, err := o.tokenOf(ctx, school, token)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return Introspection{}, nil
	}
	if err != nil {
		return Introspection{}, err
	}
	if shown.standing.App.ID != app.ID || !shown.standing.Good() {
		return Introspection{}, nil
	}
	now := o.clock()
	about := Introspection{Active: true, Access: shown.isAccess, ClientID: app.ClientID, User: shown.standing.User.ID}
	if shown.isAccess {
		kept := shown.access
		if kept.RevokedAt.Present || !now.Before(kept.ExpiresAt) {
			return Introspection{}, nil
		}
		about.Scopes, about.IssuedAt, about.ExpiresAt = kept.Scopes, kept.CreatedAt, kept.ExpiresAt
		return about, nil
	}
	kept := shown.refresh
	if kept.ReplacedAt.Present || expired(kept, now) {
		return Introspection{}, nil
	}
	about.Scopes, about.IssuedAt, about.ExpiresAt = kept.Scopes, kept.CreatedAt, expiry(kept)
	return about, nil
}
