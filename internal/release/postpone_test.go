package release

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
)

func TestOnlyRolloutsThatTheOperatorBeganCount(t *testing.T) {
	for name, test := range map[string]struct {
		mark     string
		revision string
		complete bool
		want     bool
	}{
		"that its controller has not seen":       {mark: `{"revision":4}`, revision: "3", want: true},
		"that its controller has begun":          {mark: `{"revision":4}`, revision: "4", want: true},
		"of a cluster without revisions":         {mark: `{"revision":1}`, want: true},
		"that is complete":                       {mark: `{"revision":4}`, revision: "4", complete: true},
		"that a restart by a user has replaced":  {mark: `{"revision":4}`, revision: "5"},
		"of a user":                              {mark: `{"template":"a"}`, revision: "1"},
		"of an operator that writes no mark":     {revision: "1"},
		"whose mark was edited to something odd": {mark: `[]`, revision: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := deploymentOf(test.complete, "")
			deployment.Annotations = map[string]string{
				v1alpha1.AnnotationRollout: test.mark, drift.AnnotationRevision: test.revision,
			}
			if got := RollsForOperator(deployment); got != test.want {
				t.Errorf("counts: got %t, want %t", got, test.want)
			}
		})
	}
}

func TestAChangeOfThePodTemplateIsTheOperatorsUnlessUsersChangedSomething(t *testing.T) {
	desired := func(image string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "photos"},
			"spec": map[string]any{"template": map[string]any{"image": image}},
		}}
	}
	// The live Deployment has the image v1. It was applied for generation 3 and the inputs a.
	for name, test := range map[string]struct {
		image      string
		generation int64
		inputs     string
		// deployed is the generation that the condition Deployed reports.
		deployed int64
		unmarked bool
		want     bool
	}{
		"another default image":                     {image: "v2", generation: 3, inputs: "a", deployed: 3, want: true},
		"another one after a failure":               {image: "v2", generation: 3, inputs: "a", want: true},
		"another one after a change of other parts": {image: "v2", generation: 4, inputs: "a", deployed: 4, want: true},
		"nothing of the pods":                       {image: "v1", generation: 3, inputs: "a", deployed: 3},
		"a user's spec":                             {image: "v2", generation: 4, inputs: "a", deployed: 3},
		"a user's labels or credentials":            {image: "v2", generation: 3, inputs: "b", deployed: 3},
		"the first mark": {
			image: "v2", generation: 3, inputs: "a", deployed: 3, unmarked: true, want: true,
		},
		"the first mark, with a user's spec": {image: "v2", generation: 4, inputs: "a", deployed: 3, unmarked: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := clientWith(nil)
			c.darkroom.Generation, c.Inputs = 3, "a"
			live := deploymentOf(true, "")
			if !test.unmarked {
				live.Annotations = c.marked(desired("v1"), nil).GetAnnotations()
			}
			c.darkroom.Generation, c.Inputs = test.generation, test.inputs
			if test.deployed > 0 {
				c.darkroom.Status.Conditions = []v1alpha1.Condition{{
					Type: v1alpha1.ConditionDeployed, Status: metav1.ConditionTrue, ObservedGeneration: test.deployed,
				}}
			}
			if got := c.isOperatorsChange(desired(test.image), live); got != test.want {
				t.Errorf("the operator's change: got %t, want %t", got, test.want)
			}
			live.Annotations = c.marked(desired(test.image), live).GetAnnotations()
			if began := markOf(live).Revision != 0; began != test.want {
				t.Errorf("marked as a rollout of the operator: got %t, want %t", began, test.want)
			}
			if c.isOperatorsChange(desired(test.image), live) {
				t.Error("the operator's change after it was applied: got true, want false")
			}
		})
	}
}
