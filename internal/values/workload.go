package values

import (
	"fmt"
	"maps"
	gopath "path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// The chart's defaults. An image of 9999×9999 pixels needs 1.4 GB (measured with Darkroom v0.4.2), so every pod has a
// memory limit.
var (
	darkroomMemoryLimit = resource.MustParse("2Gi")
	gateMemoryLimit     = resource.MustParse("512Mi")
	// defaultRequests are the requests of both containers.
	defaultRequests = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("100m"),
		corev1.ResourceMemory: resource.MustParse("128Mi"),
	}
	// With autoscaling, the CPU request determines when pods are added. Resizing an image of one megapixel takes 36 ms
	// of CPU time, and of twelve megapixels 340 ms (measured with Darkroom v0.4.2). With the chart's request and
	// target, two small images per second would already add pods.
	scaledCPURequest = resource.MustParse("500m")
)

// replicas sets the number of pods, or the limits of an autoscaler.
func (b *builder) replicas(spec *v1alpha1.DarkroomSpec) {
	autoscaling := spec.Autoscaling
	if autoscaling == nil {
		b.set(int64(ptr.Deref(spec.Replicas, 1)), "replicaCount")
		return
	}
	b.set(true, "autoscaling", "enabled")
	b.set(int64(ptr.Deref(autoscaling.MinReplicas, 1)), "autoscaling", "minReplicas")
	b.set(int64(autoscaling.MaxReplicas), "autoscaling", "maxReplicas")
	setGiven(b, autoscaling.TargetCPUUtilizationPercentage, "autoscaling", "targetCPUUtilizationPercentage")
	b.setPlain(autoscaling.Behavior, specPath.Child("autoscaling", "behavior"), "autoscaling", "behavior")
}

// resources sets the resources of Darkroom's container.
func (b *builder) resources(resources *corev1.ResourceRequirements, autoscaling bool) {
	resources = resources.DeepCopy()
	if resources == nil {
		resources = &corev1.ResourceRequirements{}
	}
	if _, requested := resources.Requests[corev1.ResourceCPU]; autoscaling && !requested {
		if resources.Requests == nil {
			resources.Requests = corev1.ResourceList{}
		}
		resources.Requests[corev1.ResourceCPU] = scaledCPURequest
		if limit, limited := resources.Limits[corev1.ResourceCPU]; limited && limit.Cmp(scaledCPURequest) < 0 {
			resources.Requests[corev1.ResourceCPU] = limit
		}
	}
	b.containerResources(specPath.Child("resources"), resources, darkroomMemoryLimit, "resources")
}

// containerResources merges resources into the chart's defaults, as Helm does by key. It resolves two contradictions: a
// limit below the default request removes the request, and a memory request above the default limit raises the limit.
func (b *builder) containerResources(
	path *field.Path, resources *corev1.ResourceRequirements, defaultLimit resource.Quantity, keys ...string,
) {
	under := func(more ...string) []string { return append(slices.Clone(keys), more...) }
	requests, limits := maps.Clone(resources.Requests), maps.Clone(resources.Limits)
	if _, limited := limits[corev1.ResourceMemory]; !limited {
		if requested, ok := requests[corev1.ResourceMemory]; ok && requested.Cmp(defaultLimit) > 0 {
			if limits == nil {
				limits = corev1.ResourceList{}
			}
			limits[corev1.ResourceMemory] = requested
		}
	}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		request := requests[name]
		if limit, limited := limits[name]; limited && request.Cmp(limit) > 0 {
			b.invalid(path.Child("requests").Key(string(name)), request.String(), "must not exceed the limit of "+limit.String())
		}
	}

	for name, quantity := range limits {
		b.set(quantity.String(), under("limits", string(name))...)
		defaultRequest, hasDefault := defaultRequests[name]
		if _, requested := requests[name]; !requested && hasDefault && quantity.Cmp(defaultRequest) < 0 {
			b.set(nil, under("requests", string(name))...)
		}
	}
	for name, quantity := range requests {
		b.set(quantity.String(), under("requests", string(name))...)
	}
	if len(resources.Claims) > 0 {
		b.errs = append(b.errs, field.Forbidden(path.Child("claims"), "claims are not supported because Darkroom does not use devices"))
	}
}

// podTemplate sets values for settings that have no dedicated field.
func (b *builder) podTemplate(spec *v1alpha1.DarkroomSpec, allowed allowList) {
	template := spec.PodTemplate
	if template == nil {
		return
	}
	path := specPath.Child("podTemplate")
	b.objectName(path.Child("serviceAccountName"), template.ServiceAccountName, "a ServiceAccount")
	b.nodeLabels(path.Child("nodeSelector"), template.NodeSelector)
	b.setPlain(template.NodeSelector, path.Child("nodeSelector"), "nodeSelector")
	b.setPlain(template.Tolerations, path.Child("tolerations"), "tolerations")
	b.setPlain(template.Affinity, path.Child("affinity"), "affinity")
	b.setPlain(template.TopologySpreadConstraints, path.Child("topologySpreadConstraints"), "topologySpreadConstraints")
	// Controllers read these annotations to grant cloud identities.
	b.sharedAnnotations(path.Child("serviceAccountAnnotations"), template.ServiceAccountAnnotations, allowed,
		"serviceAccount", "annotations")
	if template.ServiceAccountName != "" {
		b.set(false, "serviceAccount", "create")
		b.set(template.ServiceAccountName, "serviceAccount", "name")
	}
	b.objectName(path.Child("priorityClassName"), template.PriorityClassName, "a PriorityClass")
	setNonZero(b, template.PriorityClassName, "priorityClassName")
	setGiven(b, template.TerminationGracePeriodSeconds, "terminationGracePeriodSeconds")
	b.volumes(path, spec)
}

// volumes mounts ConfigMaps and Secrets read-only.
func (b *builder) volumes(path *field.Path, spec *v1alpha1.DarkroomSpec) {
	template, own := spec.PodTemplate, gateVolumes(spec)
	for i, volume := range template.Volumes {
		at := path.Child("volumes").Index(i).Child("name")
		if problems := validation.IsDNS1123Label(volume.Name); len(problems) > 0 {
			b.invalid(at, volume.Name, problems[0])
		}
		if _, taken := own[volume.Name]; taken {
			b.invalid(at, volume.Name, "is the name of a volume of the gate: choose another name")
		}
	}
	mounts := make([]corev1.VolumeMount, 0, len(template.VolumeMounts))
	for i, mount := range template.VolumeMounts {
		for _, folder := range own {
			if cleaned := gopath.Clean(mount.MountPath); cleaned == folder || strings.HasPrefix(cleaned, folder+"/") {
				b.invalid(path.Child("volumeMounts").Index(i).Child("mountPath"), mount.MountPath,
					"is in a folder of the gate, "+folder+": choose another path")
			}
		}
		mounts = append(mounts, corev1.VolumeMount{
			Name: mount.Name, MountPath: mount.MountPath,
			SubPath: mount.SubPath, ReadOnly: true,
		})
	}
	b.setPlain(template.Volumes, path.Child("volumes"), "extraVolumes")
	b.setPlain(mounts, path.Child("volumeMounts"), "extraVolumeMounts")
}

// gateVolumes returns the names of the volumes that the chart adds for a gate, with their mount paths.
func gateVolumes(spec *v1alpha1.DarkroomSpec) map[string]string {
	if spec.Gate == nil {
		return nil
	}
	volumes := map[string]string{"gate": "/gate"}
	if cache := spec.Gate.Cache; cache != nil && cache.Disk != nil {
		volumes["gate-cache"] = "/cache"
	}
	if name, _ := SigningSecret(spec.Gate); name != "" {
		volumes["gate-signing"] = "/signing"
	}
	number := 0
	for source := range spec.Sources() {
		suffix := ""
		if number > 0 {
			suffix = fmt.Sprintf("-%d", number)
		}
		if _, name, _ := CABundle(source); name != "" {
			volumes["source-ca"+suffix] = "/source-ca" + suffix
		}
		number++
	}
	return volumes
}

// podMetadata sets the labels and annotations of the pods. The pod template takes precedence over inherited labels and
// annotations. The version of the referenced Secrets is an annotation, so that a change of their data rolls the pods.
func (b *builder) podMetadata(
	spec *v1alpha1.DarkroomSpec, labels, annotations map[string]string, credentialsVersion string,
) {
	labels, annotations = maps.Clone(labels), maps.Clone(annotations)
	path := specPath.Child("podTemplate")
	if template := spec.PodTemplate; template != nil {
		b.labels(path.Child("labels"), template.Labels)
		b.annotations(path.Child("annotations"), template.Annotations)
		maps.Copy(labels, template.Labels)
		maps.Copy(annotations, template.Annotations)
	}
	if credentialsVersion != "" && len(CredentialsOf(spec)) > 0 {
		annotations[AnnotationCredentials] = credentialsVersion
	}
	b.setPlain(labels, path.Child("labels"), "podLabels")
	b.setPlain(annotations, path.Child("annotations"), "podAnnotations")
}
