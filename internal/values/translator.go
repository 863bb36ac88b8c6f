package values

import (
	"slices"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Translator translates Darkrooms into chart values. It is safe for concurrent use.
type Translator struct {
	options Options
	// allowed are the annotations that are allowed on objects read by shared controllers.
	allowed allowList
	// inheritLabels and inheritAnnotations select the labels and annotations that objects and pods inherit from the
	// Darkroom.
	inheritLabels, inheritAnnotations allowList
}

// New returns a translator with the operator's options, or an error if they are invalid.
func New(options Options) (*Translator, error) {
	if options.BaseDomains == nil {
		options.BaseDomains = []string{DefaultBaseDomain}
	}
	if err := options.validate(); err != nil {
		return nil, err
	}
	// The API server rejects an object that lists a pull secret twice.
	options.ImagePullSecrets = slices.Compact(slices.Sorted(slices.Values(options.ImagePullSecrets)))
	allowed, err := newAllowed(options.AllowedAnnotations)
	if err != nil {
		return nil, err
	}
	labels, err := newInherited("label", options.InheritLabels)
	if err != nil {
		return nil, err
	}
	annotations, err := newInherited("annotation", options.InheritAnnotations)
	if err != nil {
		return nil, err
	}
	return &Translator{options, allowed, labels, annotations}, nil
}

// ClusterState is the input of the translation that depends on the cluster. The zero value is for previews.
type ClusterState struct {
	// RefusedHosts are hosts in the spec that other Darkrooms hold. They are not routed.
	RefusedHosts []string
	// CredentialsVersion changes with the data of referenced Secrets that the pods read. It must not disclose the data,
	// because more users can read pods than Secrets. Empty if no Secret is referenced or the version is unknown.
	CredentialsVersion string
}

// Values returns the chart values of a Darkroom, in the plain types of JSON and without the chart's defaults. The error
// is an *InvalidError that names every invalid field.
func (t *Translator) Values(darkroom *v1alpha1.Darkroom) (map[string]any, error) {
	return t.ValuesIn(darkroom, ClusterState{})
}

// ValuesIn returns the values for a given state of the cluster.
func (t *Translator) ValuesIn(darkroom *v1alpha1.Darkroom, state ClusterState) (map[string]any, error) {
	b := &builder{values: map[string]any{}}
	if b.size(&darkroom.Spec); len(b.errs) > 0 {
		return b.build(darkroom.Name)
	}
	// With Helm's convention (release-chart), the Darkrooms "a" and "a-darkroom" would have the same object names.
	b.set(darkroom.Name, "fullnameOverride")
	labels, annotations := t.inheritLabels.of(darkroom.Labels), t.inheritAnnotations.of(darkroom.Annotations)
	b.common(darkroom, labels, annotations)
	b.podMetadata(&darkroom.Spec, labels, annotations, state.CredentialsVersion)
	b.image(&darkroom.Spec, t.options)
	b.sources(&darkroom.Spec)
	b.hosts(darkroom, t.options, state.RefusedHosts)
	b.replicas(&darkroom.Spec)
	b.resources(darkroom.Spec.Resources, darkroom.Spec.Autoscaling != nil)
	b.settings(&darkroom.Spec)
	b.probe(darkroom.Spec.Probe)
	b.gate(&darkroom.Spec, t.options)
	b.routing(&darkroom.Spec, t.options, t.allowed)
	b.podTemplate(&darkroom.Spec, t.allowed)
	b.environment(&darkroom.Spec)
	b.proxy(t.options.Proxy)
	return b.build(darkroom.Name)
}
