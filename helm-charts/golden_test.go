package charts

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/golden"
)

// cases are the value files of chart-testing, which installs each file on a cluster.
func cases(t *testing.T) map[string]string {
	t.Helper()
	const suffix = "-values.yaml"
	files, err := filepath.Glob(filepath.Join(darkroomDir, "ci", "*"+suffix))
	expect.NoError(t, err)
	if len(files) == 0 {
		t.Fatal("no value files in the chart's ci directory")
	}
	found := map[string]string{}
	for _, file := range files {
		values, err := os.ReadFile(file)
		expect.NoError(t, err)
		found[strings.TrimSuffix(filepath.Base(file), suffix)] = string(values)
	}
	return found
}

// Golden manifests: the complete base case, and the differences of all others from it.
const (
	goldenDir  = "testdata/golden"
	goldenBase = "minimal"
)

// hunk matches line numbers in a diff, which change with every line above them.
var hunk = regexp.MustCompile(`(?m)^@@ .* @@$`)

func goldenFile(name string) string {
	if name == goldenBase {
		return filepath.Join(goldenDir, name+".yaml")
	}
	return filepath.Join(goldenDir, name+".diff")
}

// difference returns the content of a case's golden file.
func difference(t *testing.T, name, rendered, base string) string {
	t.Helper()
	if name == goldenBase {
		return rendered
	}
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(base), B: difflib.SplitLines(rendered), FromFile: goldenBase, ToFile: name, Context: 1,
	})
	expect.NoError(t, err)
	return hunk.ReplaceAllString(diff, "@@")
}

func TestGoldenManifests(t *testing.T) {
	values := cases(t)
	base := manifest(render(t, values[goldenBase]))
	var files []string
	for name, values := range values {
		files = append(files, goldenFile(name))
		t.Run(name, func(t *testing.T) {
			rendered := render(t, values)
			decode(t, rendered)
			expect.Equal(t, "the manifest of a resync, which would be an upgrade", manifest(rendered),
				manifest(render(t, values)))
			golden.Check(t, goldenFile(name), difference(t, name, manifest(rendered), base))
		})
	}
	golden.CheckNoneIsLeft(t, goldenDir, files)
}
