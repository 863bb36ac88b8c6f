package v1alpha1

import (
	"fmt"
	"iter"
)

// SourceType is the type of a source.
//
// +kubebuilder:validation:Enum=WebFolder;S3;GoogleCloudStorage;CloudFront
type SourceType string

// The types of sources.
const (
	// WebFolder reads images from an http or https URL.
	WebFolder SourceType = "WebFolder"
	// S3 reads images from a bucket of Amazon S3 or a compatible service.
	S3 SourceType = "S3"
	// GoogleCloudStorage reads images from a Google Cloud Storage bucket.
	GoogleCloudStorage SourceType = "GoogleCloudStorage"
	// CloudFront reads images from an Amazon CloudFront distribution.
	CloudFront SourceType = "CloudFront"
)

// Source is the source of the original images. The required fields depend on the
// type. Fields of other types are ignored.
//
// +kubebuilder:validation:XValidation:rule="self.type != 'WebFolder' || (has(self.baseUrl) && size(self.baseUrl) > 0)",fieldPath=".baseUrl",reason=FieldValueRequired,message="needed when source.type is WebFolder, for example https://example.com/images"
// +kubebuilder:validation:XValidation:rule="!(self.type in ['S3', 'GoogleCloudStorage']) || (has(self.bucket) && size(self.bucket) > 0)",fieldPath=".bucket",reason=FieldValueRequired,message="needed when source.type is S3 or GoogleCloudStorage: the name of the bucket"
// +kubebuilder:validation:XValidation:rule="self.type != 'S3' || (has(self.region) && size(self.region) > 0)",fieldPath=".region",reason=FieldValueRequired,message="needed when source.type is S3, for example eu-west-2"
// +kubebuilder:validation:XValidation:rule="has(self.accessKey) == has(self.secretKey)",fieldPath=".secretKey",message="accessKey and secretKey must be set together: set both, or use credentialsSecretRef instead"
// +kubebuilder:validation:XValidation:rule="!(has(self.credentialsSecretRef) && (has(self.accessKey) || has(self.secretKey)))",fieldPath=".credentialsSecretRef",message="inline keys and credentialsSecretRef are mutually exclusive: remove accessKey and secretKey"
// +kubebuilder:validation:XValidation:rule="self.type != 'S3' || has(self.auth) || has(self.credentialsSecretRef) || (has(self.accessKey) && has(self.secretKey))",fieldPath=".credentialsSecretRef",reason=FieldValueRequired,message="S3 needs credentials: name a Secret here, or set accessKey and secretKey"
// +kubebuilder:validation:XValidation:rule="!has(self.auth) || !(has(self.credentialsSecretRef) || has(self.accessKey) || has(self.secretKey))",fieldPath=".auth",message="replaces credentials: remove credentialsSecretRef, accessKey and secretKey"
// +kubebuilder:validation:XValidation:rule="self.type != 'CloudFront' || (has(self.host) && size(self.host) > 0)",fieldPath=".host",reason=FieldValueRequired,message="needed when source.type is CloudFront, for example d111111abcdef8.cloudfront.net"
type Source struct {
	// type is the type of the source.
	// +optional
	// +default="WebFolder"
	Type SourceType `json:"type,omitempty"`

	// baseUrl (WebFolder) is the absolute http or https URL of the folder. A trailing
	// slash is removed.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^https?://([^]/?#@:[[:space:][:cntrl:]]+|[[][0-9A-Fa-f:.]+[]])(:[0-9]{1,5})?(/[^?#[:space:][:cntrl:]]*)?$')",message="must be an absolute http or https URL without user, query or fragment, for example https://example.com/images"
	BaseURL string `json:"baseUrl,omitempty"`

	// bucket (S3, GoogleCloudStorage) is the name of the bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9._-]*$')",message="must be the name of a bucket: letters, digits, '.', '_' and '-'"
	Bucket string `json:"bucket,omitempty"`

	// region (S3) is the region of the bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9-]*$')",message="must be a region, for example eu-west-2"
	Region string `json:"region,omitempty"`

	// endpoint (S3) is the URL of an S3-compatible service. Defaults to AWS.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^https?://([^]/?#@:[[:space:][:cntrl:]]+|[[][0-9A-Fa-f:.]+[]])(:[0-9]{1,5})?(/[^?#[:space:][:cntrl:]]*)?$')",message="must be an absolute http or https URL, for example https://minio.example.com:9000"
	Endpoint string `json:"endpoint,omitempty"`

	// pathPrefix (S3, CloudFront) restricts requests to paths that start with it. It
	// is not removed from the path. A missing leading slash is added.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^?#[:space:][:cntrl:]]*$')",message="must be a path such as /uploads, without spaces, '?' or '#'"
	PathPrefix string `json:"pathPrefix,omitempty"`

	// accessKey (S3) is the inline access key. The operator stores it in a Secret, but
	// all users who may read this resource can read it: prefer credentialsSecretRef.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	AccessKey string `json:"accessKey,omitempty"`

	// secretKey (S3) is the inline secret key. Prefer credentialsSecretRef.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	SecretKey string `json:"secretKey,omitempty"`

	// credentialsSecretRef (S3, GoogleCloudStorage) is a reference to a Secret with
	// the credentials in the same namespace. It is not required for a public bucket of
	// Google Cloud Storage.
	// +optional
	CredentialsSecretRef *CredentialsSecretRef `json:"credentialsSecretRef,omitempty"`

	// auth (S3, GoogleCloudStorage) replaces credentials. WorkloadIdentity uses the credentials
	// of the pods' ServiceAccount: IAM Roles for Service Accounts or EKS Pod Identity for S3,
	// Workload Identity of GKE for GoogleCloudStorage. It requires gate.
	// +optional
	Auth SourceAuth `json:"auth,omitempty"`

	// host (CloudFront) is the host name of the distribution, without a scheme.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?)?$')",message="must be a host name without scheme or path, for example d111111abcdef8.cloudfront.net"
	Host string `json:"host,omitempty"`

	// secureProtocol (CloudFront) uses HTTPS for requests to the distribution.
	// Defaults to true.
	// +optional
	SecureProtocol *bool `json:"secureProtocol,omitempty"`

	// caBundleRef is a reference to the certificates (PEM) of private certificate
	// authorities in the same namespace. They are trusted for the source, in addition to
	// public ones. It requires gate. Pods read the certificates when they start.
	// +optional
	CABundleRef *CABundleRef `json:"caBundleRef,omitempty"`
}

// AdditionalSource is a source in addition to spec.source: for the images below a path, or as a fallback.
//
// +kubebuilder:validation:XValidation:rule="has(self.path) || (has(self.fallback) && self.fallback)",fieldPath=".path",reason=FieldValueRequired,message="needed unless fallback is set: the path below which images are read from this source, for example /products"
// +kubebuilder:validation:XValidation:rule="has(self.path) || !has(self.stripPath) || !self.stripPath",fieldPath=".stripPath",message="requires path"
type AdditionalSource struct {
	// name identifies the source in messages and metrics.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-', and start and end with a letter or digit"
	Name string `json:"name"`

	// path restricts this source to images below a path; such images are read from this source only. If several sources
	// have a matching path, the longest path is used. A fallback without a path is a fallback for all images of source.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$')",message="must be a path such as /products/shoes: names of letters, digits, '.', '_', '~' and '-' that do not start with '.', each after a slash"
	Path string `json:"path,omitempty"`

	// stripPath removes path from requests to the source. By default the request includes path.
	// +optional
	StripPath bool `json:"stripPath,omitempty"`

	// fallback uses this source only for images that earlier sources do not have: the source of the path, and preceding
	// fallbacks. Only a response with status 404 or 410 means that a source does not have an image.
	// +optional
	Fallback bool `json:"fallback,omitempty"`

	Source `json:",inline"`
}

// Sources returns the source and the additional sources with their paths below spec, such as source and
// additionalSources[0].
func (s *DarkroomSpec) Sources() iter.Seq2[*Source, string] {
	return func(yield func(*Source, string) bool) {
		if !yield(&s.Source, "source") {
			return
		}
		for i := range s.AdditionalSources {
			if !yield(&s.AdditionalSources[i].Source, fmt.Sprintf("additionalSources[%d]", i)) {
				return
			}
		}
	}
}

// SourceAuth is a way to authenticate at a source without credentials in the Darkroom.
//
// +kubebuilder:validation:Enum=WorkloadIdentity
type SourceAuth string

// WorkloadIdentity uses the credentials that the cloud provides to the pods' ServiceAccount.
const WorkloadIdentity SourceAuth = "WorkloadIdentity"

// CABundleKind is the kind of object that contains certificates.
//
// +kubebuilder:validation:Enum=ConfigMap;Secret
type CABundleKind string

// Kinds of objects that contain certificates.
const (
	CABundleConfigMap CABundleKind = "ConfigMap"
	CABundleSecret    CABundleKind = "Secret"
)

// CABundleRef is a reference to a key of a ConfigMap or a Secret.
type CABundleRef struct {
	// kind is ConfigMap or Secret. Defaults to ConfigMap.
	// +optional
	Kind CABundleKind `json:"kind,omitempty"`

	// name is the name of the ConfigMap or Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="must be the name of a ConfigMap or a Secret"
	Name string `json:"name"`

	// key is the key of the certificates. Defaults to ca.crt.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]*$')",message="must be a key of a ConfigMap or a Secret: letters, digits, '-', '_' and '.'"
	Key string `json:"key,omitempty"`
}

// CredentialsSecretRef is a reference to a Secret and its keys.
type CredentialsSecretRef struct {
	// name is the name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="must be the name of a Secret"
	Name string `json:"name"`

	// accessKeyKey (S3) is the key of the access key. Defaults to accessKey.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]*$')",message="must be a key of a Secret: letters, digits, '-', '_' and '.'"
	AccessKeyKey string `json:"accessKeyKey,omitempty"`

	// secretKeyKey (S3) is the key of the secret key. Defaults to secretKey.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]*$')",message="must be a key of a Secret: letters, digits, '-', '_' and '.'"
	SecretKeyKey string `json:"secretKeyKey,omitempty"`

	// credentialsJsonKey (GoogleCloudStorage) is the key of the service account
	// key (JSON). Defaults to credentials.json.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]*$')",message="must be a key of a Secret: letters, digits, '-', '_' and '.'"
	CredentialsJSONKey string `json:"credentialsJsonKey,omitempty"`
}
