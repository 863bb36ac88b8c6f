package docs

import (
	"slices"
	"testing"
)

func TestBlocksAreFoundByTheirSections(t *testing.T) {
	const page = "# A\n```sh\none\n```\n```\ndiagram\n```\n```yaml\n# no heading\n```\n1. list\n   ```console\n   $ two\n   ```\n## B\n```bash\nthree\n```\n"
	blocks, err := parse("p.md", page)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"p.md":     {"p.md#A/1", "p.md#A/3", "p.md#B/1"},
		"p.md#A":   {"p.md#A/1", "p.md#A/3"},
		"p.md#A/2": {"p.md#A/2"},
		"p.md#C":   nil,
	} {
		found, err := find(blocks, name)
		var names []string
		for _, block := range found {
			names = append(names, block.Name())
		}
		if !slices.Equal(names, want) || (err == nil) != (len(want) > 0) {
			t.Errorf("%s means %q, %v", name, names, err)
		}
	}
	for _, bad := range []string{"```sh\nno end\n", "# A\n```sh\n```\n# A\n"} {
		if blocks, err := parse("p.md", bad); err == nil {
			t.Errorf("%q is taken as %v", bad, blocks)
		}
	}
}
