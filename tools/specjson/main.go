// Command specjson writes the JSON twin of a YAML document, with its keys in
// the order in which they stand.
//
//	specjson FROM.yaml TO.json
//
// It takes the YAML that JSON can say and refuses the rest: anchors, aliases,
// tags of one's own, several documents in a file, keys that stand twice.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "specjson:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: specjson FROM.yaml TO.json")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	twin, err := convert(text)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return os.WriteFile(args[1], twin, 0o644)
}

// convert gives the YAML document as indented JSON that ends in a newline.
func convert(text []byte) ([]byte, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("must hold one document")
	}
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
		if b, err = appendJSON(b, key.Value); err != nil {
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
		return appendJSON(b, n.Value)
	case "!!bool", "!!int", "!!float", "!!null":
		var value any
		if err := n.Decode(&value); err != nil {
			return nil, err
		}
		return appendJSON(b, value)
	default:
		return nil, fmt.Errorf("line %d: JSON has no %s", n.Line, tag)
	}
}

// appendJSON appends a scalar without the escapes that only HTML needs.
func appendJSON(b []byte, value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...), nil
}
