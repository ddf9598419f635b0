package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

func TestKeys(t *testing.T) {
	p := open(t, site)
	want(t, p.send(p.owner, "GET", keysPath, nil), 200, "No keys yet")
	for _, tc := range []struct{ name, keyName, permissions, field string }{
		{"empty name", "", "read", "name"},
		{"name of 10 kB", strings.Repeat("x", 10<<10), "read", "name"},
		{"name with NUL", "a\x00b", "read", "name"},
		{"name that is no UTF-8", "a\xffb", "read", "name"},
		{"no permissions", "Report", "", "permissions"},
		{"unknown permissions", "Report", "everything", "permissions"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := p.send(p.owner, "POST", keysPath, p.form(keysPath+"/new", "name", tc.keyName, "permissions", tc.permissions))
			want(t, w, 422, `id="`+tc.field+`-error"`, `value="`+readable(tc.keyName)+`"`)
		})
	}
	form := p.form(keysPath+"/new", "name", "<b>Report</b>", "permissions", "read,write")
	w := p.send(p.owner, "POST", keysPath, form)
	want(t, w, 200, "Copy the key now", "&lt;b&gt;Report&lt;/b&gt;")
	text := key.FindString(w.Body.String())
	caller, err := p.keys.Check(t.Context(), text)
	if err != nil || caller.School != 1 || caller.Permissions != lyceum.Read|lyceum.Write {
		t.Fatalf("the key is of %+v: %v", caller, err)
	}
	leads(t, p.send(p.owner, "POST", keysPath, form), keysPath+"?done=created")
	w = p.send(p.owner, "GET", keysPath+"?done=created", nil)
	want(t, w, 200, "already exists", "<bdi>&lt;b&gt;Report&lt;/b&gt;</bdi>", "…"+text[len(text)-4:], "Read and write", "Never")
	if strings.Contains(w.Body.String(), "lyceum_key") || strings.Count(w.Body.String(), "/revoke\" hx-get") != 1 {
		t.Error("the key is shown again, or was made twice")
	}

	want(t, p.send(p.owner, "GET", keysPath+"/1/revoke", nil), 200, "Revoke <b>Report</b>, the key that ends in "+text[len(text)-4:])
	if _, err := p.keys.Check(t.Context(), text); err != nil {
		t.Errorf("the question alone has revoked the key: %v", err)
	}
	for range 2 {
		leads(t, p.send(p.owner, "POST", keysPath+"/1/revoke", url.Values{}), keysPath+"?done=revoked")
	}
	if _, err := p.keys.Check(t.Context(), text); lyceum.KindOf(err) != lyceum.Unauthenticated {
		t.Errorf("the key works after it is revoked: %v", err)
	}
	want(t, p.send(p.owner, "GET", keysPath+"?done=revoked", nil), 200, "The key is revoked", "Revoked")
	want(t, p.send(p.owner, "GET", keysPath+"/1/revoke", nil), 200, "is already revoked")
}

func TestF9KeyOfAnotherSchool(t *testing.T) {
	p := open(t, site)
	p.send(p.owner, "POST", keysPath, p.form(keysPath+"/new", "name", "Report", "permissions", "read"))
	foreign := p.signIn(p.addSchool("Southwind"), "owner@south.example.com", lyceum.Owner)
	want(t, p.send(foreign, "GET", keysPath+"/1/revoke", nil), 404)
	want(t, p.send(foreign, "POST", keysPath+"/1/revoke", url.Values{}), 404)
	want(t, p.send(p.owner, "GET", keysPath, nil), 200, "Revoke…")
}
