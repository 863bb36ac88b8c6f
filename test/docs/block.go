package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Block is a fenced block of a document.
type Block struct {
	// Page is the document, such as docs/install.md.
	Page string
	// Section is the heading above.
	Section string
	// Number counts the blocks of a section that have a language, from 1.
	Number int
	// Language is the info string of the fence.
	Language string
	// Line is the line number of the fence, from 1.
	Line int
	Text string
}

// Name is how scenarios refer to the block: docs/install.md#Helm/2.
func (b Block) Name() string {
	return fmt.Sprintf("%s#%s/%d", b.Page, b.Section, b.Number)
}

// String returns the location and the name of the block.
func (b Block) String() string {
	return fmt.Sprintf("%s:%d (%s)", b.Page, b.Line, b.Name())
}

// Commands reports whether the block contains commands, as opposed to a manifest.
func (b Block) Commands() bool {
	return slices.Contains([]string{"sh", "bash", "shell", "console"}, b.Language)
}

// Pages are the documents of a checkout whose commands are run.
func Pages(checkout string) ([]string, error) {
	pages, err := filepath.Glob(filepath.Join(checkout, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	for i, page := range pages {
		pages[i] = filepath.Join("docs", filepath.Base(page))
	}
	return append([]string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}, pages...), nil
}

// Blocks returns the blocks of all pages, in their order.
func Blocks(checkout string) ([]Block, error) {
	pages, err := Pages(checkout)
	if err != nil {
		return nil, err
	}
	var all []Block
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(checkout, page))
		if err != nil {
			return nil, fmt.Errorf("read a document: %w", err)
		}
		blocks, err := parse(page, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, blocks...)
	}
	return all, nil
}

const fence = "```"

func parse(page, text string) ([]Block, error) {
	var blocks []Block
	var open *Block
	section, numbers := "", map[string]int{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		language, fenced := strings.CutPrefix(strings.TrimSpace(line), fence)
		switch {
		case open != nil && fenced:
			if open.Language != "" {
				blocks = append(blocks, *open)
			}
			open = nil
		case open != nil:
			open.Text += line
		case fenced:
			open = &Block{Page: page, Section: section, Language: language, Line: number}
			if language != "" {
				numbers[section]++
				open.Number = numbers[section]
			}
		case strings.HasPrefix(line, "#"):
			section = strings.TrimSpace(strings.TrimLeft(line, "#"))
			if numbers[section] > 0 {
				return nil, fmt.Errorf("%s:%d: there is a section %q with commands already", page, number, section)
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s:%d: the block has no end", page, open.Line)
	}
	return blocks, nil
}

// find returns a block, or the blocks of a section or page.
func find(blocks []Block, name string) ([]Block, error) {
	var found []Block
	for _, block := range blocks {
		section := block.Page + "#" + block.Section
		if name == block.Name() || block.Commands() && (name == section || name == block.Page) {
			found = append(found, block)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no block %q", name)
	}
	return found, nil
}
