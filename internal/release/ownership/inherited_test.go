package ownership

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestObjectsInheritTheLabelsOfTheSelector(t *testing.T) {
	for selector, want := range map[string]Inherited{
		"":                                  nil,
		"shard=a":                           {"shard"},
		"!shard":                            {"shard"},
		"tenant in (cats,dogs),shard!=b":    {"shard", "tenant"},
		"example.com/shard=a,example.com/x": {"example.com/shard", "example.com/x"},
		"shard!=a,shard!=b":                 {"shard"},
	} {
		parsed, err := labels.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := InheritedFor(parsed); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: inherited are %v (%v), want %v", selector, got, err, want)
		}
	}
	if got, err := InheritedFor(nil); err != nil || got != nil {
		t.Errorf("no selector: inherited are %v (%v)", got, err)
	}
}

// Helm finds releases by some labels of their Secrets, and the chart sets others.
func TestLabelsWithAnotherMeaningAreNotInherited(t *testing.T) {
	for _, selector := range []string{
		"name=photos", "owner=me", "status", "!version", "createdAt", "modifiedAt",
		"app.kubernetes.io/name=darkroom", "helm.sh/chart", "deployments.example.com/darkroom=photos",
	} {
		parsed, err := labels.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := InheritedFor(parsed); err == nil {
			t.Errorf("%q: inherited are %v", selector, got)
		}
	}
}

func TestChangesMakeInheritedLabelsEqual(t *testing.T) {
	inherited := Inherited{"shard", "tenant"}
	for name, test := range map[string]struct {
		darkroom, object map[string]string
		want             map[string]any
	}{
		"equal":           {map[string]string{"shard": "a", "team": "x"}, map[string]string{"shard": "a", "team": "y"}, nil},
		"none":            {nil, nil, nil},
		"missing":         {map[string]string{"shard": "a"}, nil, map[string]any{"shard": "a"}},
		"missing, empty":  {map[string]string{"shard": ""}, nil, map[string]any{"shard": ""}},
		"another":         {map[string]string{"shard": "b"}, map[string]string{"shard": "a"}, map[string]any{"shard": "b"}},
		"removed":         {nil, map[string]string{"shard": "a"}, map[string]any{"shard": nil}},
		"several at once": {map[string]string{"shard": "b"}, map[string]string{"tenant": "cats"}, map[string]any{"shard": "b", "tenant": nil}},
	} {
		darkroom, object := &metav1.ObjectMeta{Labels: test.darkroom}, &metav1.ObjectMeta{Labels: test.object}
		got := inherited.Changes(darkroom, object)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: changes are %v, want %v", name, got, test.want)
		}
		after := maps.Clone(test.object)
		if after == nil {
			after = map[string]string{}
		}
		inherited.Set(after, darkroom)
		if left := inherited.Changes(darkroom, &metav1.ObjectMeta{Labels: after}); left != nil {
			t.Errorf("%s: Set left %v", name, left)
		}
	}
}
