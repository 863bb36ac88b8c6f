// Package darkrooms builds Darkrooms for tests:
//
//	darkrooms.New("photos", "team-a").S3("pictures", "eu-west-2").CredentialsSecret("keys").Obj()
package darkrooms

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// DefaultBaseURL is the default source of a Darkroom.
const DefaultBaseURL = "https://pictures.example.org/assets"

// Builder builds one Darkroom. Its methods modify and return the builder.
type Builder struct {
	darkroom v1alpha1.Darkroom
}

// New returns a builder of a valid Darkroom: a WebFolder at DefaultBaseURL, with its name as the sub-domain. Like a
// newly created resource, it has generation 1.
func New(name, namespace string) *Builder {
	return &Builder{v1alpha1.Darkroom{
		TypeMeta: metav1.TypeMeta{
			APIVersion: v1alpha1.GroupVersion.String(),
			Kind:       v1alpha1.Kind,
		},
		ObjectMeta: metav1.ObjectMeta{
			Name:       name,
			Namespace:  namespace,
			Generation: 1,
		},
		Spec: v1alpha1.DarkroomSpec{
			Source:     v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: DefaultBaseURL},
			SubDomains: []string{name},
		},
	}}
}

// Obj returns a copy of the Darkroom as built so far.
func (b *Builder) Obj() *v1alpha1.Darkroom {
	return b.darkroom.DeepCopy()
}

// UID sets metadata.uid.
func (b *Builder) UID(uid types.UID) *Builder {
	b.darkroom.UID = uid
	return b
}

// Generation sets metadata.generation, which the API server increments with each change of the spec.
func (b *Builder) Generation(generation int64) *Builder {
	b.darkroom.Generation = generation
	return b
}

// Annotation adds an annotation of the Darkroom itself.
func (b *Builder) Annotation(key, value string) *Builder {
	metav1.SetMetaDataAnnotation(&b.darkroom.ObjectMeta, key, value)
	return b
}

// Label adds a label of the Darkroom itself.
func (b *Builder) Label(key, value string) *Builder {
	metav1.SetMetaDataLabel(&b.darkroom.ObjectMeta, key, value)
	return b
}

// Paused sets the annotation that pauses the Darkroom.
func (b *Builder) Paused() *Builder {
	return b.Annotation(v1alpha1.AnnotationPaused, "true")
}

// Deleting sets metadata.deletionTimestamp.
func (b *Builder) Deleting(since metav1.Time) *Builder {
	b.darkroom.DeletionTimestamp = &since
	return b
}

// Condition sets a condition of the status and replaces a condition of the same type.
func (b *Builder) Condition(condition v1alpha1.Condition) *Builder {
	status := &b.darkroom.Status
	if current := v1alpha1.FindCondition(status.Conditions, condition.Type); current != nil {
		*current = condition
		return b
	}
	status.Conditions = append(status.Conditions, condition)
	return b
}

// Spec changes the spec in ways that have no dedicated method.
func (b *Builder) Spec(change func(*v1alpha1.DarkroomSpec)) *Builder {
	change(&b.darkroom.Spec)
	return b
}

// Version sets spec.version.
func (b *Builder) Version(version string) *Builder {
	b.darkroom.Spec.Version = version
	return b
}

// Repository sets spec.image.repository.
func (b *Builder) Repository(repository string) *Builder {
	b.image().Repository = repository
	return b
}

// PullSecrets sets spec.image.pullSecrets.
func (b *Builder) PullSecrets(names ...string) *Builder {
	b.image().PullSecrets = nil
	for _, name := range names {
		b.image().PullSecrets = append(b.image().PullSecrets, corev1.LocalObjectReference{Name: name})
	}
	return b
}

func (b *Builder) image() *v1alpha1.Image {
	if b.darkroom.Spec.Image == nil {
		b.darkroom.Spec.Image = &v1alpha1.Image{}
	}
	return b.darkroom.Spec.Image
}

// WebFolder sets a web folder as the source. Like the methods for other sources, it replaces the whole source.
func (b *Builder) WebFolder(baseURL string) *Builder {
	return b.Source(v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: baseURL})
}

// S3 sets a bucket as the source; add InlineKeys or CredentialsSecret.
func (b *Builder) S3(bucket, region string) *Builder {
	return b.Source(v1alpha1.Source{Type: v1alpha1.S3, Bucket: bucket, Region: region})
}

// GoogleCloudStorage sets a bucket as the source. The bucket is public unless CredentialsSecret is added.
func (b *Builder) GoogleCloudStorage(bucket string) *Builder {
	return b.Source(v1alpha1.Source{Type: v1alpha1.GoogleCloudStorage, Bucket: bucket})
}

// CloudFront sets a distribution as the source.
func (b *Builder) CloudFront(host string) *Builder {
	return b.Source(v1alpha1.Source{Type: v1alpha1.CloudFront, Host: host})
}

// Source sets the whole source.
func (b *Builder) Source(source v1alpha1.Source) *Builder {
	b.darkroom.Spec.Source = source
	return b
}

// Endpoint sets the URL of an S3-compatible service.
func (b *Builder) Endpoint(url string) *Builder {
	b.darkroom.Spec.Source.Endpoint = url
	return b
}

// PathPrefix sets the prefix of served paths.
func (b *Builder) PathPrefix(prefix string) *Builder {
	b.darkroom.Spec.Source.PathPrefix = prefix
	return b
}

// InlineKeys sets inline credentials.
func (b *Builder) InlineKeys(accessKey, secretKey string) *Builder {
	b.darkroom.Spec.Source.AccessKey = accessKey
	b.darkroom.Spec.Source.SecretKey = secretKey
	return b
}

// CredentialsSecret references the Secret with the credentials.
func (b *Builder) CredentialsSecret(name string) *Builder {
	b.darkroom.Spec.Source.CredentialsSecretRef = &v1alpha1.CredentialsSecretRef{Name: name}
	return b
}

// SubDomains sets the sub-domains.
func (b *Builder) SubDomains(subDomains ...string) *Builder {
	b.darkroom.Spec.SubDomains = subDomains
	return b
}

// Replicas sets the number of pods.
func (b *Builder) Replicas(replicas int32) *Builder {
	b.darkroom.Spec.Replicas = &replicas
	return b
}

// Autoscaling enables autoscaling with a minimum and maximum number of pods.
func (b *Builder) Autoscaling(least, most int32) *Builder {
	b.darkroom.Spec.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: &least, MaxReplicas: most}
	return b
}

// Request sets the request of each pod for one resource. It panics if the quantity is
// invalid.
func (b *Builder) Request(name corev1.ResourceName, quantity string) *Builder {
	set(&b.resources().Requests, name, quantity)
	return b
}

// Limit sets the limit of each pod for one resource. It panics if the quantity is invalid.
func (b *Builder) Limit(name corev1.ResourceName, quantity string) *Builder {
	set(&b.resources().Limits, name, quantity)
	return b
}

func (b *Builder) resources() *corev1.ResourceRequirements {
	if b.darkroom.Spec.Resources == nil {
		b.darkroom.Spec.Resources = &corev1.ResourceRequirements{}
	}
	return b.darkroom.Spec.Resources
}

func set(list *corev1.ResourceList, name corev1.ResourceName, quantity string) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = resource.MustParse(quantity)
}

// DefaultParam adds a default URL parameter.
func (b *Builder) DefaultParam(name, value string) *Builder {
	if b.darkroom.Spec.DefaultParams == nil {
		b.darkroom.Spec.DefaultParams = map[string]v1alpha1.ParamValue{}
	}
	b.darkroom.Spec.DefaultParams[name] = v1alpha1.ParamValue(value)
	return b
}

// Env adds an environment variable of the Darkroom container.
func (b *Builder) Env(name, value string) *Builder {
	b.darkroom.Spec.ExtraEnv = append(b.darkroom.Spec.ExtraEnv, corev1.EnvVar{Name: name, Value: value})
	return b
}

// Status changes the status.
func (b *Builder) Status(change func(*v1alpha1.DarkroomStatus)) *Builder {
	change(&b.darkroom.Status)
	return b
}

// Ingress sets the configuration of the Ingress.
func (b *Builder) Ingress(ingress v1alpha1.Ingress) *Builder {
	b.darkroom.Spec.Ingress = &ingress
	return b
}

// Gateway routes the hosts by an HTTPRoute for the named Gateways.
func (b *Builder) Gateway(names ...string) *Builder {
	gateway := &v1alpha1.Gateway{}
	for _, name := range names {
		gateway.ParentRefs = append(gateway.ParentRefs, v1alpha1.ParentRef{Name: name})
	}
	b.darkroom.Spec.Gateway = gateway
	return b
}

// PodTemplate sets the pod template.
func (b *Builder) PodTemplate(template v1alpha1.PodTemplate) *Builder {
	b.darkroom.Spec.PodTemplate = &template
	return b
}
