package templates

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/osteele/liquid/filters"
	"github.com/osteele/liquid/render"
	"github.com/osteele/liquid/values"
	"github.com/osteele/tuesday"
)

// filterNames are the filters that templates can use, in alphabetical order.
var filterNames = []string{
	"abs", "append", "capitalize", "ceil", "compact", "concat", "date", "default", "divided_by", "downcase",
	"escape", "escape_once", "first", "floor", "hmac_sha256", "join", "json", "last", "lstrip", "map", "minus",
	"modulo", "newline_to_br", "plus", "prepend", "remove", "remove_first", "replace", "replace_first", "reverse",
	"round", "rstrip", "size", "slice", "sort", "sort_natural", "split", "strip", "strip_html", "strip_newlines",
	"times", "truncate", "truncatewords", "uniq", "upcase", "url_decode", "url_encode",
}

// addFilters adds the filters of the language for one rendering.
func addFilters(config *render.Config, spent *budget, secrets Secrets) {
	metered := meter{config: config, spent: spent}
	filters.AddStandardFilters(metered)
	metered.AddFilter("date", date)
	metered.AddFilter("join", join)
	metered.AddFilter("replace", replace)
	metered.AddFilter("truncate", truncate)
	metered.AddFilter("hmac_sha256", secrets.hmac)
}

// meter adds filters that reject input and output beyond the limits.
type meter struct {
	config *render.Config
	spent  *budget
}

// AddFilter implements filters.FilterDictionary.
func (m meter) AddFilter(name string, filter any) {
	if !slices.Contains(filterNames, name) {
		return
	}
	f := reflect.ValueOf(filter)
	m.config.AddFilter(name, reflect.MakeFunc(f.Type(), func(in []reflect.Value) []reflect.Value {
		for _, v := range in {
			refuse(m.spent.check(v))
		}
		out := f.Call(in)
		refuse(m.spent.keep(out[0]))
		return out
	}).Interface())
}

// refuse ends an expression with a panic, because the library's filters cannot return an error.
// The library turns the panic into one.
func refuse(err error) {
	if err != nil {
		panic(values.TypeError(err.Error()))
	}
}

// longWidth matches a width of three digits in a date format, such as %900d.
var longWidth = regexp.MustCompile(`\d{3}`)

func date(t time.Time, format func(string) string) (string, error) {
	f := format("%Y-%m-%d")
	if longWidth.MatchString(f) {
		return "", errors.New("a format has widths up to 99")
	}
	return tuesday.Strftime(f, t)
}

func join(list []any, separator func(string) string) (string, error) {
	by := separator(" ")
	if len(list)*len(by) > maxText {
		return "", fmt.Errorf("a text has more than %d bytes", maxText)
	}
	texts := make([]string, 0, len(list))
	for _, v := range list {
		if v != nil {
			texts = append(texts, fmt.Sprint(v))
		}
	}
	return strings.Join(texts, by), nil
}

func replace(text, old, with string) (string, error) {
	if strings.Count(text, old)*len(with) > maxText {
		return "", fmt.Errorf("a text has more than %d bytes", maxText)
	}
	return strings.ReplaceAll(text, old, with), nil
}

// truncate shortens a string to a number of characters, including those of the ellipsis.
func truncate(text string, length func(int) int, ellipsis func(string) string) string {
	n, end := length(50), ellipsis("...")
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:max(0, n-len([]rune(end)))]) + end
}

// secretName represents a secret in a template. Printing it does not show the secret.
type secretName string

// String hides even the name.
func (secretName) String() string { return "[secret]" }

// hmac is the contract's filter hmac_sha256: the HMAC-SHA256 of a string, in lower-case
// hexadecimal.
func (s Secrets) hmac(text, secret any) (string, error) {
	name, is := secret.(secretName)
	if !is {
		return "", errors.New("name one of the school's secrets, such as hmac_sha256: secrets.chat")
	}
	v := reflect.ValueOf(text)
	if _, is := text.(secretName); is || !v.IsValid() || v.Kind() != reflect.String && !v.CanInt() && !v.CanUint() {
		return "", errors.New("the value to sign is a text or a whole number")
	}
	mac := hmac.New(sha256.New, s[string(name)])
	fmt.Fprint(mac, text)
	return hex.EncodeToString(mac.Sum(nil)), nil
}
