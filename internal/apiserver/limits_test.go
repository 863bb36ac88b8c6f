package apiserver_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEachLimitHasItsTest compares the threats in docs/security.md with the tests.
func TestEachLimitHasItsTest(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(document), "### Limits of the API server")
	section, _, _ = strings.Cut(section, "\n## ")
	var tests strings.Builder
	for _, folder := range []string{".", "journal", "limit", "middleware", "oidc", "wire"} {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(raw)
		}
	}
	named := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(section, -1)
	if len(named) < 10 {
		t.Fatalf("docs/security.md names %d tests", len(named))
	}
	for _, name := range named {
		if !strings.Contains(tests.String(), "func "+name[1]+"(") {
			t.Errorf("there is no %s", name[1])
		}
	}
}
