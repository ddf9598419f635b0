package oauth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/lyceum-school/lyceum"
)

// parameters are the parameters of a request, by name. Those that were sent more than once are
// also in repeated. An empty parameter counts as absent (RFC 6749, section 3.1).
type parameters struct {
	values   map[string]string
	repeated map[string]bool
}

func (p parameters) get(name string) string { return p.values[name] }

// parseForm parses a query string or a form (RFC 6749, appendix B). What cannot be decoded is
// an error, never guessed.
func parseForm(text string) (parameters, error) {
	pairs, err := url.ParseQuery(text)
	if err != nil {
		return parameters{}, lyceum.Invalidf("the parameters cannot be decoded: every %% must be followed by two " +
			"hexadecimal digits, and pairs are separated by &")
	}
	p := parameters{values: map[string]string{}, repeated: map[string]bool{}}
	for name, values := range pairs {
		for _, value := range append(values, name) {
			if err := decent(value); err != nil {
				return parameters{}, err
			}
		}
		p.values[name] = values[0]
		if len(values) > 1 {
			p.repeated[name] = true
		}
	}
	return p, nil
}

// foldCase also counts names as repeated that differ only in their letter case.
func (p parameters) foldCase() {
	folded := map[string]bool{}
	for name := range p.values {
		if name = strings.ToLower(name); folded[name] {
			p.repeated[name] = true
		}
		folded[name] = true
	}
}

// decent rejects text that is not valid in a parameter.
func decent(text string) error {
	if !lyceum.IsText(text) {
		return lyceum.Invalidf("the parameters must be UTF-8 without NUL")
	}
	return nil
}

// parseJSON parses an object of strings. Unlike encoding/json, it matches names
// case-sensitively, and notices names that are repeated, in whichever letter case (RFC 6749,
// section 3.2).
func parseJSON(text []byte) (parameters, error) {
	wrong := lyceum.Invalidf("the body must be one JSON object whose values are strings")
	if !utf8.Valid(text) {
		return parameters{}, wrong
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return parameters{}, wrong
	}
	p := parameters{values: map[string]string{}, repeated: map[string]bool{}}
	folded := map[string]bool{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return parameters{}, wrong
		}
		value, err := decoder.Token()
		if err != nil {
			return parameters{}, wrong
		}
		key, _ := name.(string) // the decoder accepts only strings as names
		written, ok := value.(string)
		if !ok || decent(written) != nil || decent(key) != nil {
			return parameters{}, wrong
		}
		if folded[strings.ToLower(key)] {
			p.repeated[strings.ToLower(key)] = true
		}
		folded[strings.ToLower(key)] = true
		p.values[key] = written
	}
	if _, err := decoder.Token(); err != nil {
		return parameters{}, wrong
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return parameters{}, wrong
	}
	return p, nil
}

// readBody reads the parameters of an app's request. They must be in the body, as a form or as
// JSON.
func readBody(r *http.Request) (parameters, error) {
	if r.URL.RawQuery != "" {
		return parameters{}, lyceum.Invalidf("parameters belong in the body, not in the URL")
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" && kind != "application/json" ||
		len(r.Header["Content-Type"]) > 1 {
		return parameters{}, lyceum.Invalidf("the header Content-Type must be application/x-www-form-urlencoded " +
			"or application/json")
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return parameters{}, err
		}
		return parameters{}, lyceum.Invalidf("the body ended early")
	}
	var p parameters
	if kind == "application/json" {
		p, err = parseJSON(text)
	} else {
		p, err = parseForm(string(text))
		p.foldCase()
	}
	if err != nil {
		return parameters{}, err
	}
	for name := range p.repeated {
		return parameters{}, lyceum.Invalidf("%s must be sent once", nameForMessage(name))
	}
	return p, nil
}

// nameForMessage returns the name of a parameter for use in a message, unless it is unknown.
func nameForMessage(name string) string {
	switch name {
	case "grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope", "client_id", "client_secret",
		"token", "token_type_hint",
		"response_type", "required_scopes", "optional_scopes", "code_challenge", "code_challenge_method", "state":
		return name
	}
	return "a parameter"
}

// basic reads client credentials from the Authorization header (RFC 6749, section 2.3.1): both
// parts are form-encoded inside Basic. there reports whether the request has a Basic header at
// all.
func basic(r *http.Request) (id, secret string, there bool, err error) {
	headers := r.Header["Authorization"]
	if len(headers) == 0 {
		return "", "", false, nil
	}
	wrong := lyceum.Invalidf("the header Authorization must be sent once, as Basic with the client id and the " +
		"client secret")
	scheme, rest, _ := strings.Cut(headers[0], " ")
	if len(headers) > 1 || !strings.EqualFold(scheme, "basic") {
		return "", "", false, wrong
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
	if err != nil {
		return "", "", true, wrong
	}
	user, password, ok := strings.Cut(string(text), ":")
	id, err1 := url.QueryUnescape(user)
	secret, err2 := url.QueryUnescape(password)
	if !ok || err1 != nil || err2 != nil || decent(id) != nil || decent(secret) != nil {
		return "", "", true, wrong
	}
	return id, secret, true, nil
}
