package charts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

func TestEmbeddedChartIsTheChartInTheDirectory(t *testing.T) {
	fromDirectory, err := loader.Load(darkroomDir)
	if err != nil {
		t.Fatalf("load the chart's directory: %v", err)
	}
	// Unexported: the links between a chart and its dependencies. There are none.
	ignoreLinks := cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return name == ".parent" || name == ".dependencies"
	}, cmp.Ignore())
	if diff := cmp.Diff(fromDirectory, mustLoad(t), cmp.AllowUnexported(chart.Chart{}), ignoreLinks); diff != "" {
		t.Errorf("the embedded chart differs (-directory +embedded):\n%s", diff)
	}
}

func TestEachCallLoadsTheEmbeddedChartAgain(t *testing.T) {
	first := mustLoad(t)
	first.Values["replicaCount"] = "changed"
	first.Metadata.Version = "9.9.9"
	second := mustLoad(t)
	if second.Values["replicaCount"] == "changed" || second.Metadata.Version == "9.9.9" {
		t.Error("a change of one returned chart shows in the next")
	}
}

func TestChartLeavesOutWhatOnlyTheRepositoryNeeds(t *testing.T) {
	for _, file := range mustLoad(t).Raw {
		if strings.HasPrefix(file.Name, "ci/") || slices.Contains([]string{"README.md", ".helmignore"}, file.Name) {
			t.Errorf("%s is in the chart, and so in every release record of the cluster", file.Name)
		}
	}
}

func TestChartHasNoDependencies(t *testing.T) {
	// Helm changes the list of dependencies of a chart that several releases share.
	if dependencies := mustLoad(t).Metadata.Dependencies; len(dependencies) > 0 {
		t.Errorf("the chart has dependencies: %v", dependencies)
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
