package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// block is a fenced code block of a document.
type block struct {
	// page is the document, such as docs/install.md.
	page string
	// section is the heading above.
	section string
	// number counts the blocks of a section that have a language, from 1.
	number int
	// language is the info string of the fence.
	language string
	text     string
}

// String returns the name by which scenarios refer to the block, such as docs/install.md#Helm/2.
func (b block) String() string { return fmt.Sprintf("%s#%s/%d", b.page, b.section, b.number) }

// isCommands reports whether the block contains commands, as opposed to a manifest.
func (b block) isCommands() bool {
	return slices.Contains([]string{"sh", "bash", "shell", "console"}, b.language)
}

// allPages are the documents of a checkout whose commands are run.
func allPages(checkout string) ([]string, error) {
	pages, err := filepath.Glob(filepath.Join(checkout, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	for i, page := range pages {
		pages[i] = filepath.Join("docs", filepath.Base(page))
	}
	return append([]string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}, pages...), nil
}

// allBlocks returns the blocks of all pages in order.
func allBlocks(checkout string) ([]block, error) {
	pages, err := allPages(checkout)
	if err != nil {
		return nil, err
	}
	var all []block
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

func parse(page, text string) ([]block, error) {
	var blocks []block
	var open *block
	section, numbers := "", map[string]int{}
	for line := range strings.Lines(text) {
		language, fenced := strings.CutPrefix(strings.TrimSpace(line), fence)
		switch {
		case open != nil && fenced:
			if open.language != "" {
				blocks = append(blocks, *open)
			}
			open = nil
		case open != nil:
			open.text += line
		case fenced:
			open = &block{page: page, section: section, language: language}
			if language != "" {
				numbers[section]++
				open.number = numbers[section]
			}
		case strings.HasPrefix(line, "#"):
			section = strings.TrimSpace(strings.TrimLeft(line, "#"))
			if numbers[section] > 0 {
				return nil, fmt.Errorf("%s: there are two sections %q with commands", page, section)
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s has no end", open)
	}
	return blocks, nil
}

// find returns a block, or the blocks of a section or page.
func find(blocks []block, name string) ([]block, error) {
	var found []block
	for _, block := range blocks {
		section := block.page + "#" + block.section
		if name == block.String() || block.isCommands() && (name == section || name == block.page) {
			found = append(found, block)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no block %q", name)
	}
	return found, nil
}
