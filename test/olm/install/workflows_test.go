package install

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"
)

// builds matches commands and actions that run code of packages, modules or Dockerfiles.
var builds = regexp.MustCompile(
	`(^|[\s;&|(/])(make|npm|npx|go|goreleaser|docker (build|buildx))\s|` +
		`hack/(images|release|bundle|snapshot|operand)\.sh|actions/setup-(go|node)|docker/(build|setup)`,
)

// TestNothingIsBuiltWithRights checks all jobs of all workflows. Jobs that may publish or sign run no code that comes
// from a build.
func TestNothingIsBuiltWithRights(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, ".github", "workflows", "*.yaml"))
	must(t, err)
	publishing := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		var workflow struct {
			Permissions map[string]string `json:"permissions"`
			Jobs        map[string]struct {
				Permissions map[string]string `json:"permissions"`
				Steps       []struct {
					Uses string `json:"uses"`
					Run  string `json:"run"`
				} `json:"steps"`
			} `json:"jobs"`
		}
		must(t, yaml.Unmarshal(text, &workflow))
		for right, value := range workflow.Permissions {
			if value != "read" {
				t.Errorf("%s: all jobs may %s %s", filepath.Base(file), value, right)
			}
		}
		for name, job := range workflow.Jobs {
			mayPublish := false
			for _, right := range []string{"contents", "packages", "id-token", "attestations"} {
				mayPublish = mayPublish || job.Permissions[right] == "write"
			}
			if !mayPublish {
				continue
			}
			publishing++
			for _, step := range job.Steps {
				if found := builds.FindString(step.Uses + "\n" + step.Run + "\n"); found != "" {
					t.Errorf("%s: job %s has the permissions %v and builds: %q", filepath.Base(file), name, job.Permissions, found)
				}
			}
		}
	}
	if publishing == 0 {
		t.Error("no job publishes anything")
	}
}
