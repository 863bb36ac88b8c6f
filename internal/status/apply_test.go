package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestTransitionTimes(t *testing.T) {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	before, now := metav1.NewTime(noon), noon.Add(time.Hour)
	ready := func(status metav1.ConditionStatus, since metav1.Time) v1alpha1.Condition {
		return v1alpha1.Condition{Type: v1alpha1.ConditionReady, Status: status, LastTransitionTime: since}
	}
	for name, test := range map[string]struct {
		current []v1alpha1.Condition
		want    metav1.Time
	}{
		"the first report": {nil, metav1.NewTime(now)},
		"another status":   {[]v1alpha1.Condition{ready(no, before)}, metav1.NewTime(now)},
		"the same status":  {[]v1alpha1.Condition{ready(yes, before)}, before},
		"the same status of another condition": {
			[]v1alpha1.Condition{{Type: v1alpha1.ConditionDomainsReady, Status: yes, LastTransitionTime: before}}, metav1.NewTime(now),
		},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := []v1alpha1.Condition{ready(yes, metav1.Time{})}
			WithTransitionTimes(conditions, test.current, now)
			if diff := cmp.Diff(test.want, conditions[0].LastTransitionTime); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a time is as the API server keeps it, in whole seconds", func(t *testing.T) {
		conditions := []v1alpha1.Condition{ready(yes, metav1.Time{})}
		WithTransitionTimes(conditions, nil, now.Add(123*time.Millisecond))
		if got := conditions[0].LastTransitionTime; got.Nanosecond() != 0 {
			t.Errorf("%v would differ from what is read back, and be written again", got)
		}
	})
}

func TestOnlyNewsIsWritten(t *testing.T) {
	said := func(changes ...func(*v1alpha1.DarkroomStatus)) v1alpha1.DarkroomStatus {
		status := Determine(Observation{Darkroom: photos().Obj(), Hosts: []string{host}, Deployment: deployment(2), Ingress: ingress(host)})
		WithTransitionTimes(status.Conditions, nil, noon)
		status.Conditions = append(status.Conditions, condition(v1alpha1.ConditionDeployed, metav1.ConditionTrue, 2))
		status.DeployedRelease = &v1alpha1.DeployedRelease{Name: "photos"}
		for _, change := range changes {
			change(&status)
		}
		return status
	}
	type change = func(*v1alpha1.DarkroomStatus)
	for name, test := range map[string]struct {
		current v1alpha1.DarkroomStatus
		want    bool
	}{
		"the same":            {said(), false},
		"nothing before":      {v1alpha1.DarkroomStatus{}, true},
		"another message":     {said(change(func(s *v1alpha1.DarkroomStatus) { s.Message = "1 of 2 pods are ready." })), true},
		"without a condition": {said(change(func(s *v1alpha1.DarkroomStatus) { s.Conditions = s.Conditions[:1] })), true},
		"the same time in another zone": {said(change(func(s *v1alpha1.DarkroomStatus) {
			s.Conditions[0].LastTransitionTime.Time = s.Conditions[0].LastTransitionTime.In(time.FixedZone("", 3600))
		})), false},
		"another report of Helm": {said(change(func(s *v1alpha1.DarkroomStatus) { s.Conditions[3].Status = metav1.ConditionFalse })), true},
		"a condition of another": {said(change(func(s *v1alpha1.DarkroomStatus) {
			s.Conditions = append(s.Conditions, condition("Foreign", metav1.ConditionTrue, 2))
		})), false},
		"conditions in another order": {said(change(func(s *v1alpha1.DarkroomStatus) {
			s.Conditions = []v1alpha1.Condition{s.Conditions[2], s.Conditions[3], s.Conditions[1], s.Conditions[0]}
		})), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := changed(said(), test.current); got != test.want {
				t.Errorf("want written: %t, got %t", test.want, got)
			}
		})
	}
}

func TestApplyConfigurationIsThePartOfOneResource(t *testing.T) {
	darkroom := darkrooms.New("photos", "team-a").Generation(2).UID("0c5f").Label("team", "a").Obj()
	report := Determine(Observation{Darkroom: darkroom, Hosts: []string{host}})
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&report)
	if err != nil {
		t.Fatal(err)
	}
	got := applyConfiguration(darkroom, map[string]any{"status": fields})
	want := map[string]any{
		"apiVersion": "deployments.example.com/v1alpha1",
		"kind":       "Darkroom",
		// The UID keeps the report off a Darkroom recreated under the same name.
		"metadata": map[string]any{"name": "photos", "namespace": "team-a", "uid": "0c5f"},
		"status": map[string]any{
			"observedGeneration": int64(2),
			"phase":              "Pending",
			"message":            "Nothing is installed yet.",
			// Written when zero too: kubectl scale and autoscalers read them.
			"replicas":      int64(0),
			"readyReplicas": int64(0),
		},
	}
	conditions, _ := got.Object["status"].(map[string]any)["conditions"].([]any)
	var types []any
	for _, c := range conditions {
		types = append(types, c.(map[string]any)["type"])
	}
	if diff := cmp.Diff([]any{"DomainsReady", "SourceReady", "Ready", "Reconciling"}, types); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	delete(got.Object["status"].(map[string]any), "conditions")
	if diff := cmp.Diff(want, got.Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
