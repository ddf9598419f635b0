package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/speakeasy-api/openapi/overlay"
	"gopkg.in/yaml.v3"
)

const (
	rootFile    = "openapi.yaml" // what belongs to no noun
	overlayFile = "overlay.yaml" // what all operations of a kind share
)

// bundle joins the files of a directory, expands their shorthand, applies the overlay and sorts
// the result.
func bundle(dir string) (*yaml.Node, error) {
	document, err := read(filepath.Join(dir, rootFile))
	if err != nil {
		return nil, err
	}
	root := document.Content[0]
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if name := filepath.Base(file); name == rootFile || name == overlayFile {
			continue
		}
		part, err := read(file)
		if err != nil {
			return nil, err
		}
		if err := join(root, part.Content[0], 3); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if err := spread(root); err != nil {
		return nil, err
	}
	if err := apply(filepath.Join(dir, overlayFile), document); err != nil {
		return nil, err
	}
	tidy(root)
	return document, nil
}

// read reads a file with a single YAML document, which must be a mapping, and drops its
// comments.
func read(file string) (*yaml.Node, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	document := new(yaml.Node)
	if err := decoder.Decode(document); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if document.Content[0].Kind != yaml.MappingNode || !errors.Is(decoder.Decode(new(yaml.Node)), io.EOF) {
		return nil, fmt.Errorf("%s: must hold one mapping", file)
	}
	uncomment(document)
	return document, nil
}

func uncomment(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, inner := range n.Content {
		uncomment(inner)
	}
}

// join adds the entries of one mapping to another, recursively down to a depth: the methods of
// a path and the components of a kind may come from several files, but each of them from only
// one.
func join(into, from *yaml.Node, depth int) error {
	for key, value := range pairs(from) {
		switch present := get(into, key); {
		case present == nil:
			add(into, key, value)
		case depth > 1 && present.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			if err := join(present, value, depth-1); err != nil {
				return err
			}
		case present.Kind == yaml.SequenceNode && value.Kind == yaml.SequenceNode:
			present.Content = append(present.Content, value.Content...)
		default:
			return fmt.Errorf("line %d: another file has %s already", value.Line, key)
		}
	}
	return nil
}

// apply applies an overlay. Each of its actions must have a target.
func apply(file string, document *yaml.Node) error {
	actions, err := overlay.Parse(file)
	if err != nil {
		return err
	}
	if err := actions.Validate(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if _, err := actions.ApplyToStrict(document); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// tidy sorts what came from several places.
func tidy(root *yaml.Node) {
	if tags := get(root, "tags"); tags != nil {
		slices.SortFunc(tags.Content, func(a, b *yaml.Node) int {
			return cmp.Compare(get(a, "name").Value, get(b, "name").Value)
		})
	}
	arrange(root, listed("openapi", "info", "servers", "security", "tags", "paths", "components"))
	answers := slices.Collect(maps.Values(maps.Collect(pairs(get(root, "components", "responses")))))
	for op := range operations(root) {
		arrange(op, listed("operationId", "tags", "summary", "description", "security", "parameters"))
		for _, parameter := range elements(get(op, "parameters")) {
			arrange(parameter, listed("name", "in", "required", "description", "schema", "example"))
		}
		responses := get(op, "responses")
		arrange(responses, strings.Compare)
		for _, answer := range pairs(responses) {
			answers = append(answers, answer)
		}
	}
	for _, answer := range answers {
		arrange(answer, listed("description", "headers", "content"))
	}
}
