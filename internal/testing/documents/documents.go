// Package documents reads the commands in the documents, so that tests can run them.
package documents

import (
	"fmt"
	"os"
	"regexp"
)

// Blocks returns the fenced code blocks of a Markdown document in a language such as yaml. It is an error if there are
// none.
func Blocks(path, language string) ([]string, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the name of a document in the repository
	if err != nil {
		return nil, err
	}
	fenced := regexp.MustCompile("(?ms)^```" + regexp.QuoteMeta(language) + "\n(.*?)^```$")
	var blocks []string
	for _, match := range fenced.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, match[1])
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("%s has no block of %s", path, language)
	}
	return blocks, nil
}
