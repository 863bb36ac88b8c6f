package status

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reporting are the packages whose constants end up in a status or an event.
var reporting = []string{"api/v1alpha1", "internal/controller", "internal/release", "internal/status"}

// reports are the prefixes of constants, with the start of the headings of their tables
// in docs/conditions.md.
var reports = map[string]string{"Phase": "Phases", "Condition": "Conditions", "Reason": "Reasons of ", "Event": "Events"}

// constants returns the values of the exported constants with a prefix.
func constants(t *testing.T, prefix string) []string {
	t.Helper()
	var found []string
	for _, folder := range reporting {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no Go files in %s: %v", folder, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(node ast.Node) bool {
				spec, ok := node.(*ast.ValueSpec)
				if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
					return true
				}
				literal, isLiteral := spec.Values[0].(*ast.BasicLit)
				name := spec.Names[0].Name
				if !isLiteral || literal.Kind != token.STRING || !regexp.MustCompile("^"+prefix+"[A-Z]").MatchString(name) {
					return true
				}
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, value)
				return true
			})
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// documented returns the first cells of the tables under headings that start with a
// text, and checks that the other two say something.
func documented(t *testing.T, page, heading string) []string {
	t.Helper()
	var found []string
	row := regexp.MustCompile("^\\| `([A-Za-z]+)` \\| (.+) \\| (.+) \\|$")
	inside := false
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if title, isHeading := strings.CutPrefix(line, "## "); isHeading {
			inside = strings.HasPrefix(title, heading)
		}
		if strings.HasPrefix(line, "### ") {
			inside = false
		}
		if !inside || !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := row.FindStringSubmatch(line)
		if cells == nil {
			t.Errorf("not a row of three cells: %s", line)
			continue
		}
		found = append(found, cells[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestEverythingThatIsReportedIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "conditions.md"))
	if err != nil {
		t.Fatal(err)
	}
	for prefix, heading := range reports {
		want := constants(t, prefix)
		if len(want) == 0 {
			t.Errorf("the code has no constant %s…", prefix)
		}
		if diff := cmp.Diff(want, documented(t, string(page), heading)); diff != "" {
			t.Errorf("docs/conditions.md, %s (-code +page):\n%s", heading, diff)
		}
	}
}
