package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// keyPage is the data of the pages about one API key.
type keyPage struct {
	Key  lyceum.APIKey
	Path string
	Text string // the key itself, only on the page that shows it once
	Base string
}

// permissionChoices are the permissions that the form offers, by the values of its field.
var permissionChoices = map[string]lyceum.Permissions{
	"read": lyceum.Read, "read,write": lyceum.Read | lyceum.Write,
	"read,write,accounts": lyceum.Read | lyceum.Write | lyceum.Accounts,
}

// listKeys serves GET /admin/settings/api-keys.
func (c *console) listKeys(w http.ResponseWriter, r *http.Request, v *visit) error {
	keys, err := c.Keys.List(r.Context(), v.by())
	if err != nil {
		return err
	}
	slices.SortStableFunc(keys, func(a, b lyceum.APIKey) int { // revoked keys last: they are only for reference
		return cmp.Compare(over(a), over(b))
	})
	return c.show(w, r, http.StatusOK, "keys.gohtml", v, "API keys", keys)
}

func over(key lyceum.APIKey) int {
	if key.RevokedAt.Present {
		return 1
	}
	return 0
}

// newKey serves GET /admin/settings/api-keys/new.
func (c *console) newKey(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: keysPath, Once: newForm(), Values: map[string]string{"permissions": "read"}}
	return c.show(w, r, http.StatusOK, "key_new.gohtml", v, "Create an API key", f)
}

// createKey serves POST /admin/settings/api-keys.
func (c *console) createKey(w http.ResponseWriter, r *http.Request, v *visit) error {
	f := &form{Action: keysPath, Once: r.PostForm.Get("form"), Values: map[string]string{}}
	f.keep(r.PostForm.Get, "name", "permissions")
	key, text, err := c.Keys.Create(r.Context(), v.sends(r), r.PostForm.Get("name"),
		permissionChoices[r.PostForm.Get("permissions")], access.NewEntropy())
	switch {
	case repeated(err):
		return done(w, r, keysPath, "created")
	case err != nil && f.refuse(err):
		return c.show(w, r, http.StatusUnprocessableEntity, "key_new.gohtml", v, "Create an API key", f)
	case err != nil:
		return err
	}
	return c.show(w, r, http.StatusOK, "key_secret.gohtml", v, "Your API key", keyPage{
		Key: key, Path: keysPath, Text: text, Base: c.Site.BaseURL,
	})
}

// key finds the key in the path.
func (c *console) key(r *http.Request, v *visit) (lyceum.APIKey, error) {
	id, ok := parseID[lyceum.APIKeyID](r.PathValue("id"))
	if !ok {
		return lyceum.APIKey{}, errNoPage
	}
	keys, err := c.Keys.List(r.Context(), v.by())
	if err != nil {
		return lyceum.APIKey{}, err
	}
	for _, key := range keys {
		if key.ID == id {
			return key, nil
		}
	}
	return lyceum.APIKey{}, errNoPage
}

// confirmRevoke serves GET /admin/settings/api-keys/{id}/revoke.
func (c *console) confirmRevoke(w http.ResponseWriter, r *http.Request, v *visit) error {
	key, err := c.key(r, v)
	if err != nil {
		return err
	}
	return c.show(w, r, http.StatusOK, "key_revoke.gohtml", v, "Revoke this key?", keyPage{
		Key: key, Path: fmt.Sprintf("%s/%d", keysPath, key.ID),
	})
}

// revokeKey serves POST /admin/settings/api-keys/{id}/revoke.
func (c *console) revokeKey(w http.ResponseWriter, r *http.Request, v *visit) error {
	key, err := c.key(r, v)
	if err != nil {
		return err
	}
	if err := c.Keys.Revoke(r.Context(), v.by(), key.ID); err != nil {
		return err
	}
	return done(w, r, keysPath, "revoked")
}
