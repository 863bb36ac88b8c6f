package charts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func TestEmbeddedChartIsTheChartInTheDirectory(t *testing.T) {
	fromDirectory, err := loader.Load(darkroomDir)
	if err != nil {
		t.Fatalf("load the chart's directory: %v", err)
	}
	// The links between a chart and its dependencies are unexported. This chart has none.
	expect.Equal(t, "the embedded chart", fromDirectory, mustLoad(t), cmpopts.IgnoreUnexported(chart.Chart{}))
}

func TestChartLeavesOutWhatOnlyTheRepositoryNeeds(t *testing.T) {
	chart := mustLoad(t)
	// Helm modifies the list of dependencies of a chart that several releases share.
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
	expect.NoError(t, err)
	return darkroom
}
