package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"gopkg.in/yaml.v3"
)

// yamlText returns the document as YAML, with a first line that names its source.
func yamlText(dir string, document *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Made from contract/%s by make generate. Do not edit.\n", filepath.Base(dir))
	unfold(document)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// unfold puts the entries of a collection on separate lines if it would make a long line. It
// returns the length of the node on one line.
func unfold(n *yaml.Node) int {
	length := len(n.Value)
	for _, inner := range n.Content {
		length += unfold(inner) + len(", ")
	}
	if length > 100 {
		n.Style &^= yaml.FlowStyle
	}
	return length
}

// jsonText returns the document as indented JSON with a final newline and with keys in their
// original order. It rejects YAML that JSON cannot express: anchors, aliases, custom tags and
// duplicate keys.
func jsonText(document *yaml.Node) ([]byte, error) {
	compact, err := appendNode(nil, document.Content[0])
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func appendNode(b []byte, n *yaml.Node) ([]byte, error) {
	if n.Anchor != "" {
		return nil, fmt.Errorf("line %d: JSON has no anchors", n.Line)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return appendMapping(b, n)
	case yaml.SequenceNode:
		return appendSequence(b, n)
	case yaml.ScalarNode:
		return appendScalar(b, n)
	default:
		return nil, fmt.Errorf("line %d: JSON has no aliases", n.Line)
	}
}

func appendMapping(b []byte, n *yaml.Node) ([]byte, error) {
	seen := make(map[string]bool, len(n.Content)/2)
	b = append(b, '{')
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || seen[key.Value] {
			return nil, fmt.Errorf("line %d: a key must be a scalar and stand once", key.Line)
		}
		seen[key.Value] = true
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendValue(b, key.Value); err != nil {
			return nil, err
		}
		if b, err = appendNode(append(b, ':'), value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendSequence(b []byte, n *yaml.Node) ([]byte, error) {
	b = append(b, '[')
	for i, item := range n.Content {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendNode(b, item); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendScalar(b []byte, n *yaml.Node) ([]byte, error) {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp":
		return appendValue(b, n.Value)
	case "!!bool", "!!int", "!!float", "!!null":
		var value any
		if err := n.Decode(&value); err != nil {
			return nil, err
		}
		return appendValue(b, value)
	default:
		return nil, fmt.Errorf("line %d: JSON has no %s", n.Line, tag)
	}
}

// appendValue appends a scalar without HTML escapes.
func appendValue(b []byte, value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...), nil
}
