package values

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// inheritance selects the labels and annotations of a Darkroom that its objects and pods get too.
type inheritance struct{ labels, annotations allowList }

func newInheritance(options Options) (inheritance, error) {
	labels, err := newInherited("label", options.InheritLabels)
	if err != nil {
		return inheritance{}, err
	}
	annotations, err := newInherited("annotation", options.InheritAnnotations)
	return inheritance{labels, annotations}, err
}

// newInherited parses the entries of Options.InheritLabels or InheritAnnotations.
func newInherited(what string, entries []string) (allowList, error) {
	list := allowList{keys: map[string]bool{}}
	for _, entry := range entries {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		if strings.HasPrefix(entry, "*") {
			return allowList{}, fmt.Errorf("inherited %s %q: name the keys, or a prefix such as example.com/*: all would include those of other tools", what, entry)
		}
		if neverInherited(entry, "") {
			return allowList{}, fmt.Errorf("inherited %s %q: cannot be inherited: Helm, kubectl or the operator identify their objects by it", what, entry)
		}
		if err := list.add(entry); err != nil {
			return allowList{}, fmt.Errorf("inherited %s %q: must be a key such as example.com/team, or a prefix that ends in '*': %w", what, entry, err)
		}
	}
	return list, nil
}

var errNoKey = errors.New("it is neither")

// neverInherited reports whether a label or annotation means something to Helm, kubectl or the
// operator on the object that has it. Helm's own Secrets have the label owner: helm.
func neverInherited(key, value string) bool {
	return reserved(key) || strings.HasPrefix(key, "kubectl.kubernetes.io/") ||
		key == annotationIngressClass || key == "owner" && value == "helm"
}

// of returns the entries of a map that a list selects.
func (l allowList) of(all map[string]string) map[string]string {
	selected := map[string]string{}
	for key, value := range all {
		if l.allows(key) && !neverInherited(key, value) {
			selected[key] = value
		}
	}
	return selected
}

// common sets the labels and annotations of all objects: the label of the Darkroom, and those
// that it hands down.
func (b *builder) common(darkroom *v1alpha1.Darkroom, labels, annotations map[string]string) {
	all := map[string]any{}
	for key, value := range labels {
		all[key] = value
	}
	all[v1alpha1.LabelDarkroom] = darkroom.Name
	b.set(all, "commonLabels")
	b.setPlain(annotations, field.NewPath("metadata", "annotations"), "commonAnnotations")
}
