package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is a contract with one noun.
var small = map[string]string{
	"openapi.yaml": `
openapi: 3.0.3
components:
  parameters:
    page: {in: query, description: The page., schema: {type: integer}}
`,
	"notes.yaml": `
tags:
  - {name: Notes}
paths:
  /notes/{note_id}:
    get:
      operationId: showNote
      parameters:
        - {name: page, description: Notes per page.}
      responses:
        '200': {description: A note., schema: {$ref: '#/components/schemas/Note'}, example: {id: 1, text: x}}
components:
  parameters:
    note_id: {in: path, example: 1}
  schemas:
    Note:
      type: object
      properties:
        id: {type: integer}
        text: {type: string}
`,
	"authors.yaml": `
tags:
  - {name: Authors}
paths:
  /authors:
    post:
      operationId: createAuthor
      requestBody: {schema: {type: object}, example: {}}
      responses:
        '409': {description: Taken.}
        '201': {description: An author.}
`,
	"overlay.yaml": `
overlay: 1.1.0
info: {title: All, version: 1.0.0}
actions:
  - target: $.paths[*][*].parameters[?@.in == 'path']
    update: {required: true}
  - target: $.paths[*][*].responses
    update: {'400': {description: Wrong.}}
`,
}

const smallBundled = `# Made from contract/small by make generate. Do not edit.
openapi: 3.0.3
tags:
  - {name: Authors}
  - {name: Notes}
paths:
  /authors:
    post:
      operationId: createAuthor
      requestBody: {required: true, content: {application/json: {schema: {type: object}, example: {}}}}
      responses:
        '201': {description: An author.}
        '400': {description: Wrong.}
        '409': {description: Taken.}
  /notes/{note_id}:
    get:
      operationId: showNote
      parameters:
        - name: note_id
          in: path
          required: true
          example: 1
        - {name: page, in: query, description: Notes per page., schema: {type: integer}}
      responses:
        '200':
          description: A note.
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Note'}
              example: {id: 1, text: x}
        '400': {description: Wrong.}
components:
  schemas:
    Note:
      type: object
      properties:
        id: {type: integer, x-order: 1}
        text: {type: string, x-order: 2}
`

func TestBundle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "small")
	save(t, dir, small)
	if err := run([]string{"bundle", dir}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(dir + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != smallBundled {
		t.Errorf("got\n%s\nwant\n%s", got, smallBundled)
	}
	twin, err := os.ReadFile(dir + ".json")
	if err != nil || !strings.HasPrefix(string(twin), "{\n  \"openapi\": \"3.0.3\",\n  \"tags\": [\n") {
		t.Errorf("got %v\n%s", err, twin)
	}
}

func TestBundleRejects(t *testing.T) {
	for _, tc := range []struct{ name, file, content, mention string }{
		{"a schema that another file has", "z.yaml", "components: {schemas: {Note: {}}}", "another file has Note already"},
		{"a method that another file has", "z.yaml", "paths: {/authors: {post: {}}}", "another file has post already"},
		{"a parameter that no file has", "z.yaml", "paths: {'/z/{z_id}': {get: {}}}", "no file has components.parameters.z_id"},
		{"two documents in a file", "z.yaml", "a: 1\n---\nb: 2", "must hold one mapping"},
		{"no mapping", "z.yaml", "[a]", "must hold one mapping"},
		{"no YAML", "z.yaml", "a: [", "z.yaml"},
		{
			"an action without a target", "overlay.yaml",
			"overlay: 1.1.0\ninfo: {title: x, version: 1.0.0}\nactions: [{target: $.nowhere, update: {a: 1}}]", "$.nowhere",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			save(t, dir, small)
			save(t, dir, map[string]string{tc.file: tc.content})
			_, err := bundle(dir)
			if err == nil || !strings.Contains(err.Error(), tc.mention) {
				t.Errorf("error is %v, want one that says %q", err, tc.mention)
			}
		})
	}
}

func save(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
