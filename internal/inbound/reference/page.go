package reference

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum/contract"
)

// page is a document prepared for rendering: an overview, and a page for each group of
// operations.
type page struct {
	Name, Title, Version string
	Summary              []block
	Setup                []token // sets the variables that the samples read
	HasKey               bool    // the samples contain a key
	Chapters             []chapter
	Credentials          []credential
	Groups               []group
}

// Operations counts the operations of the page.
func (p page) Operations() int {
	count := 0
	for _, g := range p.Groups {
		count += len(g.Operations)
	}
	return count
}

// credential is how a request authenticates itself.
type credential struct {
	ID, Title, Header, Prefix string
	Variable                  string   // name of the shell variable
	Value                     string   // in samples: the variable, or the key itself
	Scopes                    []string // each of them suffices for the operation
	InBody                    bool     // can be sent in the body instead
	Description               []block
}

// group is the operations with the same tag.
type group struct {
	Path, Title string
	Description []block
	Operations  []operation
}

type operation struct {
	Document                string // path of the overview
	ID, Method, Path, Title string
	Description             []block
	Credentials             []credential
	Parameters              []parameterGroup
	Body                    *body
	Curl                    []token
	Responses               []response // of success
	Refusals                []response // of failure
	Headers                 []header
}

// ResponseCount counts the responses.
func (o operation) ResponseCount() int { return len(o.Responses) + len(o.Refusals) }

// parameterGroup is the parameters in one part of a request.
type parameterGroup struct {
	ID, Title  string
	Parameters []parameter
}

// AllOptional reports whether none of them is required.
func (g parameterGroup) AllOptional() bool {
	return !slices.ContainsFunc(g.Parameters, func(p parameter) bool { return p.Required })
}

type parameter struct {
	ID, Name, Type string
	Required       bool
	Rules          []string
	Description    []block
	Example        string
}

// body is the body of a request.
type body struct {
	Objects []object
	Samples []sample
}

type response struct {
	Status, Reason string
	Description    []block
	Objects        []object
	Samples        []sample
}

// Class returns the CSS class of the status.
func (a response) Class() string { return "status-" + a.Status[:1] }

// object is the table of an object's fields.
type object struct {
	ID, Name, Where string // Where is its path in the whole response
	Description     []block
	Fields          []field
}

type field struct {
	Name, Type  string
	Rules       []string
	Nullable    bool
	Optional    bool
	Description []block
}

// header is a header of one or more responses of an operation.
type header struct {
	Name, Type, Example string
	Description         []block
	Statuses            []string
}

// The shell variables of the samples.
const (
	keyVariable    = "API_KEY"
	bearerVariable = "ACCESS_TOKEN"
	clientVariable = "CLIENT"
)

// newPage parses a document. Samples contain the key, if there is one.
func newPage(d contract.Document, key string) (page, error) {
	root, err := parse(d.JSON)
	if err != nil {
		return page{}, err
	}
	if root.get("info", "title").text() == "" || root.get("paths") == nil {
		return page{}, errors.New("is not an OpenAPI document: it has no title or no paths")
	}
	summary, about := chapters(root.get("info", "description").text())
	p := page{
		Name:        d.Name,
		Title:       root.get("info", "title").text(),
		Version:     root.get("info", "version").text(),
		Summary:     summary,
		Chapters:    about,
		Credentials: credentials(root, key),
	}
	for _, c := range p.Credentials {
		p.HasKey = p.HasKey || c.Variable == keyVariable && c.Value != "$"+keyVariable
	}
	p.Setup = setup(p.Credentials)
	p.Groups, err = groups(root, p.Name, p.Credentials)
	return p, err
}

// setup returns the assignments that the samples need to run.
func setup(all []credential) []token {
	var tokens []token
	for _, c := range all {
		if c.InBody || c.Value != "$"+c.Variable { // the samples contain it
			continue
		}
		line := c.Variable + "="
		if tokens != nil {
			line = "\n" + line
		}
		tokens = append(tokens, token{"", line}, token{stringToken, "'…'"})
	}
	return tokens
}

func credentials(root *node, key string) []credential {
	var all []credential
	root.get("components", "securitySchemes").each(func(name string, scheme *node) {
		c := credential{ID: name, Description: prose(scheme.get("description").text())}
		switch {
		case scheme.get("type").text() == "apiKey":
			c.Title, c.Header, c.Variable = "API key", scheme.get("name").text(), keyVariable
		case scheme.get("scheme").text() == "basic":
			c.Title, c.Header, c.Prefix = "Client credentials", "Authorization", "Basic "
			c.Variable, c.InBody = clientVariable, true
		default:
			c.Title, c.Header, c.Prefix, c.Variable = "Access token", "Authorization", "bearer ", bearerVariable
		}
		c.Value = "$" + c.Variable
		if c.Variable == keyVariable && key != "" {
			c.Value = key
		}
		all = append(all, c)
	})
	return all
}

// groups returns the operations by their first tag, in the order of the tags.
func groups(root *node, document string, known []credential) ([]group, error) {
	overview := "/docs/" + document
	var all []group
	place := make(map[string]int)
	for i, tag := range root.get("tags").list() {
		name := tag.get("name").text()
		place[name] = i
		all = append(all, group{
			Path: overview + "/" + slug(name), Title: name, Description: prose(tag.get("description").text()),
		})
	}
	var failed error
	root.get("paths").each(func(path string, item *node) {
		item.each(func(method string, n *node) {
			if method == "parameters" { // shared by the operations of the path
				return
			}
			tag := slices.Concat(n.get("tags").texts(), []string{""})[0]
			i, ok := place[tag]
			if !ok {
				failed = fmt.Errorf("%s %s has no tag that the document lists", method, path)
				return
			}
			o := newOperation(root, known, path, method, n)
			o.Document = overview
			all[i].Operations = append(all[i].Operations, o)
		})
	})
	return all, failed
}

func newOperation(root *node, known []credential, path, method string, n *node) operation {
	o := operation{
		ID:          n.get("operationId").text(),
		Method:      strings.ToUpper(method),
		Path:        path,
		Title:       n.get("summary").text(),
		Description: prose(n.get("description").text()),
	}
	security := n.get("security")
	if security == nil {
		security = root.get("security")
	}
	o.Credentials = accepted(security, known)
	parameters := slices.Concat(root.get("paths", path, "parameters").list(), n.get("parameters").list())
	o.Parameters = parameterGroups(o.ID, parameters)
	if content := n.get("requestBody", "content", jsonType); content != nil {
		o.Body = &body{objects(o.ID+"-body", content.get("schema")), samples(content, jsonSample)}
	}
	o.Curl = curl(o.Method, path, o.Credentials, parameters, exampleOf(n.get("requestBody", "content", jsonType)))
	n.get("responses").each(func(status string, response *node) {
		if strings.HasPrefix(status, "2") {
			o.Responses = append(o.Responses, newResponse(o.ID, status, response, jsonSample))
		} else {
			o.Refusals = append(o.Refusals, newResponse(o.ID, status, response, compactJSON))
		}
		o.addHeaders(status, response)
	})
	return o
}

// accepted returns the known credentials that an operation accepts, each once, with the
// scopes of all alternatives.
func accepted(security *node, known []credential) []credential {
	var all []credential
	for _, c := range known {
		there := false
		for _, alternative := range security.list() {
			if scopes := alternative.get(c.ID); scopes != nil {
				there = true
				c.Scopes = append(c.Scopes, scopes.texts()...)
			}
		}
		if there {
			all = append(all, c)
		}
	}
	return all
}

// parameterGroups groups parameters by their location, in the order of a request.
func parameterGroups(operation string, parameters []*node) []parameterGroup {
	var groups []parameterGroup
	for _, place := range []struct{ in, title string }{
		{"path", "Path parameters"}, {"query", "Query parameters"}, {"header", "Header parameters"},
	} {
		g := parameterGroup{ID: operation + "-in-" + place.in, Title: place.title}
		for _, p := range parameters {
			if p.get("in").text() == place.in {
				g.Parameters = append(g.Parameters, newParameter(operation, p))
			}
		}
		if g.Parameters != nil {
			groups = append(groups, g)
		}
	}
	return groups
}

func newParameter(operation string, n *node) parameter {
	schema := n.get("schema")
	return parameter{
		ID:          operation + "-" + n.get("name").text(),
		Name:        n.get("name").text(),
		Required:    n.get("required").isTrue(),
		Type:        typeName(schema),
		Rules:       rules(schema),
		Description: prose(n.get("description").text()),
		Example:     n.get("example").text(),
	}
}

func newResponse(operation, status string, n *node, write func(*node) []token) response {
	content := n.get("content", jsonType)
	code, _ := strconv.Atoi(status)
	return response{
		Status:      status,
		Reason:      http.StatusText(code),
		Description: prose(n.get("description").text()),
		Objects:     objects(operation+"-"+status, content.get("schema")),
		Samples:     samples(content, write),
	}
}

// exampleOf returns the example of a body, or the first of several; nil if there is none.
func exampleOf(content *node) *node {
	if example := content.get("example"); example != nil {
		return example
	}
	if several := content.get("examples"); several != nil {
		return several.get(several.keys[0], "value")
	}
	return nil
}

// samples returns the examples of a body: the only one, or several with names.
func samples(content *node, write func(*node) []token) []sample {
	var all []sample
	if example := content.get("example"); example != nil {
		all = append(all, sample{Tokens: write(example)})
	}
	content.get("examples").each(func(_ string, example *node) {
		all = append(all, sample{example.get("summary").text(), write(example.get("value"))})
	})
	return all
}

// addHeaders adds the headers of one response.
func (o *operation) addHeaders(status string, response *node) {
	response.get("headers").each(func(name string, n *node) {
		i := slices.IndexFunc(o.Headers, func(h header) bool { return h.Name == name })
		if i < 0 {
			i = len(o.Headers)
			o.Headers = append(o.Headers, header{
				Name:        name,
				Type:        typeName(n.get("schema")),
				Example:     n.get("example").text(),
				Description: prose(n.get("description").text()),
			})
		}
		o.Headers[i].Statuses = append(o.Headers[i].Statuses, status)
	})
}
