package server_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/inbound/wire/wiretest"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

// operationsTable is the path of the table of operations.
const operationsTable = "../../../docs/operations-table.md"

// elsewhere are the tests of operations that have few rows or none in requestCases.
var elsewhere = map[string]string{
	"ListTransactions": "internal/inbound/apiv1", "createToken": "TestC1 to TestC20", "revokeToken": "TestG1 to TestG4", "introspectToken": "TestH1, TestH2",
}

// TestOperationsTable compares docs/operations-table.md with the faces' tables and the rows of
// requestCases; scripts/operations-table updates it.
func TestOperationsTable(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Operations

This page is for integrators and contributors. It lists every operation with the credential and scope it needs.

The column "rows" is the number of requests with a defined response that test the operation, on each of the two engines; "golden" names the responses that are stored whole in ` + "`internal/inbound/server/testdata`" + `. In addition, the tests for isolation, hostile requests and an unavailable database call every operation. ` + "`scripts/operations-table`" + ` generates this page from the tables that requests are routed by.

| method | path | operation | credential | scope | rows | golden |
|---|---|---|---|---|---|---|
`)
	for _, face := range newSite(t).options.Faces {
		for _, op := range face.Operations() {
			rows, golden := 0, []string{}
			for _, a := range requestCases {
				if a.face != face.Name() || a.op != op.ID {
					continue
				}
				rows++
				if name := strings.TrimPrefix(a.golden, face.Name()+"/"); a.golden != "" && !slices.Contains(golden, name) {
					golden = append(golden, name)
				}
			}
			count := fmt.Sprint(rows)
			if other := elsewhere[op.ID]; other != "" {
				count += ", and " + other
			}
			if rows == 0 && elsewhere[op.ID] == "" {
				t.Errorf("no row asks for %s of %s", op.ID, face.Name())
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s | %s |\n", op.Method, op.Path, op.ID, credentialOf(op), access.ScopesFor(op.Version, op.ID), count, strings.Join(golden, ", "))
		}
	}
	if wiretest.Update() {
		if err := os.WriteFile(operationsTable, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(operationsTable)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), b.String()); diff != "" {
		t.Errorf("docs/operations-table.md is not what is served; run scripts/operations-table (-kept +served):\n%s", diff)
	}
}

// TestScopesInDocuments compares the table of scopes in docs/oauth.md with the faces' tables.
func TestScopesInDocuments(t *testing.T) {
	const document, begin, end = "../../../docs/oauth.md", "by scripts/operations-table -->\n", "<!-- /operations -->"
	table := "| scope | operation |\n|---|---|\n"
	for n, version := range []lyceum.InterfaceVersion{lyceum.V1, lyceum.V2} {
		for _, scope := range access.ListScopes(version) {
			for _, op := range newSite(t).options.Faces[n].Operations() {
				need := access.ScopesFor(op.Version, op.ID)
				if op.Credential != wire.Bearer || need.All()[0] != scope {
					continue
				}
				words := strings.NewReplacer(" and ", "` and `", " or ", "` or `").Replace(need.String())
				table += fmt.Sprintf("| `%s` | `%s %s` |\n", words, op.Method, op.Path)
			}
		}
	}
	kept, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(kept), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("docs/oauth.md has no place for the table of scopes")
	}
	want := before + begin + table + end + after
	if wiretest.Update() {
		if err := os.WriteFile(document, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(kept), want); diff != "" {
		t.Errorf("docs/oauth.md is not what is served; run scripts/operations-table (-kept +served):\n%s", diff)
	}
}

func credentialOf(op wire.Operation) string {
	switch op.Credential {
	case wire.Bearer:
		return "access token"
	case wire.Open:
		return "the app's own"
	case wire.APIKey:
	}
	if op.Needs == lyceum.Write {
		return "API key, write"
	}
	return "API key, read"
}
