package server_test

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/contract"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// row is what a face's table and the contract must agree on for an operation.
type row struct {
	ID       string
	Security openapi3.SecurityRequirements
}

// TestTablesOfOperationsAreTheContracts checks that the served operations and the credentials
// they require are those of the contract.
func TestTablesOfOperationsAreTheContracts(t *testing.T) {
	documents := map[string]contract.Document{}
	for _, d := range contract.All() {
		documents[d.Name] = d
	}
	faces := newSite(t).options.Faces
	if len(faces) != len(documents) {
		t.Fatalf("%d faces, %d documents", len(faces), len(documents))
	}
	for _, face := range faces {
		t.Run(face.Name(), func(t *testing.T) {
			document, err := openapi3.NewLoader().LoadFromData(documents[face.Name()].JSON)
			if err != nil {
				t.Fatal(err)
			}
			want, got := map[string]row{}, map[string]row{}
			for path, item := range document.Paths.Map() {
				for method, operation := range item.Operations() {
					security := document.Security
					if operation.Security != nil {
						security = *operation.Security
					}
					want[method+" "+path] = row{operation.OperationID, security}
				}
			}
			for _, op := range face.Operations() {
				got[op.Method+" "+op.Path] = row{op.ID, securityOf(op)}
				if !strings.HasPrefix(op.Path, "/"+face.Name()+"/") {
					t.Errorf("%s is outside /%s/", op.Path, face.Name())
				}
				if needs := permissionFor(op); op.Needs != needs {
					t.Errorf("%s needs the permission %q, want %q", op.ID, op.Needs, needs)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("operations differ (-contract +face):\n%s", diff)
			}
		})
	}
}

// securityOf returns the security requirements of an operation as OpenAPI writes them. The
// scopes of an access token are alternatives.
func securityOf(op wire.Operation) openapi3.SecurityRequirements {
	switch op.Credential {
	case wire.Bearer:
		var alternatives openapi3.SecurityRequirements
		for _, together := range access.ScopesFor(op.Version, op.ID) {
			names := []string{}
			for _, scope := range together {
				names = append(names, string(scope))
			}
			alternatives = append(alternatives, openapi3.SecurityRequirement{"oauth2": names})
		}
		return alternatives
	case wire.Open:
		return openapi3.SecurityRequirements{{"client": {}}, {}}
	case wire.APIKey:
	}
	return openapi3.SecurityRequirements{{"apiKey": {}}}
}

// permissionFor returns the permission that a key needs: read to read, and write to change
// something.
func permissionFor(op wire.Operation) lyceum.Permissions {
	switch {
	case op.Credential != wire.APIKey:
		return 0
	case op.Method == "GET":
		return lyceum.Read
	}
	return lyceum.Write
}
