package status

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func TestTransitionTimes(t *testing.T) {
	before, now := metav1.NewTime(noon), metav1.NewTime(noon.Add(time.Hour))
	since := func(conditionType string, status metav1.ConditionStatus) []v1alpha1.Condition {
		return []v1alpha1.Condition{{Type: conditionType, Status: status, LastTransitionTime: before}}
	}
	for name, test := range map[string]struct {
		current []v1alpha1.Condition
		want    metav1.Time
	}{
		"the first report":                     {nil, now},
		"another status":                       {since(v1alpha1.ConditionReady, no), now},
		"the same status":                      {since(v1alpha1.ConditionReady, yes), before},
		"the same status of another condition": {since(v1alpha1.ConditionDomainsReady, yes), now},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := []v1alpha1.Condition{{Type: v1alpha1.ConditionReady, Status: yes}}
			// The API server stores whole seconds, so a fraction would be written repeatedly.
			WithTransitionTimes(conditions, test.current, now.Add(123*time.Millisecond))
			if got := conditions[0].LastTransitionTime; !got.Time.Equal(test.want.Time) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestAStatusIsWrittenOnlyIfItChanged(t *testing.T) {
	said := func(changes ...func(*v1alpha1.DarkroomStatus)) v1alpha1.DarkroomStatus {
		status := Determine(seen(photos(), deployment(2)))
		WithTransitionTimes(status.Conditions, nil, noon)
		status.Conditions = append(status.Conditions, condition(v1alpha1.ConditionDeployed, yes, 2))
		status.DeployedRelease = &v1alpha1.DeployedRelease{Name: "photos"}
		for _, change := range changes {
			change(&status)
		}
		return status
	}
	for name, test := range map[string]struct {
		current v1alpha1.DarkroomStatus
		want    bool
	}{
		"the same":            {said(), false},
		"nothing before":      {v1alpha1.DarkroomStatus{}, true},
		"another message":     {said(func(s *v1alpha1.DarkroomStatus) { s.Message = "1 of 2 pods are ready." }), true},
		"without a condition": {said(func(s *v1alpha1.DarkroomStatus) { s.Conditions = s.Conditions[:1] }), true},
		"the same time in another zone": {said(func(s *v1alpha1.DarkroomStatus) {
			s.Conditions[0].LastTransitionTime.Time = s.Conditions[0].LastTransitionTime.In(time.FixedZone("", 3600))
		}), false},
		"another report of Helm": {said(func(s *v1alpha1.DarkroomStatus) {
			v1alpha1.FindCondition(s.Conditions, v1alpha1.ConditionDeployed).Status = no
		}), false},
		"a condition of another": {said(func(s *v1alpha1.DarkroomStatus) {
			s.Conditions = append(s.Conditions, condition("Foreign", yes, 2))
		}), false},
		"conditions in another order": {said(func(s *v1alpha1.DarkroomStatus) { slices.Reverse(s.Conditions) }), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := changed(said(), test.current); got != test.want {
				t.Errorf("changed: got %t, want %t", got, test.want)
			}
		})
	}
}

func TestApplyConfigurationIsThePartOfOneResource(t *testing.T) {
	darkroom := darkrooms.New("photos", "team-a").Generation(2).UID("0c5f").Label("team", "a").Obj()
	report := Determine(Observation{Darkroom: darkroom, Hosts: []string{host}})
	got, err := configurationOf(darkroom, &report)
	expect.NoError(t, err)
	var types []string
	for _, c := range report.Conditions {
		types = append(types, c.Type)
	}
	expect.Equal(t, "conditions", []string{"DomainsReady", "SourceReady", "Ready", "Reconciling"}, types)
	unstructured.RemoveNestedField(got.Object, "status", "conditions")
	expect.Equal(t, "the configuration", map[string]any{
		"apiVersion": "deployments.example.com/v1alpha1",
		"kind":       "Darkroom",
		// With the UID, the report cannot be applied to a recreated Darkroom of the same name.
		"metadata": map[string]any{"name": "photos", "namespace": "team-a", "uid": "0c5f"},
		"status": map[string]any{
			"observedGeneration": int64(2), "phase": "Pending", "message": "The release is not installed yet.",
			// These are written even if zero, because kubectl scale and autoscalers read them.
			"replicas": int64(0), "readyReplicas": int64(0),
		},
	}, got.Object)
}
