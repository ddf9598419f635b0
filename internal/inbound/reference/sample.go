package reference

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// token is a piece of a sample. Class is its CSS class; without one it is plain text.
type token struct{ Class, Text string }

// The CSS classes of tokens.
const (
	keyToken     = "key"
	stringToken  = "string"
	numberToken  = "number"
	literalToken = "literal"
)

// sample is text to copy.
type sample struct {
	Title  string
	Tokens []token
}

// jsonSample renders n as indented JSON.
func jsonSample(n *node) []token {
	w := jsonWriter{newline: "\n", indent: "  "}
	w.write(n)
	return w.tokens
}

// compactJSON renders n as JSON on one line.
func compactJSON(n *node) []token {
	w := jsonWriter{afterComma: " "}
	w.write(n)
	return w.tokens
}

type jsonWriter struct {
	newline, indent, afterComma string
	depth                       int
	tokens                      []token
}

func (w *jsonWriter) write(n *node) {
	switch {
	case n.fields != nil:
		w.enclose("{", "}", len(n.keys), func(i int) {
			w.put(keyToken, quote(n.keys[i]))
			w.put("", ": ")
			w.write(n.fields[n.keys[i]])
		})
	case n.items != nil:
		w.enclose("[", "]", len(n.items), func(i int) { w.write(n.items[i]) })
	default:
		w.writeScalar(n.scalar)
	}
}

func (w *jsonWriter) enclose(opening, closing string, count int, writeItem func(int)) {
	if count == 0 {
		w.put("", opening+closing)
		return
	}
	w.put("", opening)
	w.depth++
	for i := range count {
		if i > 0 {
			w.put("", ","+w.afterComma)
		}
		w.breakLine()
		writeItem(i)
	}
	w.depth--
	w.breakLine()
	w.put("", closing)
}

func (w *jsonWriter) breakLine() {
	if w.newline != "" {
		w.put("", w.newline+strings.Repeat(w.indent, w.depth))
	}
}

func (w *jsonWriter) writeScalar(value any) {
	switch v := value.(type) {
	case string:
		w.put(stringToken, quote(v))
	case json.Number:
		w.put(numberToken, v.String())
	case bool:
		w.put(literalToken, strconv.FormatBool(v))
	default:
		w.put(literalToken, "null")
	}
}

func (w *jsonWriter) put(class, text string) {
	w.tokens = append(w.tokens, token{class, text})
}

// quote returns s as a JSON string, without HTML escapes.
func quote(s string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) //nolint:errchkjson // a string can always be encoded
	return strings.TrimSuffix(out.String(), "\n")
}

// curl returns the command for an operation's example request. It contains the server's
// address, and the credential or its shell variable.
func curl(method, path string, credentials []credential, parameters []*node, body *node) []token {
	var options []token
	option := func(name, argument string) {
		options = append(options, token{"", " \\\n  " + name + " "}, token{stringToken, argument})
	}
	for _, c := range credentials {
		if c.InBody {
			continue
		}
		option("--header", `"`+c.Header+": "+c.Prefix+c.Value+`"`)
	}
	command := "curl "
	for _, p := range parameters {
		name, example := p.get("name").text(), p.get("example").text()
		switch p.get("in").text() {
		case "path":
			path = strings.ReplaceAll(path, "{"+name+"}", example)
		case "query":
			if p.get("required").isTrue() || p.get("x-sample").isTrue() {
				command = "curl --get "
				option("--data-urlencode", `"`+name+"="+example+`"`)
			}
		}
	}
	if method != http.MethodGet {
		command += "--request " + method + " "
	}
	if body != nil {
		option("--json", shellQuote(compactJSON(body)))
	}
	return append([]token{{"", command}, {stringToken, `"` + addressMark + path + `"`}}, options...)
}

// shellQuote quotes tokens for a shell.
func shellQuote(tokens []token) string {
	var text strings.Builder
	for _, t := range tokens {
		text.WriteString(t.Text)
	}
	return "'" + strings.ReplaceAll(text.String(), "'", `'\''`) + "'"
}
