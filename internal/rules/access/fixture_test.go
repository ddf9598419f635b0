package access_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
	"golang.org/x/crypto/argon2"
)

func openStore(t *testing.T, dir string) lyceum.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), dir, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// desk is a school with a service that issues and checks its keys.
type desk struct {
	store  lyceum.Store
	clock  *storetest.Clock
	keys   *access.Keys
	school lyceum.SchoolID
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{store: openStore(t, t.TempDir()), clock: storetest.NewClock(storetest.Begin)}
	d.keys = access.NewKeys(d.store, d.clock.Now)
	d.school = storetest.MakeSchool(t, d.store)
	return d
}

func (d *desk) issue(t *testing.T, p lyceum.Permissions) (lyceum.APIKey, string) {
	t.Helper()
	key, text, err := d.keys.Create(t.Context(), lyceum.By{School: d.school, Actor: "test"}, "reports", p, access.NewEntropy())
	if err != nil {
		t.Fatal(err)
	}
	return key, text
}

func wantKind(t testing.TB, err error, want lyceum.Kind) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %v", want)
	}
	if got := lyceum.KindOf(err); got != want {
		t.Fatalf("%v error %q, want %v", got, err, want)
	}
}

// The two errors for keys (contract/v1.yaml).
const (
	noKey  = "No API key found in request"
	badKey = "Invalid authentication credentials"
)

func wantRefused(t testing.TB, keys *access.Keys, text, sentence string) {
	t.Helper()
	caller, err := keys.Check(context.Background(), text)
	wantKind(t, err, lyceum.Unauthenticated)
	if got := lyceum.Public(err).Detail; got != sentence || caller != (lyceum.By{}) {
		t.Fatalf("%q is %q for %+v, want %q", text, got, caller, sentence)
	}
}

// byKey returns the caller with an API key.
func byKey(school lyceum.SchoolID, key lyceum.APIKeyID, p lyceum.Permissions) lyceum.By {
	return lyceum.By{School: school, Actor: fmt.Sprintf("api_key:%d", key), Key: key, Permissions: p, V2: true}
}

func wantAccepted(t testing.TB, keys *access.Keys, text string, want lyceum.By) {
	t.Helper()
	caller, err := keys.Check(context.Background(), text)
	if err != nil || caller != want {
		t.Fatalf("%q is of %+v, %v; want %+v", text, caller, err, want)
	}
}

// weakHash returns a hash like one that an older version might have made.
func weakHash(password string) string {
	hash := argon2.IDKey([]byte(password), []byte("0123456789abcdef"), 1, 8, 1, 32)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=8,t=1,p=1$%s$%s", argon2.Version, encode([]byte("0123456789abcdef")), encode(hash))
}

// signIn signs in from an address that nobody else uses.
func (o *office) signIn(t testing.TB, email, password string) (string, lyceum.User, error) {
	t.Helper()
	in, err := o.accounts.SignIn(t.Context(), access.Attempt{
		School: o.school, Email: email, Password: password, From: netip.MustParseAddr("192.0.2.1"),
	})
	return in.Session, in.User, err
}

// interrupted is a table whose First does something before it returns.
type interrupted[ID lyceum.Key, T, F any] struct {
	lyceum.Table[ID, T, F]
	do func()
}

func (i interrupted[ID, T, F]) First(from lyceum.Source, f F) (T, bool, error) {
	row, found, err := i.Table.First(from, f)
	i.do()
	return row, found, err
}
