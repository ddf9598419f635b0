package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const written = `// Package api is written by a machine.
package api

import (
	"fmt"
	"time"
)

// Defines values for Color.
const (
	Red  Color = "red"
	Blue Color = "blue"
)

// Defines values for Shape.
const (
	Round Shape = "round"
)

// List has items.
type List struct {
	Items []Item
	// Shape is a text, not the type of that name.
	Shape string
}

// Item is named only by List.
type Item struct{ At time.Time }

// Color is named only by a constant.
type Color string

// Shape is not named.
type Shape string

// String is of a type that is not named.
func (s *Shape) String() string { return fmt.Sprint(string(*s)) }

// Params are not named.
type Params struct{ Color *Color }
`

const pruned = `// Package api is written by a machine.
package api

import (
	"time"
)

// Defines values for Color.
const (
	Red Color = "red"
)

// List has items.
type List struct {
	Items []Item
	// Shape is a text, not the type of that name.
	Shape string
}

// Item is named only by List.
type Item struct{ At time.Time }

// Color is named only by a constant.
type Color string
`

func TestPrune(t *testing.T) {
	root := t.TempDir()
	save(t, root, map[string]string{
		"internal/gen/api/api.gen.go": written,
		"internal/face/face.go": `package face

import gen "example.com/x/internal/gen/api"

var list = gen.List{}

var color = gen.Red
`,
	})
	var told strings.Builder
	err := unused(root, &told)
	if err == nil || !strings.HasSuffix(told.String(), "5 generated types, 2 unused\n") {
		t.Errorf("error %v, told %s", err, &told)
	}
	for range 2 {
		if err := prune(root); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(root, "internal/gen/api/api.gen.go"))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != pruned {
			t.Errorf("got\n%s", got)
		}
	}
	told.Reset()
	if err := unused(root, &told); err != nil || told.String() != "3 generated types, 0 unused\n" {
		t.Errorf("error %v, told %s", err, &told)
	}
}
