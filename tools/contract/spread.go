package main

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// spread expands the shorthand of the sources:
//
//   - A parameter with a name but no `in` is completed from the parameter of that name in
//     components.parameters. Its own keys take precedence.
//   - Path parameters need not be listed at all.
//   - The schema and example of a response or a body are moved to application/json. Such a
//     body is required unless it says otherwise.
//   - Properties are numbered in the order in which they are written (x-order).
func spread(root *yaml.Node) error {
	components := get(root, "components")
	known := take(components, "parameters")
	for op, path := range operations(root) {
		if err := spreadParameters(op, path, known); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if body := get(op, "requestBody"); get(body, "schema") != nil {
			inJSON(body)
			if get(body, "required") == nil {
				body.Content = slices.Insert(body.Content, 0, text("required"), &yaml.Node{
					Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true",
				})
			}
		}
		for _, answer := range pairs(get(op, "responses")) {
			inJSON(answer)
		}
	}
	for _, answer := range pairs(get(components, "responses")) {
		inJSON(answer)
	}
	for _, schema := range pairs(get(components, "schemas")) {
		number(schema)
	}
	return nil
}

// operations returns the operations of a document, each with its path.
func operations(root *yaml.Node) iter.Seq2[*yaml.Node, string] {
	return func(yield func(*yaml.Node, string) bool) {
		for path, item := range pairs(get(root, "paths")) {
			for _, op := range pairs(item) {
				if !yield(op, path) {
					return
				}
			}
		}
	}
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

func spreadParameters(op *yaml.Node, path string, known *yaml.Node) error {
	list := get(op, "parameters")
	var inPath []*yaml.Node
	for _, match := range placeholder.FindAllStringSubmatch(path, -1) {
		named := func(p *yaml.Node) bool {
			in := get(p, "in")
			return get(p, "name").Value == match[1] && (in == nil || in.Value == "path")
		}
		if !slices.ContainsFunc(elements(list), named) {
			inPath = append(inPath, mapping("name", text(match[1])))
		}
	}
	if list == nil && len(inPath) > 0 {
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		add(op, "parameters", list)
	}
	if list != nil {
		list.Content = append(inPath, list.Content...)
	}
	for _, parameter := range elements(list) {
		if get(parameter, "in") != nil {
			continue
		}
		name := get(parameter, "name").Value
		shared := get(known, name)
		if shared == nil {
			return fmt.Errorf("line %d: no file has components.parameters.%s", parameter.Line, name)
		}
		for key, value := range pairs(shared) {
			if get(parameter, key) == nil {
				add(parameter, key, clone(value))
			}
		}
	}
	return nil
}

func elements(list *yaml.Node) []*yaml.Node {
	if list == nil {
		return nil
	}
	return list.Content
}

// inJSON moves the schema and the examples of a response or a body to where OpenAPI expects
// them.
func inJSON(n *yaml.Node) {
	media := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, key := range []string{"schema", "example", "examples"} {
		if value := take(n, key); value != nil {
			add(media, key, value)
		}
	}
	if len(media.Content) > 0 {
		add(n, "content", mapping("application/json", media))
	}
}

// number numbers the properties of a schema and of the schemas in it.
func number(schema *yaml.Node) {
	place := 0
	for _, property := range pairs(get(schema, "properties")) {
		place++
		add(property, "x-order", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(place)})
		number(property)
		number(get(property, "items"))
	}
}
