package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bound matches what holds something for several callers: listeners, queues, pools, rates and caches.
// Channels without a buffer hold nothing.
var bound = regexp.MustCompile(
	`\.Listen\(ctx|semaphore\.NewWeighted\(|limit\.New(Shares|Rates)\(|lru\.New\(|NewLRUExpireCache|NewExpiring\(|` +
		`otter\.Must\(|\.SetLimit\(|workqueue\.New|make\(chan [^(),]+, |listen\.Bound\(|CacheOptions\(`)

// ownBounds are files whose queues, pools and caches nobody else uses, and why.
var ownBounds = map[string]string{
	"internal/plan/plan.go":              "a command of one person, who bounds their own requests",
	"internal/release/apply.go":          "the writes of one reconcile, which ends with them",
	"internal/release/uninstall.go":      "the deletions of one reconcile, which ends with them",
	"internal/apiserver/figures.go":      "the gates that one request asks, which ends with them",
	"internal/apiserver/live/lines.go":   "the end of one log",
	"internal/apiserver/manifest.go":     "the result of one rendering",
	"internal/apiserver/limit/shares.go": "the type; its users are listed",
	"internal/apiserver/limit/rates.go":  "the type; its users are listed",
	"internal/cmd/manager.go":            "calls the caches that are listed",
}

// TestEveryBoundIsListed compares the code with the table of listeners, queues, pools and caches in
// docs/security.md, whose last column names tests.
func TestEveryBoundIsListed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "### Listeners, queues, pools and caches")
	table, _, ended := strings.Cut(table, "\n### ")
	if !found || !ended {
		t.Fatal("docs/security.md has no section of listeners, queues, pools and caches")
	}
	listed := map[string]bool{}
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| manager") && !strings.HasPrefix(line, "| API server") &&
			!strings.HasPrefix(line, "| gate") {
			continue
		}
		if !strings.Contains(line, "`Test") {
			t.Errorf("no test holds %s", line)
		}
		for _, file := range regexp.MustCompile("`((?:internal|gate)/[^`]+\\.go)`").FindAllStringSubmatch(line, -1) {
			listed[file[1]] = true
		}
	}
	for _, folder := range []string{"internal", "gate"} {
		err := filepath.WalkDir(filepath.Join(repository, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(path, "/internal/testing/") {
				return err
			}
			code, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(repository, path)
			if err != nil {
				return err
			}
			is := bound.Match(code)
			if is && !listed[name] && ownBounds[name] == "" {
				t.Errorf("%s has %q, which docs/security.md does not list", name, bound.Find(code))
			}
			if !is && (listed[name] || ownBounds[name] != "") {
				t.Errorf("%s holds nothing for several callers any more", name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
