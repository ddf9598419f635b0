package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// genPath is the path of the generated packages, in the module and in imports.
const genPath = "internal/gen"

// generated is a generated file. Its used names are those that other files refer to, and
// everything they refer to in turn.
type generated struct {
	file   string
	source []byte
	syntax *ast.File
	used   map[string]bool
}

// prune removes all unused declarations from the generated files.
func prune(root string) error {
	return each(root, func(g *generated) error {
		kept, err := format.Source(g.kept())
		if err != nil {
			return fmt.Errorf("%s: %w", g.file, err)
		}
		return os.WriteFile(g.file, kept, 0o644)
	})
}

// unused lists the generated types that are not used, and fails if there are any.
func unused(root string, out io.Writer) error {
	types, idle := 0, 0
	err := each(root, func(g *generated) error {
		for _, decl := range g.syntax.Decls {
			for _, spec := range specs(decl) {
				if t, ok := spec.(*ast.TypeSpec); ok {
					types++
					if !g.used[t.Name.Name] {
						idle++
						fmt.Fprintf(out, "%s: nobody names %s\n", g.file, t.Name.Name)
					}
				}
			}
		}
		return nil
	})
	fmt.Fprintf(out, "%d generated types, %d unused\n", types, idle)
	if err == nil && idle > 0 {
		return errors.New("unused types: run make generate")
	}
	return err
}

func each(root string, visit func(*generated) error) error {
	names, err := namedOutside(root)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(root, genPath, "*", "*.gen.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		g := &generated{file: file, used: map[string]bool{}}
		if g.source, err = os.ReadFile(file); err != nil {
			return err
		}
		if g.syntax, err = parser.ParseFile(token.NewFileSet(), file, g.source, parser.ParseComments); err != nil {
			return err
		}
		declared := g.declared()
		for _, name := range names[filepath.Base(filepath.Dir(file))] {
			g.use(name, declared)
		}
		if err := visit(g); err != nil {
			return err
		}
	}
	return nil
}

// namedOutside returns the names in each generated package that other files refer to.
func namedOutside(root string) (map[string][]string, error) {
	names := map[string][]string{}
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, ".gen.go") {
			return err
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		imported := map[string]string{}
		for _, spec := range syntax.Imports {
			target, _ := strconv.Unquote(spec.Path.Value)
			if name := path.Base(target); strings.HasSuffix(path.Dir(target), "/"+genPath) {
				imported[name] = name
				if spec.Name != nil {
					imported[spec.Name.Name] = name
				}
			}
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && imported[x.Name] != "" {
					names[imported[x.Name]] = append(names[imported[x.Name]], s.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	return names, err
}

// declared returns the nodes that declare each name: a type with its methods, a constant or an
// import.
func (g *generated) declared() map[string][]ast.Node {
	all := map[string][]ast.Node{}
	for _, decl := range g.syntax.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			all[owner(f)] = append(all[owner(f)], f)
		}
		for _, spec := range specs(decl) {
			all[name(spec)] = append(all[name(spec)], spec)
		}
	}
	return all
}

// use marks a name and everything that its declaration refers to. Field names do not count as
// references.
func (g *generated) use(name string, declared map[string][]ast.Node) {
	if g.used[name] || declared[name] == nil {
		return
	}
	g.used[name] = true
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			ast.Inspect(n.Type, visit)
			return false
		case *ast.Ident:
			g.use(n.Name, declared)
		}
		return true
	}
	for _, node := range declared[name] {
		ast.Inspect(node, visit)
	}
}

// kept returns the source with only the used declarations.
func (g *generated) kept() []byte {
	out := slices.Clone(g.source[:g.syntax.Name.End()-g.syntax.FileStart])
	text := func(doc *ast.CommentGroup, n ast.Node) []byte {
		from := n.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		return append([]byte("\n"), g.source[from-g.syntax.FileStart:n.End()-g.syntax.FileStart]...)
	}
	for _, decl := range g.syntax.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && g.used[owner(f)] {
			out = append(append(out, '\n'), text(f.Doc, f)...)
		}
		var group []byte
		for _, spec := range specs(decl) {
			if g.used[name(spec)] {
				group = append(group, text(nil, spec)...)
			}
		}
		if group != nil {
			d := decl.(*ast.GenDecl)
			if d.Lparen.IsValid() {
				group = fmt.Appendf(nil, "\n%s (%s\n)", d.Tok, group)
			} else {
				group = text(nil, d)
			}
			if d.Doc != nil {
				out = append(out, text(nil, d.Doc)...)
			}
			out = append(append(out, group...), '\n')
		}
	}
	return append(out, '\n')
}

func specs(decl ast.Decl) []ast.Spec {
	if d, ok := decl.(*ast.GenDecl); ok {
		return d.Specs
	}
	return nil
}

// name returns the name that a spec declares.
func name(spec ast.Spec) string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Name.Name
	case *ast.ValueSpec:
		return s.Names[0].Name
	case *ast.ImportSpec:
		target, _ := strconv.Unquote(s.Path.Value)
		return path.Base(target)
	}
	return ""
}

// owner returns the type that a method belongs to, or the name of a function.
func owner(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	return t.(*ast.Ident).Name
}
