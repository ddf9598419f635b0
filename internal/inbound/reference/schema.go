package reference

import (
	"cmp"
	"slices"
	"strings"
)

// itself returns the schema inside an allOf that only exists to give it another
// description; otherwise n.
func (n *node) itself() *node {
	if all := n.get("allOf").list(); len(all) == 1 {
		return all[0]
	}
	return n
}

// typeName describes the type of a schema in a few words.
func typeName(schema *node) string {
	schema = schema.itself()
	if alternatives := schema.get("oneOf").list(); alternatives != nil {
		var names []string
		for _, a := range alternatives {
			names = append(names, typeName(a))
		}
		return strings.Join(names, " or ")
	}
	switch kind := schema.get("type").text(); kind {
	case "array":
		return "array of " + typeName(schema.get("items"))
	case "object":
		if schema.name != "" {
			return schema.name
		}
		return kind
	default:
		if format := schema.get("format").text(); format != "" {
			return kind + ", " + format
		}
		return kind
	}
}

// rules lists the other constraints of a schema, and its default.
func rules(schema *node) []string {
	var all []string
	least, most := schema.get("minimum").text(), schema.get("maximum").text()
	switch {
	case least != "" && most != "":
		all = append(all, "from "+least+" to "+most)
	case least != "":
		all = append(all, "at least "+least)
	case most != "":
		all = append(all, "at most "+most)
	}
	switch values := enumValues(schema); len(values) {
	case 0:
	case 1:
		all = append(all, "only "+values[0])
	default:
		all = append(all, "one of "+strings.Join(values, ", "))
	}
	if standard := schema.get("default").text(); standard != "" {
		all = append(all, "default "+standard)
	}
	return all
}

// enumValues returns the values of an enum, without the null of a nullable one.
func enumValues(schema *node) []string {
	var values []string
	for _, value := range schema.get("enum").list() {
		if value.scalar != nil {
			values = append(values, value.text())
		}
	}
	return values
}

// objects returns the tables of the object that a schema describes, or of each
// alternative, and of all nested objects, each once.
func objects(prefix string, schema *node) []object {
	var all []object
	seen := make(map[*node]bool)
	var visit func(schema *node, where string)
	visit = func(schema *node, where string) {
		schema = schema.itself()
		if items := schema.get("items"); items != nil {
			visit(items, where+"[]")
			return
		}
		for _, alternative := range schema.get("oneOf").list() {
			visit(alternative, where)
		}
		if schema.get("properties") == nil || seen[schema] {
			return
		}
		seen[schema] = true
		all = append(all, newObject(prefix, schema, where))
		schema.get("properties").each(func(name string, property *node) {
			visit(property, strings.TrimPrefix(where+"."+name, "."))
		})
	}
	visit(schema, "")
	return all
}

func newObject(prefix string, schema *node, where string) object {
	o := object{
		ID:          prefix + "-" + cmp.Or(schema.name, slug(where)),
		Name:        schema.name,
		Where:       where,
		Description: prose(schema.get("description").text()),
	}
	required := schema.get("required").texts()
	schema.get("properties").each(func(name string, property *node) {
		o.Fields = append(o.Fields, field{
			Name:        name,
			Type:        typeName(property),
			Rules:       rules(property.itself()),
			Nullable:    property.get("nullable").isTrue(),
			Optional:    !slices.Contains(required, name),
			Description: prose(property.get("description").text()),
		})
	})
	return o
}
