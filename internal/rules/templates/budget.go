package templates

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/osteele/liquid/parser"
	"github.com/osteele/liquid/render"
	"github.com/osteele/liquid/tags"

	"github.com/lyceum-school/lyceum"
)

// newLanguage returns a configuration with the standard tags of the language.
func newLanguage() render.Config {
	config := render.NewConfig()
	tags.AddStandardTags(config)
	return config
}

// budgetKey is the variable in which a running template finds its budget. No template can name
// it.
const budgetKey = " budget"

// budget records what a running template has used up.
type budget struct {
	ctx          context.Context //nolint:containedctx // the library has no contexts
	rounds, made int
}

// round counts a round of a loop. It is called at the beginning of each.
func (b *budget) round() error {
	if b.rounds++; b.rounds > maxRounds {
		return lyceum.Invalidf("the template's loops have more than %d rounds", maxRounds)
	}
	return b.timely()
}

func (b *budget) timely() error {
	if err := b.ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
		return lyceum.Invalidf("the template takes longer than %v", patience)
	} else if err != nil {
		return err
	}
	return nil
}

// check rejects a value that is too large for a filter.
func (b *budget) check(v reflect.Value) error {
	members, size := 0, 0
	measure(v, &members, &size)
	switch {
	case members > maxList:
		return lyceum.Invalidf("a list has more than %d members", maxList)
	case size > maxText:
		return lyceum.Invalidf("a text has more than %d bytes", maxText)
	}
	return b.timely()
}

// keep counts the output of a filter.
func (b *budget) keep(v reflect.Value) error {
	members, size := 0, 0
	measure(v, &members, &size)
	if b.made += size + 16*members; b.made > maxMade {
		return lyceum.Invalidf("the template's filters produce more than %d bytes", maxMade)
	}
	return b.check(v)
}

// measure adds up the bytes of strings and the members of lists, until a limit is exceeded.
func measure(v reflect.Value, members, size *int) {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		*size += v.Len()
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			*size += v.Len()
			return
		}
		*members += v.Len()
		for i := 0; i < v.Len() && *members <= maxList && *size <= maxText; i++ {
			measure(v.Index(i), members, size)
		}
	default:
	}
}

// bounded receives the output of a template.
type bounded struct {
	spent *budget
	text  strings.Builder
}

func (w *bounded) Write(b []byte) (int, error) {
	if w.text.Len()+len(b) > MaxOutput {
		return 0, lyceum.Invalidf("the template produces more than %d bytes", MaxOutput)
	}
	if err := w.spent.timely(); err != nil {
		return 0, err
	}
	return w.text.Write(b)
}

// countRounds makes every loop in a node and below call budget.round.
func countRounds(node render.Node) {
	switch node := node.(type) {
	case *render.SeqNode:
		for _, child := range node.Children {
			countRounds(child)
		}
	case *render.BlockNode:
		for _, child := range node.Body {
			countRounds(child)
		}
		for _, clause := range node.Clauses {
			countRounds(clause)
		}
		if node.Name == "for" {
			node.Body = append([]render.Node{counter}, node.Body...)
		}
	}
}

// counter is a tag that no template can name, compiled once.
var counter = func() render.Node {
	config := render.NewConfig()
	config.AddTag("count", func(string) (func(io.Writer, render.Context) error, error) {
		return func(_ io.Writer, ctx render.Context) error {
			spent, _ := ctx.Get(budgetKey).(*budget)
			return spent.round()
		}, nil
	})
	root, err := config.Compile("{%count%}", parser.SourceLoc{})
	if err != nil {
		panic(err)
	}
	return root
}()
