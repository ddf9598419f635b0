package server_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// ids are those of a classroom, and 1 if it has none. Webhook 4 is the first one that is
// created there.
const ids = "section_id=1 attachment_id=101 course_id=1 lecture_id=11 video_id=103 quiz_id=107 user_id=2 pricing_plan_id=1 webhook_id=4 sale_id=1 transaction_id=1 order_id=1 dispute_id=1 affiliate_id=1 author_id=1 coupon_id=1 delivery_id=1 comment_id=1 digital_download_id=1 product_collection_id=1 membership_id=1 membership_tier_id=1 coaching_id=1 product_type=course product_id=1 bulk_job_id=1 attention_id=1"

// TestParametersAreTheContracts checks that a value which the contract does not allow for a
// parameter is rejected with a message that names the parameter, and that omitting the
// parameter is the same as sending its default.
func TestParametersAreTheContracts(t *testing.T) {
	k := newClass(t, newCampus(t))
	k.eachOperation(func(face wire.Face, op wire.Operation, written *openapi3.Operation) {
		for _, ref := range written.Parameters {
			if ref.Value.In != "query" {
				continue
			}
			name := ref.Value.Name
			a := requestCase{face: face.Name(), op: op.ID, values: ids, body: ownBodies[op.ID]}
			for _, value := range outside(ref.Value.Schema.Value) {
				if op.ID == "listUsers" && name == "role" {
					continue // an unknown role matches nobody
				}
				a.query = url.Values{name: {fmt.Sprint(value)}}.Encode()
				k.wantRejected(t, a, name)
			}
			a.query = name + "=1&" + name + "=1"
			k.wantRejected(t, a, name)
			if normal := ref.Value.Schema.Value.Default; normal != nil && name != "per" { // per is limited to 100
				a.query = "user_id=2"
				_, without := k.send(t, k.ours, a)
				a.query += "&" + url.Values{name: {fmt.Sprint(normal)}}.Encode()
				if _, with := k.send(t, k.ours, a); with.Code != without.Code || with.Body.String() != without.Body.String() {
					t.Errorf("%s: without %s %d %s, with %v %d %s", op.ID, name, without.Code, without.Body, normal, with.Code, with.Body)
				}
			}
		}
	})
}

// TestBodiesAreTheContracts checks that a body is rejected if a member is missing, has the
// wrong type, is out of bounds, or is not in the contract where the contract allows no others.
// The message names the member.
func TestBodiesAreTheContracts(t *testing.T) {
	k := newClass(t, newCampus(t))
	k.send(t, k.ours, requestCase{face: "lyceum", op: "createWebhook", body: ownBodies["createWebhook"]})
	k.eachOperation(func(face wire.Face, op wire.Operation, written *openapi3.Operation) {
		if written.RequestBody == nil || op.Credential == wire.Open {
			return
		}
		schema := written.RequestBody.Value.Content.Get("application/json").Schema.Value
		with := func(name string, value any) requestCase {
			good := map[string]any{}
			if err := json.Unmarshal([]byte(cmp.Or(ownBodies[op.ID], `{"user_id":2,"course_id":1,"email":"a@example.com"}`)), &good); err != nil {
				t.Fatal(err)
			}
			if good[name] = value; value == nil {
				delete(good, name)
			}
			body, err := json.Marshal(good)
			if err != nil {
				t.Fatal(err)
			}
			return requestCase{face: face.Name(), op: op.ID, values: ids, body: string(body)}
		}
		for name, ref := range schema.Properties {
			for _, value := range outside(ref.Value) {
				k.wantRejected(t, with(name, value), name)
			}
			switch {
			case ref.Value.Type.Is(openapi3.TypeString):
				k.wantRejected(t, with(name, 5), name)
			case ref.Value.Type.Is(openapi3.TypeArray) && !ref.Value.Items.Value.Type.Is(openapi3.TypeInteger):
				k.wantRejected(t, with(name, []int{5}), name)
			}
		}
		for _, name := range schema.Required {
			k.wantRejected(t, with(name, nil), name)
		}
		if closed := schema.AdditionalProperties.Has; closed != nil && !*closed {
			k.wantRejected(t, with("unheard_of", 1), "unheard_of")
		}
	})
}

// eachOperation visits each served operation, together with its part of the contract.
func (k *class) eachOperation(visit func(face wire.Face, op wire.Operation, written *openapi3.Operation)) {
	for _, face := range k.options.Faces {
		for _, op := range face.Operations() {
			visit(face, op, contracts[face.Name()].Paths.Value(op.Path).GetOperation(op.Method))
		}
	}
}

func (k *class) wantRejected(t *testing.T, a requestCase, name string) {
	t.Helper()
	if _, w := k.send(t, k.ours, a); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), name) {
		t.Errorf("%s ?%s %s: %d %s", a.op, a.query, a.body, w.Code, w.Body)
	}
}

// outside returns values that a schema does not allow.
func outside(s *openapi3.Schema) (values []any) {
	if len(s.Enum) > 0 {
		return []any{"none of them"}
	}
	switch {
	case s.Type.Is(openapi3.TypeInteger):
		values = []any{"x", "1.5", 1 << 31}
		if s.Format == "int64" {
			values = []any{"x", "1.5", "9223372036854775808"}
		}
		if s.Min != nil {
			values = append(values, int64(*s.Min)-1)
		}
		if s.Max != nil {
			values = append(values, int64(*s.Max)+1)
		}
	case s.Type.Is(openapi3.TypeBoolean):
		values = []any{"maybe"}
	case s.Type.Is(openapi3.TypeArray):
		values = []any{"no list"}
		for _, item := range outside(s.Items.Value) {
			values = append(values, []any{item})
		}
	case s.Type.Is(openapi3.TypeString):
		if s.Format == "date-time" {
			values = []any{"never"}
		}
		if s.MinLength > 0 {
			values = append(values, "")
		}
		if s.Pattern != "" {
			values = append(values, "!")
		}
		if s.MaxLength != nil {
			values = append(values, strings.Repeat("x", int(*s.MaxLength)+1))
		}
	}
	return values
}
