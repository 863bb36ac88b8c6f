package status

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// reporting are the packages whose constants end up in a status or an event.
var reporting = []string{"api/v1alpha1", "internal/controller", "internal/release", "internal/status"}

// reports are the prefixes of constants, with the start of the headings of their tables
// in docs/conditions.md.
var reports = map[string]string{
	"Phase": "Phases", "Condition": "Conditions",
	"Reason": "Reasons of ", "Event": "Events",
}

// constants returns the values of the exported constants with a prefix.
func constants(t *testing.T, prefix string) []string {
	t.Helper()
	declaration := regexp.MustCompile(`(?m)^\s*(?:const )?` + prefix + `[A-Z]\w*( \w+)? += "(.+)"`)
	var found []string
	for _, folder := range reporting {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no Go files in %s: %v", folder, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			expect.NoError(t, err)
			for _, match := range declaration.FindAllStringSubmatch(string(source), -1) {
				found = append(found, match[2])
			}
		}
	}
	if len(found) == 0 {
		t.Errorf("the code has no constant %s…", prefix)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// documented returns the first cells of the tables under headings that start with a
// text, and checks that the other two say something.
func documented(t *testing.T, page, heading string) []string {
	t.Helper()
	var found []string
	row := regexp.MustCompile("^`([A-Za-z]+)` \\| (.+) \\| (.+) \\|$")
	for _, section := range strings.Split(page, "\n## ")[1:] {
		section, _, _ = strings.Cut(section, "\n### ")
		if !strings.HasPrefix(section, heading) {
			continue
		}
		for line := range strings.SplitSeq(section, "\n") {
			cells, isRow := strings.CutPrefix(line, "| ")
			if !isRow || !strings.HasPrefix(cells, "`") {
				continue
			}
			if match := row.FindStringSubmatch(cells); match != nil {
				found = append(found, match[1])
			} else {
				t.Errorf("not a row of three cells: %s", line)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestEverythingThatIsReportedIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "conditions.md"))
	expect.NoError(t, err)
	for prefix, heading := range reports {
		expect.Equal(t, "docs/conditions.md, "+heading, constants(t, prefix), documented(t, string(page), heading))
	}
}
