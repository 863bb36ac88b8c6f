package metrics

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestDarkroomsAreCountedByPhaseAndSource(t *testing.T) {
	ready := darkrooms.New("ready", "a").Condition(v1alpha1.Condition{Type: v1alpha1.ConditionReady, Status: "True"}).Obj()
	ready.Status.Phase = v1alpha1.PhaseReady
	conflict := darkrooms.New("conflict", "a").Condition(v1alpha1.Condition{
		Type: v1alpha1.ConditionDomainsReady, Status: "False", Reason: v1alpha1.ReasonDomainConflict,
	}).Obj()
	conflict.Status.Phase = v1alpha1.PhaseDegraded
	missing := darkrooms.New("missing", "b").S3("pictures", "eu-west-2").CredentialsSecret("keys").Condition(v1alpha1.Condition{
		Type: v1alpha1.ConditionCredentialsReady, Status: "False", Reason: v1alpha1.ReasonSecretMissing,
	}).Obj()
	missing.Status.Phase = v1alpha1.PhaseDegraded
	seen := darkrooms.New("seen", "b").Obj()
	ready.Annotations = map[string]string{v1alpha1.AnnotationInstallation: "own"}
	others := darkrooms.New("others", "c").Obj()
	others.Annotations = map[string]string{v1alpha1.AnnotationInstallation: "another"}
	others.Status.ObservedGeneration = others.Generation
	orphan := darkrooms.New("orphan", "c").Generation(2).Obj()
	orphan.Annotations = map[string]string{v1alpha1.AnnotationInstallation: "gone"}
	reader := fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(ready, conflict, missing, seen, others, orphan).Build()

	leads := false
	fleet := &Fleet{Darkrooms: reader, Leads: func() bool { return leads }, Installation: "own"}
	if got := figures(t, fleet); len(got) != 0 {
		t.Errorf("one that stands by tells %v", got)
	}
	leads = true
	want := map[string]float64{
		"darkroom_operator_credentials_missing":                            1,
		"darkroom_operator_darkrooms phase=Degraded source_type=S3":        1,
		"darkroom_operator_darkrooms phase=Degraded source_type=WebFolder": 1,
		"darkroom_operator_darkrooms phase=Pending source_type=WebFolder":  1,
		"darkroom_operator_darkrooms phase=Ready source_type=WebFolder":    1,
		"darkroom_operator_darkrooms_ready":                                1,
		"darkroom_operator_domain_conflicts":                               1,
		"darkroom_operator_other_installation_darkrooms":                   2,
		"darkroom_operator_unhandled_darkrooms":                            1,
	}
	if diff := cmp.Diff(want, figures(t, fleet)); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// figures are what a collector tells: name and labels → value.
func figures(t *testing.T, collector prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(collector); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return flatten(families)
}

// flatten returns the values of families: name and labels → value.
func flatten(families []*dto.MetricFamily) map[string]float64 {
	out := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetName() + "=" + label.GetValue()
			}
			out[name] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	return out
}

// testScheme has the types that metrics are made of.
func testScheme(tb testing.TB) *runtime.Scheme {
	tb.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, appsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			tb.Fatal(err)
		}
	}
	return scheme
}

func TestOperationsAreCounted(t *testing.T) {
	m := New("1", "2")
	m.Operated(Install, time.Now(), nil)
	m.Operated(Upgrade, time.Now(), errors.New("failed"))
	m.Repaired()
	m.RepairFailed()
	want := map[string]float64{}
	for labels, count := range map[[2]string]float64{
		{Install, success}: 1, {Install, failure}: 0, {Upgrade, success}: 0, {Upgrade, failure}: 1,
		{Repair, success}: 1, {Repair, failure}: 1, {Uninstall, success}: 0, {Uninstall, failure}: 0,
	} {
		want["darkroom_operator_release_operations_total operation="+labels[0]+" result="+labels[1]] = count
	}
	if diff := cmp.Diff(want, figures(t, m.operations)); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]float64{"darkroom_operator_drift_repairs_total": 1}, figures(t, m.repairs)); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}
