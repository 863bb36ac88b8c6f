package ownership

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Inherited are the keys of the labels that the objects of a Darkroom have in common with it.
// An operator that handles a part of the Darkrooms, a shard, selects them by these labels, and
// therefore caches the objects of its own Darkrooms only. The zero value has no keys.
type Inherited []string

// InheritedFor returns the keys that a selector of Darkrooms names. It fails for keys that have
// another meaning on the objects of a release.
func InheritedFor(selector labels.Selector) (Inherited, error) {
	if selector == nil {
		return nil, nil
	}
	requirements, _ := selector.Requirements()
	var keys Inherited
	for _, requirement := range requirements {
		key := requirement.Key()
		prefix, _, prefixed := strings.Cut(key, "/")
		switch {
		case prefixed && (prefix == "app.kubernetes.io" || prefix == "helm.sh" || prefix == v1alpha1.GroupVersion.Group),
			slices.Contains([]string{"name", "owner", "status", "version", "createdAt", "modifiedAt"}, key):
			return nil, fmt.Errorf("the objects of a Darkroom get the label from it, and there the chart or Helm sets %q: use another label, such as shard", key)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// From returns the inherited labels that a Darkroom has; nil if there are none.
func (i Inherited) From(darkroom metav1.Object) map[string]string {
	if len(i) == 0 {
		return nil
	}
	found := map[string]string{}
	i.Set(found, darkroom)
	return found
}

// Set sets the inherited labels among those of an object of a Darkroom, and removes those that
// the Darkroom lacks.
func (i Inherited) Set(labels map[string]string, darkroom metav1.Object) {
	for _, key := range i {
		if value, found := darkroom.GetLabels()[key]; found {
			labels[key] = value
		} else {
			delete(labels, key)
		}
	}
}

// Changes returns a merge patch of the labels of an object of a Darkroom that makes the
// inherited ones equal; nil if they are.
func (i Inherited) Changes(darkroom, object metav1.Object) map[string]any {
	var changes map[string]any
	change := func(key string, value any) {
		if changes == nil {
			changes = map[string]any{}
		}
		changes[key] = value
	}
	for _, key := range i {
		want, wanted := darkroom.GetLabels()[key]
		have, has := object.GetLabels()[key]
		switch {
		case wanted && (!has || have != want):
			change(key, want)
		case !wanted && has:
			change(key, nil)
		}
	}
	return changes
}
