package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	target = regexp.MustCompile(`(?m)^([a-z0-9-]+(?: [a-z0-9-]+)*):`)
	// code is a code block, or code within a line.
	code  = regexp.MustCompile("(?s)```.*?```|`[^`]+`")
	makes = regexp.MustCompile(`(?m)(?:^|[\x60$&;(] ?)make((?: [a-z][a-z0-9-]*\b)+)`)
)

// eachPage reads the documents.
func eachPage(t *testing.T, check func(page, text string)) {
	t.Helper()
	pages, err := allPages(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(repository, page))
		if err != nil {
			t.Fatal(err)
		}
		check(page, string(text))
	}
}

// TestDocumentsNameTargetsThatExist also reads code within sentences.
func TestDocumentsNameTargetsThatExist(t *testing.T) {
	makefiles, err := filepath.Glob(filepath.Join(repository, "make", "*.mk"))
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, makefile := range append(makefiles, filepath.Join(repository, "Makefile")) {
		rules, err := os.ReadFile(makefile)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range target.FindAllStringSubmatch(string(rules), -1) {
			targets = append(targets, strings.Fields(match[1])...)
		}
	}
	eachPage(t, func(page, text string) {
		for _, quoted := range code.FindAllString(text, -1) {
			for _, match := range makes.FindAllStringSubmatch(quoted, -1) {
				for _, name := range strings.Fields(match[1]) {
					if !slices.Contains(targets, name) {
						t.Errorf("%s: there is no target %q in Makefile or make/*.mk, which %s names", page, name, quoted)
					}
				}
			}
		}
	})
}

var (
	testName = regexp.MustCompile(`\bTest[A-Z]\w+`)
	testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestDocumentsNameTestsThatExist checks that tests named in the documents exist.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	exists := map[string]bool{}
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"node_modules", "bin", ".git", ".demo"}, entry.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, match := range testFunc.FindAllStringSubmatch(string(text), -1) {
			exists[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	eachPage(t, func(page, text string) {
		for _, name := range testName.FindAllString(text, -1) {
			if !exists[name] {
				t.Errorf("%s names %s, which does not exist", page, name)
			}
		}
	})
}

var (
	// fileName is the name of a file in code, with a folder or without one.
	fileName = regexp.MustCompile(
		"`(?:\\./)?([A-Za-z0-9_.][A-Za-z0-9_./-]*\\.(?:go|md|yaml|yml|json|ts|tsx|sh|tpl|mk|mod|toml))`",
	)
	// pathName is code that is a path, perhaps of a folder.
	pathName = regexp.MustCompile("`([^`\\s]+/[^`\\s]*)`")
)

// madeElsewhere are names of files that users or programs create.
var madeElsewhere = []string{"hosts.toml", "install.yaml", "monitoring.yaml", "oidc.yaml"}

// TestDocumentsNameFilesThatExist takes a name in a row of a table for one in the folders of the row, if it has some,
// and any other for the end of a path.
func TestDocumentsNameFilesThatExist(t *testing.T) {
	var files []string
	err := filepath.WalkDir(repository, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{"node_modules", "bin", ".git", ".demo"}, entry.Name()) {
			return filepath.SkipDir
		}
		files = append(files, strings.TrimPrefix(filepath.ToSlash(file), repository))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	eachPage(t, func(page, text string) {
		for line := range strings.Lines(text) {
			folders := []string{"/"}
			for _, match := range pathName.FindAllStringSubmatch(line, -1) {
				folders = append(folders, "/"+strings.TrimSuffix(match[1], "/"), "/"+filepath.Dir(match[1]))
			}
			inRow := strings.HasPrefix(line, "|") && slices.ContainsFunc(folders[1:],
				func(folder string) bool { return slices.Contains(files, folder) })
			for _, match := range fileName.FindAllStringSubmatch(line, -1) {
				found := func(file string) bool { return strings.HasSuffix(file, "/"+match[1]) }
				if inRow && !strings.Contains(match[1], "/") {
					found = func(file string) bool {
						return slices.Contains(folders, filepath.Dir(file)) && filepath.Base(file) == match[1]
					}
				}
				if !slices.ContainsFunc(files, found) && !slices.Contains(madeElsewhere, match[1]) {
					t.Errorf("%s names %s, which does not exist: %s", page, match[1], strings.TrimSpace(line))
				}
			}
		}
	})
}
