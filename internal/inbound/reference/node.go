package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// node is a JSON value that preserves the order of an object's keys. A nil node is an
// absent value, which every method accepts.
type node struct {
	keys   []string
	fields map[string]*node // of an object
	items  []*node          // of an array
	scalar any              // a string, json.Number, bool or nil
	name   string           // of the target of a reference: its last key
}

// parse parses a document and resolves its references.
func parse(text []byte) (*node, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	root, err := readNode(decoder)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("must contain one JSON value")
	}
	return root.link(root)
}

func readNode(decoder *json.Decoder) (*node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return readObject(decoder)
	case json.Delim('['):
		return readArray(decoder)
	default:
		return &node{scalar: token}, nil
	}
}

func readObject(decoder *json.Decoder) (*node, error) {
	n := &node{fields: make(map[string]*node)}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string) // the decoder accepts no other keys
		value, err := readNode(decoder)
		if err != nil {
			return nil, err
		}
		n.keys = append(n.keys, key)
		n.fields[key] = value
	}
	_, err := decoder.Token()
	return n, err
}

func readArray(decoder *json.Decoder) (*node, error) {
	n := &node{items: []*node{}}
	for decoder.More() {
		item, err := readNode(decoder)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
	}
	_, err := decoder.Token()
	return n, err
}

// link replaces every reference in n by its target in root. If n itself is a reference, it
// returns the target.
func (n *node) link(root *node) (*node, error) {
	target, err := n.target(root)
	if err != nil || target != n {
		return target, err // the target is linked in its own place
	}
	for _, key := range n.keys {
		if n.fields[key], err = n.fields[key].link(root); err != nil {
			return nil, err
		}
	}
	for i, item := range n.items {
		if n.items[i], err = item.link(root); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// target returns what n refers to, or n itself if it is not a reference.
func (n *node) target(root *node) (*node, error) {
	ref := n.get("$ref").text()
	if ref == "" {
		return n, nil
	}
	path, local := strings.CutPrefix(ref, "#/")
	if !local {
		return nil, fmt.Errorf("reference %s leads out of the document", ref)
	}
	keys := strings.Split(path, "/")
	target := root.get(keys...)
	if target == nil || target.get("$ref") != nil {
		return nil, fmt.Errorf("reference %s does not lead to a value", ref)
	}
	target.name = keys[len(keys)-1]
	return target, nil
}

// get returns the value at a path of keys, or nil.
func (n *node) get(keys ...string) *node {
	for _, key := range keys {
		if n == nil {
			return nil
		}
		n = n.fields[key]
	}
	return n
}

// each calls visit with the fields of an object, in order.
func (n *node) each(visit func(key string, value *node)) {
	if n == nil {
		return
	}
	for _, key := range n.keys {
		visit(key, n.fields[key])
	}
}

// list returns the items of an array.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// text returns a scalar as text, without quotation marks; an absent one is the empty
// string.
func (n *node) text() string {
	if n == nil || n.fields != nil || n.items != nil {
		return ""
	}
	if n.scalar == nil {
		return "null"
	}
	return fmt.Sprint(n.scalar)
}

// isTrue reports whether n is the value true.
func (n *node) isTrue() bool { return n != nil && n.scalar == true }

// texts returns the scalars of an array as text.
func (n *node) texts() []string {
	var all []string
	for _, item := range n.list() {
		all = append(all, item.text())
	}
	return all
}
