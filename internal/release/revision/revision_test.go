package revision

import (
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
)

func TestASummaryKeepsNoChartNoValuesAndNoManifest(t *testing.T) {
	whole := &helmrelease.Release{
		Name: "photos", Version: 3, Chart: &chart.Chart{Values: map[string]any{"replicas": 1}}, Manifest: "kind: Secret", Config: map[string]any{"secretKey": "s"},
		Hooks: []*helmrelease.Hook{{}}, Info: &helmrelease.Info{Status: helmrelease.StatusDeployed, Notes: "Installed.\nRead on."},
	}
	summary := Summary(whole)
	if summary.Chart != nil || summary.Config != nil || summary.Hooks != nil || summary.Manifest != digest.Identity("kind: Secret") || summary.Info.Notes != "Installed." {
		t.Errorf("the summary is %+v", summary)
	}
	summary.SetStatus(helmrelease.StatusFailed, "")
	if whole.Info.Status != helmrelease.StatusDeployed || whole.Config == nil || whole.Info.Notes != "Installed.\nRead on." {
		t.Error("the release was changed with its summary")
	}
}
