package revision

import (
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

func TestTheLastWriterOfTheSpecIsTheAuthor(t *testing.T) {
	entry := func(manager, subresource, fields string, second int64) metav1.ManagedFieldsEntry {
		at := metav1.NewTime(time.Unix(second, 0))
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields), Time: &at}
	}
	entries := []metav1.ManagedFieldsEntry{
		entry("kubectl-create", "", `{"f:spec":{"f:source":{}}}`, 1),
		entry("kubectl", "", `{"f:spec":{"f:replicas":{}}}`, 3),
		entry("darkroom-page:alice", "", `{"f:metadata":{},"f:spec":{"f:version":{}}}`, 2),
		entry("darkroom-status", "status", `{"f:status":{}}`, 5),
		entry("darkroom-operator", "", `{"f:metadata":{"f:finalizers":{}}}`, 6),
		{Manager: "without-fields"},
	}
	last := LastWriter(entries)
	if len(last) != 1 || last[0].Manager != "kubectl" || last[0].FieldsV1.GetRawString() != `{"f:spec":{}}` {
		t.Fatalf("the last writer is %+v", last)
	}
	if again := LastWriter(last); len(again) != 1 || again[0].Manager != "kubectl" {
		t.Errorf("the cached writer is %+v", again)
	}
	if none := LastWriter(entries[3:]); none != nil {
		t.Errorf("without a writer of the spec it is %+v", none)
	}
}
