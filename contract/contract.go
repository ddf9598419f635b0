// Package contract holds the documents of the public interface. Their sources
// are written first and by hand, one file for each noun in v1, v2 and lyceum;
// docs/architecture.md says what such a file may leave out. The types in
// internal/gen come from the documents, the server serves them, and tests hold
// its answers to them.
//
// It owns the documents' text and nothing else: it does not read them, and it
// must not know who serves what they promise. The documents, in YAML and in
// JSON, and the Go types are made by tools/generate.
package contract

import _ "embed" // the documents are part of the program

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

// Document is an OpenAPI document in both of its forms, which say the same
// with their keys in the same order. The bytes are the program's own; nobody
// changes them.
type Document struct {
	Name string // names the document in addresses, such as v1
	YAML []byte
	JSON []byte
}

// V1 gives the document of the v1 interface.
func V1() Document { return Document{Name: "v1", YAML: v1YAML, JSON: v1JSON} }

// V2 gives the document of the v2 interface.
func V2() Document { return Document{Name: "v2", YAML: v2YAML, JSON: v2JSON} }

// Lyceum gives the document of what the two versions lack.
func Lyceum() Document { return Document{Name: "lyceum", YAML: lyceumYAML, JSON: lyceumJSON} }

// All gives every document there is, the oldest interface first.
func All() []Document { return []Document{V1(), V2(), Lyceum()} }
