package lyceum_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// poor is a phrase of poor English, and what to write instead.
type poor struct{ phrase, instead string }

// poorEnglish has phrases that users must not read.
var poorEnglish = []poor{
	{`anew`, "again, from the start"},
	{`bears?`, "has"},
	{`heeds?`, "applies, honors"},
	{`parted by`, "separated by"},
	{`whatever (its|the) (letter )?case`, "case-insensitive"},
	{`(is|are|was|were) told( of| about)?`, "receives, is notified of"},
	{`tells? (whether|what|when|webhooks|of)`, "reports"},
	{`goes on|went on|to go on|go on with`, "continues"},
	{`that there is not`, "unknown"},
	{`which is none|that is none|what is none|is none of`, "invalid, unknown"},
	{`(has|have) not the`, "does not have the"},
	{`any more`, "no longer"},
	{`lets? \S+ in|let in|lets? this API key`, "authorize, allow"},
	{`sends? no letters|letters? with|letters are|in letters`, "email"},
	{`owner.s room|is room|no room|room for`, "page; space, memory"},
	{`good for \d|stays? good|is good (and|until)`, "valid for, keeps working"},
	{`broke off|broken off`, "was interrupted, ended early"},
	{`under way`, "in progress"},
	{`on its way|on their way`, "is being sent"},
	{`switch(ed|es)? (it |them |a user |an app )?(on|off)`, "enable, disable"},
	{`stands? (in|for|behind|beside) the`, "is in the"},
	{`(must|may) hold`, "must have, must contain"},
	{`in digits alone|alone can|alone goes`, "only"},
	{`must be (a text|texts)|empty text`, "string"},
	{`make one with|is made already`, "create one with, already exists"},
	{`give (it|another|the|one|a) .{0,40}with --`, "set, use, choose"},
	{`at this moment`, "right now"},
	{`is not known (here|yet|whether)|not known what`, "unknown"},
	{`in the books|its books agree`, "recorded, consistent"},
	{`the same command again (does|goes|to)`, "repeat the command"},
}

// poorComments has phrases that no comment may have.
var poorComments = []poor{
	{`anew`, "again, from scratch"},
	{`bears?`, "has"},
	{`broke off|broken off`, "was interrupted"},
	{`goes on|went on|go on (with|after|from|until)`, "continues, resumes after"},
	{`tells? (whether|if|what|when|how|of|apart)`, "reports whether, distinguishes"},
	{`that there (is|are) not`, "that does not exist"},
	{`(which|that|what) (is|are) none`, "invalid, missing"},
	{`(has|have) not the`, "does not have the"},
	{`parted by`, "separated by"},
	{`stands? (in|behind|beside) the`, "is in the, follows the"},
	{`beside (it|them|that)`, "next to, in addition to"},
	{`in place of`, "instead of"},
	{`what (becomes|became|comes|came) of`, "the outcome of"},
	{`is led to|leads on to`, "is redirected to"},
	{`has in hand`, "is working on"},
	{`is there already`, "exists already"},
}

// contractSentences are exempt, because the contract prescribes them word for word.
var contractSentences = []string{
	"API rate limit exceeded",
	"no Route matched with those values",
	"This coupon cannot be archived.",
}

// TestUsersReadPlainEnglish looks at what users read: strings in the program, pages, the
// contract's descriptions and the documents. It skips comments, tests and SQL.
func TestUsersReadPlainEnglish(t *testing.T) {
	t.Parallel()
	read := finder(t, poorEnglish)
	files := 0
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if unread[path] || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "." {
				return filepath.SkipDir
			}
			return nil
		}
		switch {
		case strings.HasSuffix(path, "_test.go"), path == "docs/glossary.md": // it lists words not to use
			return nil
		case strings.HasSuffix(path, ".go"):
			readStrings(t, path, read)
		case strings.HasSuffix(path, ".gohtml"),
			strings.HasSuffix(path, ".yaml") && strings.HasPrefix(path, "contract"),
			path == "README.md", strings.HasPrefix(path, "docs/") && strings.HasSuffix(path, ".md"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i, line := range strings.Split(string(text), "\n") {
				read(path, i+1, line)
			}
		default:
			return nil
		}
		files++
		return nil
	})
	if err != nil || files < 200 {
		t.Errorf("%d files were read: %v", files, err)
	}
}

// TestCommentsAreInPlainEnglish looks at the comments of all Go files that are written by hand.
func TestCommentsAreInPlainEnglish(t *testing.T) {
	t.Parallel()
	read := finder(t, poorComments)
	comments := 0
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == "internal/gen" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			comments++
			read(path, files.Position(group.Pos()).Line, group.Text())
		}
		return nil
	})
	if err != nil || comments < 5000 {
		t.Errorf("%d comments were read: %v", comments, err)
	}
}

// finder returns a function that reports the poor phrases of a text.
func finder(t *testing.T, all []poor) func(path string, line int, text string) {
	t.Helper()
	phrases := make([]*regexp.Regexp, len(all))
	begins := make([]string, len(all)) // checked first, because regular expressions are slow
	for i, poor := range all {
		phrases[i] = regexp.MustCompile(`(?i)\b(?:` + poor.phrase + `)\b`)
		begin, _ := regexp.MustCompile(poor.phrase).LiteralPrefix()
		begins[i] = strings.ToLower(begin)
	}
	return func(path string, line int, text string) {
		for _, sentence := range contractSentences {
			text = strings.ReplaceAll(text, sentence, "")
		}
		text = strings.Join(strings.Fields(text), " ")
		lower := strings.ToLower(text)
		for i, phrase := range phrases {
			if !strings.Contains(lower, begins[i]) {
				continue
			}
			if found := phrase.FindString(text); found != "" {
				t.Errorf("%s:%d: %q in %.160q: write %s", path, line, found, text, all[i].instead)
			}
		}
	}
}

// unread are folders without text for users: tooling, generated data, and the store test
// suites' messages to programmers.
var unread = map[string]bool{
	"tools": true, "scripts": true, "bin": true, "internal/gen": true, "internal/storage/storetest": true,
	"internal/inbound/demo": true, "internal/inbound/web/webtest": true, "docs/pictures": true,
}

// readStrings reads the string literals of a Go file that have three words or more, including
// those in struct tags. Concatenated literals are read as one.
func readStrings(t *testing.T, path string, read func(path string, line int, text string)) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	ast.Inspect(file, func(n ast.Node) bool {
		e, is := n.(ast.Expr)
		if !is {
			return true
		}
		text, is := literal(e)
		if is && len(strings.Fields(text)) >= 3 && !strings.Contains(text, "SELECT ") && !strings.Contains(text, "WHERE ") {
			read(path, files.Position(e.Pos()).Line, text)
		}
		return !is
	})
}

// literal returns the value of a string literal, or of concatenated literals.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		left, is := literal(e.X)
		right, also := literal(e.Y)
		return left + right, is && also && e.Op == token.ADD
	}
	return "", false
}
