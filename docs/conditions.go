// Package documents embeds the pages that the operator's commands quote.
package documents

import (
	_ "embed"
	"strings"
)

//go:embed conditions.md
var conditions string

// Advice returns what the page on conditions says to do about a reason or phase; empty if it says nothing.
func Advice(reason string) string {
	for line := range strings.Lines(conditions) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) == 3 && strings.TrimSpace(cells[0]) == "`"+reason+"`" {
			return strings.ReplaceAll(strings.TrimSpace(cells[2]), "`", "")
		}
	}
	return ""
}
