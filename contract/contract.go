// Package contract holds the documents of the public API. Their sources are written first
// and by hand, one file per noun in v1, v2 and lyceum; docs/architecture.md says what such
// a file may omit. The types in internal/gen are generated from the documents, the server
// serves them, and tests check its responses against them.
//
// It owns only the text of the documents: it does not parse them, and it must not know who
// implements them. tools/generate makes the documents, as YAML and as JSON, and the Go
// types.
package contract

import _ "embed" // for the documents

//go:embed v1.yaml
var v1YAML []byte

//go:embed v1.json
var v1JSON []byte

//go:embed v2.yaml
var v2YAML []byte

//go:embed v2.json
var v2JSON []byte

//go:embed lyceum.yaml
var lyceumYAML []byte

//go:embed lyceum.json
var lyceumJSON []byte

// Document is an OpenAPI document in both of its forms, which have the same content with
// the keys in the same order. The bytes must not be modified.
type Document struct {
	Name string // name in URLs, such as v1
	YAML []byte
	JSON []byte
}

// V1 returns the document of v1.
func V1() Document { return Document{Name: "v1", YAML: v1YAML, JSON: v1JSON} }

// V2 returns the document of v2.
func V2() Document { return Document{Name: "v2", YAML: v2YAML, JSON: v2JSON} }

// Lyceum returns the document of the Lyceum API.
func Lyceum() Document { return Document{Name: "lyceum", YAML: lyceumYAML, JSON: lyceumJSON} }

// All returns all documents, the oldest API first.
func All() []Document { return []Document{V1(), V2(), Lyceum()} }
