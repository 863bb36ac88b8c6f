package docs

import (
	"slices"
	"testing"
)

const repository = "../.."

// TestEveryBlockIsRunOrHasAReason fails for commands in the documents that no test runs.
func TestEveryBlockIsRunOrHasAReason(t *testing.T) {
	blocks, err := Blocks(repository)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, scenario := range Scenarios {
		for _, step := range scenario.Steps {
			read, ok := step.(Read)
			if !ok {
				continue
			}
			found, err := find(blocks, read.Name)
			if err != nil {
				t.Errorf("%s: %v", scenario.Name, err)
			}
			for _, block := range found {
				told = append(told, block.Name())
			}
		}
	}
	for name := range notRun {
		if _, err := find(blocks, name); err != nil {
			t.Errorf("notRun: %v", err)
		}
	}
	for _, block := range blocks {
		_, excused := notRun[block.Name()]
		switch isTold := slices.Contains(told, block.Name()); {
		case isTold && excused:
			t.Errorf("%s is run: take it out of notRun", block)
		case block.Commands() && !isTold && !excused:
			t.Errorf("%s is in no scenario, and not in notRun: it is never run", block)
		}
	}
}
