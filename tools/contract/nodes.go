package main

import (
	"iter"
	"slices"

	"gopkg.in/yaml.v3"
)

// pairs returns the keys and values of a mapping; a nil node has none.
func pairs(n *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

// get returns the value at a path of keys, or nil.
func get(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		var found *yaml.Node
		for k, value := range pairs(n) {
			if k == key {
				found = value
			}
		}
		if n = found; n == nil {
			return nil
		}
	}
	return n
}

// add appends a key, which must not exist yet.
func add(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, text(key), value)
}

// take removes a key and returns its value, or nil.
func take(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			value := n.Content[i+1]
			n.Content = slices.Delete(n.Content, i, i+2)
			return value
		}
	}
	return nil
}

func text(value string) *yaml.Node {
	n := new(yaml.Node)
	n.SetString(value)
	return n
}

func mapping(key string, value *yaml.Node) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	add(n, key, value)
	return n
}

// clone returns a deep copy of a node.
func clone(n *yaml.Node) *yaml.Node {
	twin := *n
	twin.Content = nil
	for _, inner := range n.Content {
		twin.Content = append(twin.Content, clone(inner))
	}
	return &twin
}

// arrange sorts the keys of a mapping stably with compare.
func arrange(n *yaml.Node, compare func(a, b string) int) {
	var entries [][2]*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		entries = append(entries, [2]*yaml.Node{n.Content[i], n.Content[i+1]})
	}
	slices.SortStableFunc(entries, func(a, b [2]*yaml.Node) int { return compare(a[0].Value, b[0].Value) })
	n.Content = n.Content[:0]
	for _, e := range entries {
		n.Content = append(n.Content, e[0], e[1])
	}
}

// listed returns a comparison of keys by their position in a list; all other keys come last.
func listed(keys ...string) func(a, b string) int {
	place := func(key string) int {
		if i := slices.Index(keys, key); i >= 0 {
			return i
		}
		return len(keys)
	}
	return func(a, b string) int { return place(a) - place(b) }
}
