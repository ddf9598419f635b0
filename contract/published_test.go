package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lyceum-school/lyceum/contract"
)

// published is the content of testdata/v2_published.json.
type published struct {
	Schemas    map[string]*publishedSchema `json:"schemas"`
	Operations []publishedOperation        `json:"operations"`
}

type publishedOperation struct {
	Method      string               `json:"method"`
	Path        string               `json:"path"`
	Parameters  []publishedParameter `json:"parameters"`
	RequestBody *struct {
		Schema *publishedSchema `json:"schema"`
	} `json:"requestBody"`
	Status   int              `json:"status"`
	Response *publishedSchema `json:"response"`
}

type publishedParameter struct {
	Name          string          `json:"name"`
	In            string          `json:"in"`
	Required      bool            `json:"required"`
	Schema        publishedSchema `json:"schema"`
	AllowedByText []string        `json:"allowed_by_text"`
}

type publishedSchema struct {
	Ref                  string                      `json:"$ref"`
	Type                 string                      `json:"type"`
	Pattern              string                      `json:"pattern"`
	Nullable             bool                        `json:"nullable"`
	Enum                 []string                    `json:"enum"`
	Minimum              *float64                    `json:"minimum"`
	Maximum              *float64                    `json:"maximum"`
	MinLength            *uint64                     `json:"minLength"`
	MaxLength            *uint64                     `json:"maxLength"`
	MinItems             uint64                      `json:"minItems"`
	Items                *publishedSchema            `json:"items"`
	Properties           map[string]*publishedSchema `json:"properties"`
	Required             []string                    `json:"required"`
	AdditionalProperties any                         `json:"additionalProperties"`
	OneOf                []*publishedSchema          `json:"oneOf"`
}

// differences are the places in which contract/v2 differs from the published version, each
// with its reason in docs/divergences.md.
var differences = []string{
	// The name of a product is no reason to reject it.
	"POST /v2/products/product-collections/{product_collection_id}/products body.data[].created_at: required is false",
	"POST /v2/products/product-collections/{product_collection_id}/products body.data[].href: required is false",
	"POST /v2/products/product-collections/{product_collection_id}/products body.data[].name: required is false",
	"POST /v2/products/product-collections/{product_collection_id}/products body.data[].updated_at: required is false",
	// Without null they could not be removed.
	"PATCH /v2/products/courses/{course_id}/compliance body.requirements.quiz_maximum_retakes: nullable is true",
	"PATCH /v2/products/courses/{course_id}/compliance body.requirements.quiz_minimum_score: nullable is true",
	// There is no checkout page for plans.
	"GET /v2/products/{product_type}/{product_id}/pricing-plans answer.data[].checkout_url is missing",
	"POST /v2/products/{product_type}/{product_id}/pricing-plans answer.data.checkout_url is missing",
	"GET /v2/products/{product_type}/{product_id}/pricing-plans/{plan_id} answer.data.checkout_url is missing",
	"PATCH /v2/products/{product_type}/{product_id}/pricing-plans/{plan_id} answer.data.checkout_url is missing",
	"DELETE /v2/products/{product_type}/{product_id}/pricing-plans/{plan_id} answer.data.checkout_url is missing",
}

// TestVersion2IsAsPublished compares every operation of contract/v2 for a school's
// programs with the published one at the same path: parameters, bodies, responses and
// statuses.
func TestVersion2IsAsPublished(t *testing.T) {
	c := comparison{found: map[string]bool{}}
	text, err := os.ReadFile("testdata/v2_published.json")
	if err == nil {
		err = json.Unmarshal(text, &c.published)
	}
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]*publishedOperation{}
	for i := range c.published.Operations {
		op := &c.published.Operations[i]
		theirs[op.Method+" "+variables(op.Path)] = op
	}
	served := 0
	for address, item := range load(t, document(t, "v2")).Paths.Map() {
		if strings.HasPrefix(address, "/v2/current_user") {
			continue
		}
		for method, ours := range item.Operations() {
			their, there := theirs[method+" "+variables(address)]
			if !there {
				c.differ("%s %s is not published", method, address)
				continue
			}
			c.operation(ours, their)
			served++
		}
	}
	for _, known := range differences {
		if !c.found[known] {
			t.Errorf("no longer different: %s", known)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(c.found)) {
		if !slices.Contains(differences, d) {
			t.Error(d)
		}
	}
	if served != len(theirs) {
		t.Errorf("%d of %d published operations are served", served, len(theirs))
	}
	t.Logf("%d of %d published operations", served, len(theirs))
}

func document(t *testing.T, name string) []byte {
	t.Helper()
	for _, d := range contract.All() {
		if d.Name == name {
			return d.YAML
		}
	}
	t.Fatalf("there is no document %s", name)
	return nil
}

// variables removes the names of a path's variables.
func variables(address string) string {
	parts := strings.Split(address, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = "{}"
		}
	}
	return strings.Join(parts, "/")
}

type comparison struct {
	published published
	found     map[string]bool
}

func (c *comparison) differ(format string, args ...any) { c.found[fmt.Sprintf(format, args...)] = true }

func (c *comparison) operation(ours *openapi3.Operation, theirs *publishedOperation) {
	place := theirs.Method + " " + theirs.Path
	named := map[string]bool{}
	for _, param := range theirs.Parameters {
		at, our := place+" "+param.Name, ours.Parameters.GetByInAndName(param.In, param.Name)
		named[param.Name] = true
		if our == nil {
			if param.In == "query" { // those in the path have our names
				c.differ("%s is missing", at)
			}
			continue
		}
		if our.Required != param.Required {
			c.differ("%s: required is %v", at, our.Required)
		}
		if !slices.Equal(param.AllowedByText, []string{"true", "false", "1", "0"}) { // which is a boolean
			param.Schema.Enum = append(param.Schema.Enum, param.AllowedByText...)
		}
		c.values(at, our.Schema.Value, &param.Schema)
	}
	for _, our := range ours.Parameters {
		if our.Value.In == "query" && !named[our.Value.Name] {
			c.differ("%s has %s", place, our.Value.Name)
		}
	}
	switch {
	case (theirs.RequestBody == nil) != (ours.RequestBody == nil):
		c.differ("%s: one takes a body, the other takes none", place)
	case theirs.RequestBody != nil:
		c.schema(place+" body", bodyOf(ours.RequestBody.Value.Content), theirs.RequestBody.Schema, true)
	}
	answer := ours.Responses.Value(strconv.Itoa(theirs.Status))
	switch {
	case answer == nil:
		c.differ("%s is not answered with %d", place, theirs.Status)
	case (theirs.Response == nil) != (answer.Value.Content == nil):
		c.differ("%s: one answer has a body, the other has none", place)
	case theirs.Response != nil:
		c.schema(place+" answer", bodyOf(answer.Value.Content), theirs.Response, false)
	}
}

func bodyOf(content openapi3.Content) *openapi3.Schema {
	return content.Get("application/json").Schema.Value
}

// schema compares the schema of a body or a response. A response may always have a
// property that is optional as published, and may never be null where null is allowed.
func (c *comparison) schema(at string, ours *openapi3.Schema, theirs *publishedSchema, sent bool) {
	if theirs.Ref != "" {
		theirs = c.published.Schemas[path.Base(theirs.Ref)]
	}
	if len(ours.AllOf) == 1 { // a reference with its own description
		nullable := ours.Nullable
		copied := *ours.AllOf[0].Value
		ours = &copied
		ours.Nullable = ours.Nullable || nullable
	}
	if len(theirs.OneOf) > 0 || len(ours.OneOf) > 0 {
		c.alternatives(at, ours, theirs, sent)
		return
	}
	c.values(at, ours, theirs)
	if ours.Nullable != theirs.Nullable && (sent || ours.Nullable) {
		c.differ("%s: nullable is %v", at, ours.Nullable)
	}
	if theirs.Items != nil {
		if ours.Items == nil {
			c.differ("%s has no items", at)
			return
		}
		c.schema(at+"[]", ours.Items.Value, theirs.Items, sent)
	}
	for name, their := range theirs.Properties {
		our, there := ours.Properties[name]
		if !there {
			c.differ("%s.%s is missing", at, name)
			continue
		}
		required := slices.Contains(ours.Required, name)
		if wanted := slices.Contains(theirs.Required, name); required != wanted && (sent || wanted) {
			c.differ("%s.%s: required is %v", at, name, required)
		}
		c.schema(at+"."+name, our.Value, their, sent)
	}
	if theirs.AdditionalProperties != false {
		return
	}
	for name := range ours.Properties {
		if theirs.Properties[name] == nil {
			c.differ("%s has %s", at, name)
		}
	}
}

// alternatives compares each alternative of a schema, identified by its type. Ours define
// the properties once, and only the values that an alternative allows in it.
func (c *comparison) alternatives(at string, ours *openapi3.Schema, theirs *publishedSchema, sent bool) {
	forms := map[string]*openapi3.Schema{}
	for _, ref := range ours.OneOf {
		form := *ours
		form.OneOf, form.Properties = nil, maps.Clone(ours.Properties)
		for name, narrowed := range ref.Value.Properties {
			field := *ours.Properties[name].Value
			field.Enum = narrowed.Value.Enum
			form.Properties[name] = &openapi3.SchemaRef{Value: &field}
		}
		forms[strings.Join(values(form.Properties["type"].Value), "|")] = &form
	}
	for _, form := range theirs.OneOf {
		kind := strings.Join(form.Properties["type"].Enum, "|")
		if forms[kind] == nil {
			c.differ("%s has no form %s", at, kind)
			continue
		}
		c.schema(at+" "+kind, forms[kind], form, sent)
		delete(forms, kind)
	}
	for kind := range forms {
		c.differ("%s has a form %s", at, kind)
	}
}

// values compares the schema of a single value: a response may have fewer values than
// published.
func (c *comparison) values(at string, ours *openapi3.Schema, theirs *publishedSchema) {
	if is, want := typeOf(ours), theirs.Type; want != "" && is != want {
		narrower := want == "number" && is == "integer" || want == "string" && (is == "integer" || is == "boolean")
		if !narrower || strings.Contains(at, "answer") && want == "string" {
			c.differ("%s is a %s, not a %s", at, is, want)
		}
	}
	if want := slices.Sorted(slices.Values(theirs.Enum)); len(want) > 0 {
		if is := slices.Sorted(slices.Values(values(ours))); !slices.Equal(is, want) {
			c.differ("%s may be %v, not %v", at, is, want)
		}
	}
	for name, bound := range map[string][2]*float64{
		"minimum": {ours.Min, theirs.Minimum}, "maximum": {ours.Max, theirs.Maximum},
		"maxLength": {number(ours.MaxLength), number(theirs.MaxLength)},
	} {
		if is, want := bound[0], bound[1]; want != nil && (is == nil || *is != *want) {
			c.differ("%s: %s is not %v", at, name, *want)
		}
	}
	if theirs.MinLength != nil && ours.MinLength != *theirs.MinLength {
		c.differ("%s: minLength is not %d", at, *theirs.MinLength)
	}
	if theirs.MinItems != 0 && ours.MinItems != theirs.MinItems {
		c.differ("%s: minItems is not %d", at, theirs.MinItems)
	}
	if theirs.Pattern != "" && ours.Pattern != theirs.Pattern {
		c.differ("%s: pattern is not %s", at, theirs.Pattern)
	}
}

func typeOf(s *openapi3.Schema) string {
	if s.Type == nil || len(*s.Type) == 0 {
		return ""
	}
	return (*s.Type)[0]
}

func number(n *uint64) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}
