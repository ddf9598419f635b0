package templates

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/osteele/liquid/expressions"
	"github.com/osteele/liquid/parser"
	"github.com/osteele/liquid/render"

	"github.com/lyceum-school/lyceum"
)

const (
	// MaxSource is the maximum length of a template, in bytes.
	MaxSource = 32 << 10
	// MaxOutput is the maximum length of a template's output, in bytes.
	MaxOutput = 256 << 10

	maxRounds = 10_000          // of all loops together
	maxText   = 64 << 10        // bytes of a filter's input or output
	maxList   = 1_000           // members of a list in a filter's input or output
	maxMade   = 1 << 20         // bytes of output of all filters together
	patience  = 2 * time.Second // stops what stays within all other limits

	maxMessage = 300 // characters of the library's error messages
)

// Template is a parsed template. It is safe for concurrent use.
type Template struct{ root render.Node }

// Parse parses a template of at most MaxSource bytes. An error in it is of kind Invalid and
// names the line.
func Parse(source string) (t *Template, err error) {
	if len(source) > MaxSource {
		return nil, lyceum.Invalidf("a template has at most %d bytes; this one has %d", MaxSource, len(source))
	}
	defer recovered(&err)
	start := parser.SourceLoc{LineNo: 1}
	if err := checkSyntax(parser.Scan(source, start, nil)); err != nil {
		return nil, err
	}
	root, failed := newLanguage().Compile(source, start)
	if failed != nil {
		return nil, explained(failed)
	}
	countRounds(root)
	return &Template{root: root}, nil
}

// Secrets are the secrets of a school by name. A template can pass one to hmac_sha256 as
// secrets.NAME, but cannot show it.
type Secrets map[string][]byte

// Render fills in values. A variable that is shown but has no value is an error of kind Invalid,
// and so is exceeding a limit: MaxOutput, 10,000 rounds of all loops, 64 KiB and 1,000 members
// in a filter, 1 MiB of output of all filters, two seconds.
func (t *Template) Render(ctx context.Context, values map[string]any, secrets Secrets) (text string, err error) {
	defer recovered(&err)
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	names := make(map[string]any, len(secrets))
	for name := range secrets {
		names[name] = secretName(name)
	}
	scope := maps.Clone(values)
	if scope == nil {
		scope = map[string]any{}
	}
	spent := &budget{ctx: ctx}
	scope["secrets"], scope[budgetKey] = names, spent

	config := newLanguage()
	config.StrictVariables = true
	addFilters(&config, spent, secrets)
	out := &bounded{spent: spent}
	if failed := render.Render(t.root, out, scope, config); failed != nil {
		return "", explained(failed)
	}
	return out.text.String(), nil
}

// explained turns an error of the library into one for the author of the template.
func explained(err render.Error) error {
	message := strings.TrimPrefix(err.Error(), fmt.Sprintf("Liquid error (line %d): ", err.LineNumber()))
	if cause := err.Cause(); cause != nil {
		var exceeded *lyceum.Error
		if errors.As(cause, &exceeded) || errors.Is(cause, context.Canceled) {
			return cause
		}
		var filter expressions.FilterError
		if errors.As(cause, &filter) {
			message = strings.Replace(message, cause.Error(), filter.FilterName+": "+filter.Err.Error(), 1)
		}
	}
	if runes := []rune(message); len(runes) > maxMessage {
		message = string(runes[:maxMessage]) + "…"
	}
	return lyceum.Invalidf("line %d: %s", err.LineNumber(), message)
}

// recovered turns a panic of the library into an error. The library panics on values that it
// cannot convert, and when a writer fails.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		var exceeded *lyceum.Error
		if errors.As(r, &exceeded) || errors.Is(r, context.Canceled) {
			*err = r
			return
		}
		*err = lyceum.Invalidf("one of the template's expressions has a value that it cannot use")
	default:
		*err = lyceum.Invalidf("one of the template's expressions has a value that it cannot use")
	}
}
