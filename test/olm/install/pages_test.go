package install

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// valueName is the name of a value in code.
var valueName = regexp.MustCompile("`([a-z][A-Za-z]*(?:\\.[a-z][A-Za-z]*)*)`")

// TestThePagesOfTheChartsNameValuesThatExist checks, in the README of each chart, every nested name that begins with a
// value.
func TestThePagesOfTheChartsNameValuesThatExist(t *testing.T) {
	for folder := range settings {
		_, schema := loadChart(t, folder)
		text, err := os.ReadFile(filepath.Join(repository, folder, "README.md"))
		must(t, err)
		exists := map[string]bool{}
		schema.walk(schema, nil, func(path []string, _ *valueSchema) { exists[strings.Join(path, ".")] = true })
		var named int
		for _, match := range valueName.FindAllStringSubmatch(string(text), -1) {
			first, _, isNested := strings.Cut(match[1], ".")
			if !exists[first] || !isNested {
				continue
			}
			named++
			if !exists[match[1]] {
				t.Errorf("%s names %s, which the chart does not have", folder, match[1])
			}
		}
		if named < 5 {
			t.Errorf("%s names %d values", folder, named)
		}
	}
}
