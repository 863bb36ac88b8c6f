package values

import (
	"cmp"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// gate sets the values of the gate, the proxy that reads the source. Without a gate it sets none, so that the pods are
// the same as with a chart without a gate.
func (b *builder) gate(spec *v1alpha1.DarkroomSpec, options Options) {
	gate := spec.Gate
	if gate == nil {
		return
	}
	b.set(true, "gate", "enabled")
	if options.GateImage != "" {
		image := parseReference(options.GateImage)
		setNonZero(b, image.repository, "gate", "image", "repository")
		setNonZero(b, image.tag, "gate", "image", "tag")
		setNonZero(b, image.digest, "gate", "image", "digest")
	}
	if spec.Image != nil {
		setNonZero(b, string(spec.Image.PullPolicy), "gate", "image", "pullPolicy")
	}
	path := specPath.Child("gate")
	if limits := gate.Limits; limits != nil {
		setGiven(b, limits.MaxWidth, "gate", "limits", "maxWidth")
		setGiven(b, limits.MaxHeight, "gate", "limits", "maxHeight")
		setGiven(b, limits.MaxSourcePixels, "gate", "limits", "maxSourcePixels")
		if limits.MaxSourceBytes != nil {
			b.set(limits.MaxSourceBytes.Value(), "gate", "limits", "maxSourceBytes")
		}
		b.setPlain(limits.Parameters, path.Child("limits", "parameters"), "gate", "limits", "parameters")
	}
	for name, parameters := range gate.Presets {
		b.set(string(parameters), "gate", "presets", name)
	}
	if name, key := SigningSecret(gate); name != "" {
		b.set(name, "gate", "signing", "secret", "name")
		b.set(key, "gate", "signing", "secret", "key")
		setNonZero(b, string(gate.Signing.Mode), "gate", "signing", "mode")
		setNonZero(b, string(gate.Signing.Scheme), "gate", "signing", "scheme")
	}
	setNonZero(b, gate.OnlyPresets, "gate", "onlyPresets")
	if cache := gate.Cache; cache != nil {
		if cache.Disk != nil {
			b.set(cache.Disk.Value(), "gate", "cache", "diskBytes")
		}
		setGiven(b, cache.RevalidateSeconds, "gate", "cache", "revalidateSeconds")
		setGiven(b, cache.StaleIfErrorSeconds, "gate", "cache", "staleIfErrorSeconds")
	}
	setNonZero(b, string(gate.Resizer), "gate", "resizer")
	setGiven(b, gate.ServerTiming, "gate", "serverTiming")
	setNonZero(b, gate.AccessLog, "gate", "accessLog")
	if gate.Resources != nil {
		b.containerResources(path.Child("resources"), gate.Resources, gateMemoryLimit, "gate", "resources")
	}
}

// CABundle returns the location of the certificates of private authorities, with defaults applied; the name is empty if
// there are none.
func CABundle(source *v1alpha1.Source) (kind v1alpha1.CABundleKind, name, key string) {
	ref := source.CABundleRef
	if ref == nil {
		return "", "", ""
	}
	return cmp.Or(ref.Kind, v1alpha1.CABundleConfigMap), ref.Name, cmp.Or(ref.Key, "ca.crt")
}

// SigningSecret returns the location of the keys for signed URLs, with defaults applied; the name is empty if URLs are
// not signed.
func SigningSecret(gate *v1alpha1.Gate) (name, key string) {
	if gate == nil || gate.Signing == nil {
		return "", ""
	}
	ref := gate.Signing.SecretRef
	return ref.Name, cmp.Or(ref.Key, "keys")
}

// File is a key of a ConfigMap or Secret that pods mount. Pods do not start without it.
type File struct {
	Kind, Name, Key string
	// Field is the field that references the file.
	Field string
}

// Files returns the files that the pods of a Darkroom mount.
func Files(spec *v1alpha1.DarkroomSpec) (files []File) {
	for source, path := range spec.Sources() {
		if kind, name, key := CABundle(source); name != "" {
			files = append(files, File{string(kind), name, key, path + ".caBundleRef"})
		}
	}
	if name, key := SigningSecret(spec.Gate); name != "" {
		files = append(files, File{"Secret", name, key, "gate.signing.secretRef"})
	}
	return files
}
