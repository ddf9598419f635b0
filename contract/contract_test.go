package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lyceum-school/lyceum/contract"
)

// loaded caches documents by the address of their text, because loading takes seconds.
var loaded = map[*byte]*openapi3.T{}

func load(t *testing.T, text []byte) *openapi3.T {
	t.Helper()
	if loaded[&text[0]] == nil {
		document, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			t.Fatal(err)
		}
		loaded[&text[0]] = document
	}
	return loaded[&text[0]]
}

func TestDocumentsAreValid(t *testing.T) {
	for _, d := range contract.All() {
		t.Run(d.Name, func(t *testing.T) {
			document := load(t, d.YAML)
			// This validates examples, too; the formats are dates and int32.
			if err := document.Validate(t.Context(), openapi3.EnableSchemaFormatValidation()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestTwinsSayTheSame(t *testing.T) {
	for _, d := range contract.All() {
		t.Run(d.Name, func(t *testing.T) {
			fromYAML, err := json.Marshal(load(t, d.YAML))
			if err != nil {
				t.Fatal(err)
			}
			fromJSON, err := json.Marshal(load(t, d.JSON))
			if err != nil {
				t.Fatal(err)
			}
			if string(fromYAML) != string(fromJSON) {
				t.Errorf("%[1]s.json is not %[1]s.yaml; run tools/generate", d.Name)
			}
		})
	}
}
