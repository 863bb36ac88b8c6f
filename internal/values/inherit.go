package values

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// newInherited parses the entries of Options.InheritLabels or InheritAnnotations.
func newInherited(what string, entries []string) (allowList, error) {
	return newAllowList("inherited "+what, entries, func(key string) string {
		switch {
		case key == "":
			return "name the keys or a prefix such as example.com/*: inheriting all would include keys set by other tools"
		case neverInherited(key, ""):
			return "cannot be inherited because Helm, kubectl, the operator or GitOps tools identify their objects by it, and may " +
				"delete objects that they did not create"
		}
		return ""
	})
}

// trackers are prefixes of labels and annotations by which tools identify the objects that they created. A tool deletes
// such objects if they are not in its source, and would delete the operator's objects if they inherited these keys.
var trackers = []string{
	"addonmanager.kubernetes.io/", "app.kubernetes.io/", "applyset.kubernetes.io/", "argocd.argoproj.io/",
	"config.k8s.io/", "configsync.gke.io/", "fluxcd.controlplane.io/", "helm.toolkit.fluxcd.io/", "kapp.k14s.io/",
	"kubectl.kubernetes.io/", "kustomize.toolkit.fluxcd.io/", "objectset.rio.cattle.io/",
	"resourceset.fluxcd.controlplane.io/",
}

// neverInherited reports whether Helm, kubectl, the operator or a GitOps tool interprets a label or annotation on an
// object. Helm's own Secrets have the label owner: helm.
func neverInherited(key, value string) bool {
	return reserved(key) || key == annotationIngressClass || key == "owner" && value == "helm" ||
		slices.ContainsFunc(trackers, func(prefix string) bool { return strings.HasPrefix(strings.ToLower(key), prefix) })
}

// of returns the entries of a map whose keys are on the list and may be inherited.
func (l allowList) of(all map[string]string) map[string]string {
	selected := map[string]string{}
	for key, value := range all {
		if l.allows(key) && !neverInherited(key, value) {
			selected[key] = value
		}
	}
	return selected
}

// common sets the labels and annotations of all objects: the Darkroom label and the inherited ones.
func (b *builder) common(darkroom *v1alpha1.Darkroom, labels, annotations map[string]string) {
	all := map[string]any{}
	for key, value := range labels {
		all[key] = value
	}
	all[v1alpha1.LabelDarkroom] = darkroom.Name
	b.set(all, "commonLabels")
	b.setPlain(annotations, field.NewPath("metadata", "annotations"), "commonAnnotations")
}
