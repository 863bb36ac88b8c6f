package charts

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// cases are the value files of chart-testing, which installs each on a cluster.
func cases(t *testing.T) map[string]string {
	t.Helper()
	const suffix = "-values.yaml"
	files, err := filepath.Glob(filepath.Join(darkroomDir, "ci", "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no value files in the chart's ci directory")
	}
	found := map[string]string{}
	for _, file := range files {
		values, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimSuffix(filepath.Base(file), suffix)] = string(values)
	}
	return found
}

func TestGoldenManifests(t *testing.T) {
	dir := filepath.Join("testdata", "golden")
	values := cases(t)
	for name, values := range values {
		t.Run(name, func(t *testing.T) {
			rendered := render(t, values)
			decode(t, rendered)
			golden := filepath.Join(dir, name+".yaml")
			if *update {
				if err := os.WriteFile(golden, []byte(manifest(rendered)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v (go test ./helm-charts -update writes it)", err)
			}
			if diff := cmp.Diff(string(want), manifest(rendered)); diff != "" {
				t.Errorf("differs from %s; if intended, go test ./helm-charts -update (-want +got):\n%s", golden, diff)
			}
		})
	}
	t.Run("no golden file is left over", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if _, ok := values[strings.TrimSuffix(filepath.Base(file), ".yaml")]; !ok {
				t.Errorf("%s has no value file in the chart's ci directory", file)
			}
		}
	})
}

func TestRenderingTwiceIsIdentical(t *testing.T) {
	for name, values := range cases(t) {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(manifest(render(t, values)), manifest(render(t, values))); diff != "" {
				t.Errorf("every resync would be an upgrade (-first +second):\n%s", diff)
			}
		})
	}
}
