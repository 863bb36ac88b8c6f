package charts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

func TestEmbeddedChartIsTheChartInTheDirectory(t *testing.T) {
	fromDirectory, err := loader.Load(darkroomDir)
	if err != nil {
		t.Fatalf("load the chart's directory: %v", err)
	}
	// Unexported are the links between a chart and its dependencies. There are none.
	if diff := cmp.Diff(fromDirectory, mustLoad(t), cmpopts.IgnoreUnexported(chart.Chart{})); diff != "" {
		t.Errorf("the embedded chart differs (-directory +embedded):\n%s", diff)
	}
}

func TestChartLeavesOutWhatOnlyTheRepositoryNeeds(t *testing.T) {
	chart := mustLoad(t)
	// Helm changes the list of dependencies of a chart that several releases share.
	if dependencies := chart.Metadata.Dependencies; len(dependencies) > 0 {
		t.Errorf("the chart has dependencies: %v", dependencies)
	}
	for _, file := range chart.Raw {
		if strings.HasPrefix(file.Name, "ci/") || slices.Contains([]string{"README.md", ".helmignore"}, file.Name) {
			t.Errorf("%s is in the chart, and so in every release record of the cluster", file.Name)
		}
	}
}

func mustLoad(t *testing.T) *chart.Chart {
	t.Helper()
	darkroom, err := Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	return darkroom
}
