package contract_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lyceum-school/lyceum/contract"
)

func load(t *testing.T, text []byte) *openapi3.T {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestDocumentsAreValid(t *testing.T) {
	for _, d := range contract.All() {
		t.Run(d.Name, func(t *testing.T) {
			document := load(t, d.YAML)
			// Examples are validated too; the formats are dates and int32.
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

// field is a row of one of contract.md's tables.
type field struct {
	name, kind string
	nullable   bool
}

// contract.md, "Transaction summary".
var transactionSummary = []field{
	{"id", "integer int32", false},
	{"user_id", "integer int32", false},
	{"pricing_plan_id", "integer int32", false},
	{"sale_id", "integer int32", false},
	{"created_at", "string date-time", false},
	{"purchased_at", "string date-time", false},
	{"charge", "integer int32", false},
	{"final_price", "integer int32", false},
	{"currency", "string", false},
	{"tax_charge", "integer int32", false},
	{"revenue", "integer int32", false},
	{"status", "string", true},
	{"has_chargeback", "boolean", true},
	{"chargeback_fee", "integer int32", true},
	{"affiliate_id", "integer int32", true},
	{"affiliate_fees", "integer int32", false},
	{"author_id", "integer int32", true},
	{"author_fees", "integer int32", false},
	{"coupon_id", "integer int32", true},
	{"refunded_at", "string date-time", true},
	{"amount_refunded", "integer int32", false},
}

// contract.md, "Pagination meta, version 1".
var paginationMeta = []field{
	{"total", "integer int32", false},
	{"page", "integer int32", false},
	{"from", "integer int32", false},
	{"to", "integer int32", false},
	{"per_page", "integer int32", false},
	{"number_of_pages", "integer int32", false},
}

// contract.md, "GET /v1/transactions", and the addition of design.md section 4.
var transactionParameters = []field{
	{"user_id", "integer int32", false},
	{"affiliate_id", "integer int32", false},
	{"course_id", "integer int32", false},
	{"pricing_plan_id", "integer int32", false},
	{"is_fully_refunded", "boolean", false},
	{"is_chargeback", "boolean", false},
	{"start", "string date-time", false},
	{"end", "string date-time", false},
	{"page", "integer int32", false},
	{"per", "integer int32", false},
	{"sort_direction", "string", false},
}

func kind(schema *openapi3.Schema) string {
	if schema.Format == "" {
		return schema.Type.Slice()[0]
	}
	return schema.Type.Slice()[0] + " " + schema.Format
}

func TestV1SchemasAreTheContracts(t *testing.T) {
	schemas := load(t, contract.V1().YAML).Components.Schemas
	for name, want := range map[string][]field{
		"TransactionSummary": transactionSummary,
		"PaginationMeta":     paginationMeta,
	} {
		t.Run(name, func(t *testing.T) {
			schema := schemas[name].Value
			if len(schema.Properties) != len(want) || len(schema.Required) != len(want) {
				t.Errorf("%d properties, %d of them required; want %d, all required",
					len(schema.Properties), len(schema.Required), len(want))
			}
			for i, f := range want {
				property := schema.Properties[f.name]
				if property == nil {
					t.Errorf("no %s", f.name)
					continue
				}
				got := field{f.name, kind(property.Value), property.Value.Nullable}
				if got != f {
					t.Errorf("got %v, want %v", got, f)
				}
				if !slices.Contains(schema.Required, f.name) {
					t.Errorf("%s is not required", f.name)
				}
				if order := fmt.Sprint(property.Value.Extensions["x-order"]); order != fmt.Sprint(i+1) {
					t.Errorf("%s has x-order %s, want %d", f.name, order, i+1)
				}
			}
		})
	}
}

func TestV1TransactionParametersAreTheContracts(t *testing.T) {
	operation := load(t, contract.V1().YAML).Paths.Value("/v1/transactions").Get
	if operation.OperationID != "listTransactions" {
		t.Errorf("operation is %s", operation.OperationID)
	}
	var got []field
	for _, ref := range operation.Parameters {
		p := ref.Value
		got = append(got, field{p.Name, kind(p.Schema.Value), p.Schema.Value.Nullable})
		if p.In != openapi3.ParameterInQuery || p.Required {
			t.Errorf("%s is in the %s, required %t; want an optional query parameter", p.Name, p.In, p.Required)
		}
		if p.Example == nil {
			t.Errorf("%s has no example", p.Name)
		}
	}
	if !slices.Equal(got, transactionParameters) {
		t.Errorf("got  %v\nwant %v", got, transactionParameters)
	}
}
