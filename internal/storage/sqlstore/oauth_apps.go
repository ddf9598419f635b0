package sqlstore

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

var oauthApps = define(&tables.OAuthApps, noun[lyceum.OAuthAppID, lyceum.OAuthApp, lyceum.OAuthAppFilter]{
	table:   table[lyceum.OAuthApp]{name: "oauth_apps"},
	what:    "OAuth app",
	entries: "oauth_app",
	key:     idKey("oauth_app_id", func(a *lyceum.OAuthApp) *lyceum.OAuthAppID { return &a.ID }),
	rest: []column[lyceum.OAuthApp]{
		textColumn("name", func(a *lyceum.OAuthApp) *string { return &a.Name }),
		intColumn("version", func(a *lyceum.OAuthApp) *lyceum.InterfaceVersion { return &a.Version }),
		textColumn("redirect_url", func(a *lyceum.OAuthApp) *string { return &a.RedirectURL }),
		textColumn("client_id", func(a *lyceum.OAuthApp) *string { return &a.ClientID }),
		hashColumn("secret_hash", func(a *lyceum.OAuthApp) *lyceum.KeyHash { return &a.SecretHash }),
		timeColumn("created_at", func(a *lyceum.OAuthApp) *time.Time { return &a.CreatedAt }),
		boolColumn("require_pkce", func(a *lyceum.OAuthApp) *bool { return &a.RequirePKCE }),
		boolColumn("rotate_refresh_tokens", func(a *lyceum.OAuthApp) *bool { return &a.RotateRefreshTokens }),
		optHashColumn("old_secret_hash", func(a *lyceum.OAuthApp) *lyceum.Opt[lyceum.KeyHash] { return &a.OldSecretHash }),
		optTimeColumn("old_secret_until", func(a *lyceum.OAuthApp) *lyceum.Opt[time.Time] { return &a.OldSecretUntil }),
		optTimeColumn("last_used_at", func(a *lyceum.OAuthApp) *lyceum.Opt[time.Time] { return &a.LastUsedAt }),
		optTimeColumn("disabled_at", func(a *lyceum.OAuthApp) *lyceum.Opt[time.Time] { return &a.DisabledAt }),
		optTimeColumn("deleted_at", func(a *lyceum.OAuthApp) *lyceum.Opt[time.Time] { return &a.DeletedAt }),
	},
	secret: true,
	narrow: func(w *where, f lyceum.OAuthAppFilter) {
		if f.ClientID.Present {
			w.equal("client_id", f.ClientID.Value)
		}
		if f.Undeleted {
			w.absent("deleted_at")
		}
	},
})
