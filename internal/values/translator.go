package values

import (
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Translator turns Darkrooms into chart values. It is safe for concurrent use.
type Translator struct {
	options Options
	// allowed are the annotations of objects that shared controllers read.
	allowed allowList
}

// New returns a translator with the operator's options, or what is wrong with them.
func New(options Options) (*Translator, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	if options.BaseDomain == "" {
		options.BaseDomain = DefaultBaseDomain
	}
	// The API server refuses an object that names a pull secret twice.
	options.ImagePullSecrets = unique(options.ImagePullSecrets)
	allowed, err := newAllowList(options.AllowedAnnotations)
	if err != nil {
		return nil, err
	}
	return &Translator{options: options, allowed: allowed}, nil
}

// unique returns a list without repeated items, in its order.
func unique(items []string) []string {
	var out []string
	for _, item := range items {
		if !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

// ValuesIn is Values with the state of the cluster.
func (t *Translator) ValuesIn(darkroom *v1alpha1.Darkroom, state ClusterState) (chartutil.Values, error) {
	b := newBuilder()
	// Helm's convention (release-chart) would give the Darkrooms "a" and "a-darkroom" the same names.
	b.set(darkroom.Name, "fullnameOverride")
	b.set(map[string]any{v1alpha1.LabelDarkroom: darkroom.Name}, "commonLabels")
	b.image(&darkroom.Spec, t.options)
	b.source(&darkroom.Spec.Source)
	b.hosts(darkroom.Spec.SubDomains, t.options.BaseDomain, state.RefusedHosts)
	b.replicas(&darkroom.Spec)
	b.resources(darkroom.Spec.Resources, darkroom.Spec.Autoscaling != nil)
	b.serving(&darkroom.Spec)
	b.probe(darkroom.Spec.Probe)
	b.gate(&darkroom.Spec, t.options)
	b.routing(&darkroom.Spec, t.options, t.allowed)
	b.podTemplate(&darkroom.Spec, state.CredentialsVersion, t.allowed)
	b.environment(&darkroom.Spec)
	b.proxy(t.options.Proxy)
	return b.build(darkroom.Name)
}
