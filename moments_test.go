package lyceum_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// measured are functions that may read the clock in a change, because they measure how long it
// takes.
var measured = []string{"settleNext", "process"}

// TestChangesAreOfOneMoment checks that functions that make changes do not read the clock: they
// may run several times and must issue the same queries each time, so the time is passed to
// them.
func TestChangesAreOfOneMoment(t *testing.T) {
	t.Parallel()
	files, looked := token.NewFileSet(), 0
	err := filepath.WalkDir("internal/rules", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if f, is := n.(*ast.FuncDecl); is && slices.Contains(measured, f.Name.Name) {
				return false
			}
			of, body := function(n)
			if body == nil || !makesChanges(of) {
				return true
			}
			looked++
			ast.Inspect(body, func(n ast.Node) bool {
				if call, is := n.(*ast.CallExpr); is && asksTime(call.Fun) {
					t.Errorf("%s: a change asks for the time", files.Position(call.Pos()))
				}
				return true
			})
			return false
		})
		return nil
	})
	if err != nil || looked < 300 {
		t.Errorf("%d functions make changes, %v", looked, err)
	}
}

func function(n ast.Node) (*ast.FuncType, *ast.BlockStmt) {
	switch f := n.(type) {
	case *ast.FuncDecl:
		return f.Type, f.Body
	case *ast.FuncLit:
		return f.Type, f.Body
	}
	return nil, nil
}

func makesChanges(of *ast.FuncType) bool {
	return slices.ContainsFunc(of.Params.List, func(p *ast.Field) bool {
		named, is := p.Type.(*ast.SelectorExpr)
		return is && named.Sel.Name == "Tx"
	})
}

// asksTime reports whether a call reads a clock. Measuring elapsed time is allowed.
func asksTime(called ast.Expr) bool {
	of, is := called.(*ast.SelectorExpr)
	return is && slices.Contains([]string{"clock", "Clock", "Now"}, of.Sel.Name)
}
