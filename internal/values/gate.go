package values

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
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
	if gate.OnlyPresets {
		if spec.Probe != nil {
			b.errs = append(b.errs, field.Forbidden(path.Child("onlyPresets"), "cannot be combined with probe, which requests w=16"))
		}
		b.set(true, "gate", "onlyPresets")
	}
	if cache := gate.Cache; cache != nil {
		path := path.Child("cache")
		if cache.Disk != nil {
			b.positive(path.Child("disk"), *cache.Disk)
			b.set(cache.Disk.Value(), "gate", "cache", "diskBytes")
		}
		setNumber(b, path.Child("revalidateSeconds"), cache.RevalidateSeconds, 0, "gate", "cache", "revalidateSeconds")
		setNumber(b, path.Child("staleIfErrorSeconds"), cache.StaleIfErrorSeconds, 0, "gate", "cache", "staleIfErrorSeconds")
	}
	if gate.ShrinkFirst != nil {
		b.set(*gate.ShrinkFirst, "gate", "shrinkFirst")
	}
	if gate.AccessLog {
		b.set(true, "gate", "accessLog")
	}
	if gate.Resources != nil {
		b.containerResources(path.Child("resources"), gate.Resources, gateDefaults, "gate", "resources")
	}
}

// caBundle mounts the certificates of private authorities into the gate, which reads the source.
func (b *builder) caBundle(spec *v1alpha1.DarkroomSpec) {
	ref := spec.Source.CABundleRef
	if ref == nil {
		return
	}
	path := specPath.Child("source", "caBundleRef")
	if spec.Gate == nil {
		b.errs = append(b.errs, field.Forbidden(path, "requires gate, which reads the source in place of Darkroom: set gate: {}"))
	}
	kind, name, key := CABundle(&spec.Source)
	if kind != v1alpha1.CABundleConfigMap && kind != v1alpha1.CABundleSecret {
		b.errs = append(b.errs, field.NotSupported(path.Child("kind"), kind, []v1alpha1.CABundleKind{v1alpha1.CABundleConfigMap, v1alpha1.CABundleSecret}))
	}
	if name == "" {
		b.required(path.Child("name"), "the name of a ConfigMap or a Secret in the Darkroom's namespace")
	}
	b.objectName(path.Child("name"), name, "a ConfigMap or a Secret")
	if len(validation.IsConfigMapKey(key)) > 0 {
		b.invalid(path.Child("key"), key, "must be a key of a ConfigMap or a Secret: letters, digits, '-', '_' and '.'")
	}
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
	setNumber(b, path.Child("maxWidth"), limits.MaxWidth, 16, "gate", "limits", "maxWidth")
	setNumber(b, path.Child("maxHeight"), limits.MaxHeight, 16, "gate", "limits", "maxHeight")
	setNumber(b, path.Child("maxSourcePixels"), limits.MaxSourcePixels, 1, "gate", "limits", "maxSourcePixels")
	if limits.MaxSourceBytes != nil {
		b.positive(path.Child("maxSourceBytes"), *limits.MaxSourceBytes)
		b.set(limits.MaxSourceBytes.Value(), "gate", "limits", "maxSourceBytes")
	}
	if len(limits.Parameters) > 0 {
		b.setPlain(limits.Parameters, path.Child("parameters"), "gate", "limits", "parameters")
	}
}

// positive refuses a quantity that is not greater than zero.
func (b *builder) positive(path *field.Path, quantity resource.Quantity) {
	if quantity.Sign() <= 0 {
		b.invalid(path, quantity.String(), "must be greater than 0")
	}
}

// setNumber sets a number that must be at least least, if it is given.
func setNumber[T int32 | int64](b *builder, path *field.Path, number *T, least T, keys ...string) {
	if number == nil {
		return
	}
	if *number < least {
		b.invalid(path, *number, "is too small")
	}
	b.set(int64(*number), keys...)
}
