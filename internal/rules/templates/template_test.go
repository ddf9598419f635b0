package templates_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

func values() map[string]any {
	return map[string]any{
		"user": map[string]any{"id": int64(7), "name": "Ana <b>", "email": "ana@example.com", "phone": nil},
		"items": []any{
			map[string]any{"name": "Drawing", "price": "49.00"},
			map[string]any{"name": "Ink", "price": "9.50"},
		},
		"bought_at": time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC),
	}
}

// The secret chat, and the text signed with it, are those of RFC 4231, test case 2.
var secrets = templates.Secrets{"chat": []byte("Jefe"), "other": []byte("unspeakable")}

func render(t *testing.T, source string) (string, error) {
	t.Helper()
	parsed, err := templates.Parse(source)
	if err != nil {
		return "", err
	}
	return parsed.Render(t.Context(), values(), secrets)
}

func TestTemplates(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"Hello {{ user.name }}!", "Hello Ana <b>!"},
		{"{{ user.name | escape }}", "Ana &lt;b&gt;"},
		{"{{ user.name | json }}", `"Ana \u003cb\u003e"`},
		{"{% for i in items %}{{ forloop.index }}. {{ i.name }} {{ i.price }}\n{% endfor %}", "1. Drawing 49.00\n2. Ink 9.50\n"},
		{"{% for i in (1..3) reversed %}{{ i }}{% endfor %}", "321"},
		{"{% if user.phone %}phone{% elsif user.id == 7 %}seven{% else %}no{% endif %}", "seven"},
		{"{% unless user.phone %}none{% endunless %}", "none"},
		{"{% case user.id %}{% when 7 %}a{% else %}b{% endcase %}", "a"},
		{"{% assign first = items | first %}{{ first.name | upcase }}", "DRAWING"},
		{"{% raw %}{{ user.name }} {% nonsense %}{% endraw %}", "{{ user.name }} {% nonsense %}"},
		{"a{% comment %}{{ x | nonsense }}{% endcomment %}b", "ab"},
		{"{{ bought_at | date: '%d.%m.%Y' }}", "22.11.2026"},
		{"{{ user.phone | default: 'unknown' }}", "unknown"},
		{"{{ 'a|b' | split: '|' | join: ', ' }}", "a, b"},
		{"{{ 'learning' | truncate: 5 }} {{ 'learn' | truncate: 5 }}", "le... learn"},
		{"{{ 'aXbX' | replace: 'X', '-' }}", "a-b-"},
		{
			"{{ 'what do ya want for nothing?' | hmac_sha256: secrets.chat }}",
			"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
		},
		{"{{ user.id | hmac_sha256: secrets.chat }}", "eebb25ddc78a84e76400980a3919889d1333e93e43ee62588ea2521e39d1c4b8"},
	} {
		got, err := render(t, tt.source)
		if err != nil || got != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.source, got, err, tt.want)
		}
	}
}

func TestTemplatesAreRefused(t *testing.T) {
	long := strings.Repeat("x", 40_000)
	doubled := "{% assign a = '" + strings.Repeat("x", 1000) + "' %}" + strings.Repeat("{% assign a = a | append: a %}", 40)
	for _, tt := range []struct{ name, source, want string }{
		{"unknown filter", "a\n{% if user.phone %}{{ 'x' | hmac_sha1: 'y' }}{% endif %}", `line 2: "hmac_sha1" is not a filter; use one of abs,`},
		{"filter without a name", "{{ user.name | }}", `line 1: "" is not a filter`},
		{"unknown tag", "\n\n{% include 'etc/passwd' %}", "line 3: include is not a tag; use one of assign, case, comment, for, if, raw, unless"},
		{"capture", "{% capture a %}{% endcapture %}", "line 1: capture is not a tag"},
		{"unknown variable", "\n{{ user.nmae }}", "line 2: undefined variable in {{ user.nmae }}"},
		{"no value", "{{ user.phone }}", "line 1: undefined variable"},
		{"not closed", "a\nb {{ user.name", "line 2: {{ is not closed"},
		{"block not closed", "{% if user %}a", `line 1: unterminated "if" block`},
		{"raw not closed", "{% raw %}a", "the template has no {% endraw %}"},
		{"end without a beginning", "a{% endif %}", "line 1: {% endif %} ends no {% if %}"},
		{"ends crossed", "{% if user %}{% for i in items %}{% endif %}{% endfor %}", "line 1: {% endif %} ends no {% if %}"},
		{"end of raw alone", "{% endraw %}", "line 1: "},
		{"else alone", "{% else %}", "line 1: else not inside"},
		{"not an expression", "{{ user..name }}", "line 1: a range such as (1..5) can be used in for, without a filter"},
		{"selector", "{{ %loop a in items }}", "line 1: an expression cannot begin with %"},
		{"syntax", "{{ user name }}", "line 1: syntax error"},
		{"secret in the template", "{{ 'x' | hmac_sha256: 'secret' }}", "line 1: hmac_sha256: name one of the school's secrets, such as hmac_sha256: secrets.chat"},
		{"unknown secret", "{{ 'x' | hmac_sha256: secrets.nope }}", "name one of the school's secrets"},
		{"no secret", "{{ 'x' | hmac_sha256 }}", "name one of the school's secrets"},
		{"nothing to sign", "{{ user.phone | hmac_sha256: secrets.chat }}", "the value to sign is a text or a whole number"},
		{"a list to sign", "{{ items | hmac_sha256: secrets.chat }}", "the value to sign is a text or a whole number"},
		{"a secret to sign", "{{ secrets.other | hmac_sha256: secrets.chat }}", "the value to sign is a text or a whole number"},
		{"too long", strings.Repeat("x", templates.MaxSource+1), "a template has at most 32768 bytes; this one has 32769"},
		{"endless loop", "{% for i in (1..999999999999) %}{% endfor %}", "the template's loops have more than 10000 rounds"},
		{"loops in loops", strings.Repeat("{% for i in (1..999) %}", 8) + strings.Repeat("{% endfor %}", 8), "more than 10000 rounds"},
		{"much output", "{% for i in (1..9999) %}" + long[:20_000] + "{% endfor %}", "the template produces more than 262144 bytes"},
		{"doubling", doubled, "a text has more than 65536 bytes"},
		{"large list", "{{ (1..9999999999) | size }}", "a range such as (1..5) can be used in for, without a filter"},
		{"large list in a loop", "{% for i in (1..9999999999) | reverse %}{% endfor %}", "a range such as (1..5)"},
		{"large list kept", "{% assign a = (1..9999999999) %}{{ a | reverse }}", "a range such as (1..5)"},
		{"many members", "{% assign a = '" + strings.Repeat("a,", 2000) + "' | split: ',' %}", "a list has more than 1000 members"},
		{"replaced by much", "{{ '" + long[:10_000] + "' | replace: '', '" + long[:10_000] + "' }}", "a text has more than 65536 bytes"},
		{"wide dates", "{{ bought_at | date: '%999999999d' }}", "a format has widths up to 99"},
		{"what a filter cannot take", "{{ 'x' | truncatewords: 99999 }}", "has a value that it cannot use"},
		{"divided by zero", "{{ 1 | divided_by: 0 }}", "line 1: divided_by: division by zero in {{ 1 | divided_by: 0 }}"},
		{"too many arguments", "{{ 'x' | upcase: 1, 2, 3 }}", "line 1: upcase: wrong number of arguments (given 3, expected 1)"},
	} {
		got, err := render(t, tt.source)
		if known := new(lyceum.Error); !errors.As(err, &known) || known.Kind != lyceum.Invalid || !strings.Contains(known.Detail, tt.want) {
			t.Errorf("%s: %.60q, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// TestSecretsStayHidden checks that no filter shows a secret, neither as its value nor as an
// argument.
func TestSecretsStayHidden(t *testing.T) {
	for _, filter := range templates.FilterNames {
		for _, source := range []string{
			"{{ secrets.other | " + filter + " }}", "{{ secrets.other | " + filter + ": 1 }}",
			"{{ secrets | " + filter + " }}", "{{ 'x' | " + filter + ": secrets.other }}",
			"{{ 'x' | " + filter + ": 'x', secrets.other }}",
		} {
			if got, _ := render(t, source); strings.Contains(got, "unspeakable") {
				t.Errorf("%s shows a secret: %s", source, got)
			}
		}
	}
	for _, source := range []string{"{{ secrets.other }}", "{{ secrets }}", "{% for s in secrets %}{{ s }}{% endfor %}"} {
		if got, _ := render(t, source); strings.Contains(got, "unspeakable") {
			t.Errorf("%s shows a secret: %s", source, got)
		}
	}
}

func TestRenderingIsCancelled(t *testing.T) {
	parsed, err := templates.Parse("{% for i in (1..9) %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := parsed.Render(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

// FuzzTemplate checks that every template ends, stays within the limits and shows no secret.
func FuzzTemplate(f *testing.F) {
	for _, source := range []string{
		"{{ user.name | upcase }}", "{% for i in (1..3) %}{{ i }}{% endfor %}", "{% assign a = 'x' | split: '' %}{{ a[0] }}",
		"{{ 'x' | hmac_sha256: secrets.chat }}", "{%- if user.id > 3 and user.name contains 'A' -%}a{%- endif -%}",
		"{% case 1 %}{% when 1, 2 %}{% endcase %}", "{{ '%Y' | date: '%d' }}", "{{ secrets.other.x }}", "{{ items[0][name] }}",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got, err := render(t, source)
		if known := new(lyceum.Error); err != nil && !errors.As(err, &known) {
			t.Fatalf("%q: %v has no kind", source, err)
		}
		if len(got) > templates.MaxOutput || strings.Contains(got, "unspeakable") && !strings.Contains(source, "unspeakable") {
			t.Fatalf("%q: %.100q", source, got)
		}
	})
}
