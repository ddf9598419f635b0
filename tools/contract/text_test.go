package main

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func convert(source string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(source), &document); err != nil {
		return nil, err
	}
	return jsonText(&document)
}

func TestJSONText(t *testing.T) {
	for _, tc := range []struct{ name, yaml, json string }{
		{"keys keep their order", "b: 1\na: 2\n", "{\n  \"b\": 1,\n  \"a\": 2\n}\n"},
		{
			"scalars", "[1, -2.5, true, null, text, 'true', '200']",
			"[\n  1,\n  -2.5,\n  true,\n  null,\n  \"text\",\n  \"true\",\n  \"200\"\n]\n",
		},
		{"a key that is a number", "200: ok", "{\n  \"200\": \"ok\"\n}\n"},
		{"a time is text", "2024-01-31T15:04:05Z", "\"2024-01-31T15:04:05Z\"\n"},
		{"no escapes for HTML", "<a> & b", "\"<a> & b\"\n"},
		{"lines", "|\n  one\n  two\n", "\"one\\ntwo\\n\"\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := convert(tc.yaml)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.json {
				t.Errorf("got %s, want %s", got, tc.json)
			}
		})
	}
}

func TestJSONTextRejectsWhatJSONCannotSay(t *testing.T) {
	for _, tc := range []struct{ name, yaml, mention string }{
		{"an anchor", "a: &x 1", "line 1: JSON has no anchors"},
		{"an alias", "a: &x 1\nb: *x", "JSON has no"},
		{"a tag of one's own", "a: !mine 1", "line 1: JSON has no !mine"},
		{"a key twice", "a: 1\na: 2", "line 2: a key must be a scalar and stand once"},
		{"a key that is no scalar", "[a]: 1", "line 1: a key must be a scalar and stand once"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := convert(tc.yaml)
			if err == nil || !strings.Contains(err.Error(), tc.mention) {
				t.Errorf("error is %v, want one that says %q", err, tc.mention)
			}
		})
	}
}
