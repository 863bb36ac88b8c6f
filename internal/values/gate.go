package values

import (
	"cmp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// gate writes the proxy beside Darkroom. Without it, no value is set, so that the pods are the
// same as with a chart that has no gate.
func (b *builder) gate(spec *v1alpha1.DarkroomSpec, options Options) {
	gate := spec.Gate
	b.caBundle(spec)
	if gate == nil {
		return
	}
	b.set(true, "gate", "enabled")
	if options.GateImage != "" {
		image := parseReference(options.GateImage)
		b.setString(image.repository, "gate", "image", "repository")
		b.setString(image.tag, "gate", "image", "tag")
		b.setString(image.digest, "gate", "image", "digest")
	}
	if spec.Image != nil {
		b.setString(string(spec.Image.PullPolicy), "gate", "image", "pullPolicy")
	}
	path := specPath.Child("gate")
	if gate.Limits != nil {
		b.gateLimits(path.Child("limits"), gate.Limits)
	}
	for name, parameters := range gate.Presets {
		b.set(string(parameters), "gate", "presets", name)
	}
	b.setTrue(gate.OnlyPresets, "gate", "onlyPresets")
	if cache := gate.Cache; cache != nil {
		if cache.Disk != nil {
			b.set(cache.Disk.Value(), "gate", "cache", "diskBytes")
		}
		setNumber(b, cache.RevalidateSeconds, "gate", "cache", "revalidateSeconds")
		setNumber(b, cache.StaleIfErrorSeconds, "gate", "cache", "staleIfErrorSeconds")
	}
	if gate.ShrinkFirst != nil {
		b.set(*gate.ShrinkFirst, "gate", "shrinkFirst")
	}
	b.setTrue(gate.AccessLog, "gate", "accessLog")
	if gate.Resources != nil {
		b.containerResources(path.Child("resources"), gate.Resources, gateDefaults, "gate", "resources")
	}
}

// caBundle mounts the certificates of private authorities into the gate, which reads the source.
func (b *builder) caBundle(spec *v1alpha1.DarkroomSpec) {
	if spec.Source.CABundleRef == nil {
		return
	}
	kind, name, key := CABundle(&spec.Source)
	b.set(string(kind), "source", "caBundle", "kind")
	b.set(name, "source", "caBundle", "name")
	b.set(key, "source", "caBundle", "key")
}

// CABundle returns where the certificates of private authorities are, after defaults; an empty
// name if there are none.
func CABundle(source *v1alpha1.Source) (kind v1alpha1.CABundleKind, name, key string) {
	ref := source.CABundleRef
	if ref == nil {
		return "", "", ""
	}
	return cmp.Or(ref.Kind, v1alpha1.CABundleConfigMap), ref.Name, cmp.Or(ref.Key, "ca.crt")
}

func (b *builder) gateLimits(path *field.Path, limits *v1alpha1.GateLimits) {
	setNumber(b, limits.MaxWidth, "gate", "limits", "maxWidth")
	setNumber(b, limits.MaxHeight, "gate", "limits", "maxHeight")
	setNumber(b, limits.MaxSourcePixels, "gate", "limits", "maxSourcePixels")
	if limits.MaxSourceBytes != nil {
		b.set(limits.MaxSourceBytes.Value(), "gate", "limits", "maxSourceBytes")
	}
	b.setPlain(limits.Parameters, path.Child("parameters"), "gate", "limits", "parameters")
}

// setNumber sets a number if it is given.
func setNumber[T int32 | int64](b *builder, number *T, keys ...string) {
	if number != nil {
		b.set(int64(*number), keys...)
	}
}
