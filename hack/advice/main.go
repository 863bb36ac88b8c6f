// Command advice generates the tables of phases, conditions, reasons and events in docs/conditions.md from package
// advice, below their existing headings.
//
//	advice docs/conditions.md
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/advice"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "advice:", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	if len(files) != 1 {
		return fmt.Errorf("want a page, but got %q", files)
	}
	page, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	written, err := withTables(string(page))
	if err != nil {
		return fmt.Errorf("%s: %w", files[0], err)
	}
	return os.WriteFile(files[0], []byte(written), 0o600)
}

// withTables returns the document with its tables replaced.
func withTables(page string) (string, error) {
	for _, table := range advice.Tables() {
		before, section, found := strings.Cut(page, "\n## "+table.Heading+"\n")
		start := strings.Index(section, "|---|---|---|\n")
		if !found || start < 0 {
			return "", fmt.Errorf("it has no heading %q with a table of three columns", table.Heading)
		}
		start += len("|---|---|---|\n")
		end := start
		for strings.HasPrefix(section[end:], "|") {
			end += strings.Index(section[end:], "\n") + 1
		}
		var rows strings.Builder
		for _, entry := range table.Entries {
			fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", entry.Name, entry.Meaning, entry.Remedy)
		}
		page = before + "\n## " + table.Heading + "\n" + section[:start] + rows.String() + section[end:]
	}
	return page, nil
}
