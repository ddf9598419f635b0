package server_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
)

// TestJ2_SecretsAreComparedByHash checks that the rules that handle secrets do not compare them
// with ==. Secrets are looked up by their hash.
func TestJ2_SecretsAreComparedByHash(t *testing.T) {
	files, err := filepath.Glob("../../rules/access/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	looked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			compared, ok := n.(*ast.BinaryExpr)
			if !ok || compared.Op != token.EQL && compared.Op != token.NEQ {
				return true
			}
			looked++
			for _, side := range []ast.Expr{compared.X, compared.Y} {
				selector, ok := side.(*ast.SelectorExpr)
				if ok && (strings.Contains(selector.Sel.Name, "Secret") || selector.Sel.Name == "Hash") {
					t.Errorf("%s compares %s", set.Position(compared.Pos()), selector.Sel.Name)
				}
			}
			return true
		})
	}
	if looked == 0 {
		t.Error("nothing was compared: this test looks in the wrong place")
	}
}

// TestJ3_ForwardedHeadersAreNotBelieved checks that the client and the address of the server
// are known from the connection and the settings.
func TestJ3_ForwardedHeadersAreNotBelieved(t *testing.T) {
	c := newCampus(t)
	b := c.browse()
	b.signIn(t, c.ours, learnerEmail)
	forged := []string{"X-Forwarded-For: 198.51.100.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: evil.example", "Forwarded: for=198.51.100.1;host=evil.example;proto=http", "X-Real-Ip: 198.51.100.1"}
	r := request(http.MethodGet, "/.well-known/oauth-authorization-server/v1", nil, forged...)
	r.Host = "evil.example"
	if w := c.do(r); strings.Contains(w.Body.String(), "evil.example") || !strings.Contains(w.Body.String(), `"issuer":"`+baseURL+`/v1"`) {
		t.Errorf("the metadata is %s", w.Body)
	}
	r = request(http.MethodGet, c.ours.authorize(lyceum.V1, set("response_type", "x")), nil, forged...)
	r.Host = "evil.example"
	if got := arrivedAt(t, b.send(r)); got.Get("iss") != baseURL+"/v1" {
		t.Errorf("the issuer is %q", got.Get("iss"))
	}
	limited := 0
	for n := range 30 {
		r := request(http.MethodPost, "/v1/current_user/oauth2/token", strings.NewReader("grant_type=refresh_token&refresh_token=x&client_id=x&client_secret=x"),
			"Content-Type: application/x-www-form-urlencoded", "X-Forwarded-For: 198.51.100."+string(rune('0'+n%10)))
		if c.do(r).Code == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited != 10 {
		t.Errorf("%d of 30 are refused for their number, want 10: a header stands for the address", limited)
	}
}

func TestJ4_EveryResponseIsHeldToHTTPS(t *testing.T) {
	c := newCampus(t)
	responses := c.everyPage(t)
	for _, path := range []string{"/v1/transactions", "/v1/nothing", "/v2/current_user/me", "/livez", "/nowhere", "/assets/x", "/metrics"} {
		responses[path] = c.do(request(http.MethodGet, path, nil))
	}
	for name, w := range responses {
		for header, want := range map[string]string{"Strict-Transport-Security": "max-age=31536000", "X-Content-Type-Options": "nosniff"} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
	}
}
