package docs

import (
	"slices"
	"testing"
)

const repository = "../.."

// TestEveryBlockIsRunOrHasAReason fails for commands in the documents that no test runs.
func TestEveryBlockIsRunOrHasAReason(t *testing.T) {
	blocks, err := allBlocks(repository)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, scenario := range scenarios {
		for _, step := range scenario.steps {
			if step.do != nil {
				continue
			}
			found, err := find(blocks, step.name)
			if err != nil {
				t.Errorf("%s: %v", scenario.name, err)
			}
			for _, block := range found {
				told = append(told, block.String())
			}
		}
	}
	for name := range notRun {
		if _, err := find(blocks, name); err != nil {
			t.Errorf("notRun: %v", err)
		}
	}
	for _, block := range blocks {
		_, excused := notRun[block.String()]
		switch isTold := slices.Contains(told, block.String()); {
		case isTold && excused:
			t.Errorf("%s is run: remove it from notRun", block)
		case block.isCommands() && !isTold && !excused:
			t.Errorf("no scenario contains %s, and notRun does not list it", block)
		}
	}
}
