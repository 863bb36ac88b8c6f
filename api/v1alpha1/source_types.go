package v1alpha1

// SourceType is a kind of place that images are read from.
//
// +kubebuilder:validation:Enum=WebFolder;S3;GoogleCloudStorage;CloudFront
type SourceType string

// The kinds of source.
const (
	// WebFolder reads images from below an http or https URL.
	WebFolder SourceType = "WebFolder"
	// S3 reads images from an Amazon S3 bucket, or one of a compatible service.
	S3 SourceType = "S3"
	// GoogleCloudStorage reads images from a Google Cloud Storage bucket.
	GoogleCloudStorage SourceType = "GoogleCloudStorage"
	// CloudFront reads images from an Amazon CloudFront distribution.
	CloudFront SourceType = "CloudFront"
)

// Source is where the original images come from. Its fields are flat; which of
// them are needed depends on the type, and those of other types are ignored.
//
// +kubebuilder:validation:XValidation:rule="self.type != 'WebFolder' || (has(self.baseUrl) && size(self.baseUrl) > 0)",fieldPath=".baseUrl",reason=FieldValueRequired,message="needed when source.type is WebFolder, for example https://example.com/images"
// +kubebuilder:validation:XValidation:rule="!(self.type in ['S3', 'GoogleCloudStorage']) || (has(self.bucket) && size(self.bucket) > 0)",fieldPath=".bucket",reason=FieldValueRequired,message="needed when source.type is S3 or GoogleCloudStorage: the name of the bucket"
// +kubebuilder:validation:XValidation:rule="self.type != 'S3' || (has(self.region) && size(self.region) > 0)",fieldPath=".region",reason=FieldValueRequired,message="needed when source.type is S3, for example eu-west-2"
// +kubebuilder:validation:XValidation:rule="has(self.accessKey) == has(self.secretKey)",fieldPath=".secretKey",message="accessKey and secretKey go together: set both, or credentialsSecretRef in their place"
// +kubebuilder:validation:XValidation:rule="!(has(self.credentialsSecretRef) && (has(self.accessKey) || has(self.secretKey)))",fieldPath=".credentialsSecretRef",message="inline keys and credentialsSecretRef exclude each other: remove accessKey and secretKey"
// +kubebuilder:validation:XValidation:rule="self.type != 'S3' || has(self.credentialsSecretRef) || (has(self.accessKey) && has(self.secretKey))",fieldPath=".credentialsSecretRef",reason=FieldValueRequired,message="S3 needs credentials: name a Secret here, or set accessKey and secretKey"
// +kubebuilder:validation:XValidation:rule="self.type != 'CloudFront' || (has(self.host) && size(self.host) > 0)",fieldPath=".host",reason=FieldValueRequired,message="needed when source.type is CloudFront, for example d111111abcdef8.cloudfront.net"
type Source struct {
	// Type is the kind of source.
	// +optional
	// +kubebuilder:default=WebFolder
	Type SourceType `json:"type,omitempty"`

	// BaseURL (WebFolder) is the absolute http or https URL under which the
	// images are. A trailing slash is dropped.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^https?://([^]/?#@:[[:space:][:cntrl:]]+|[[][0-9A-Fa-f:.]+[]])(:[0-9]{1,5})?(/[^?#[:space:][:cntrl:]]*)?$')",message="must be an absolute http or https URL without user, query or fragment, for example https://example.com/images"
	BaseURL string `json:"baseUrl,omitempty"`

	// Bucket (S3, GoogleCloudStorage) is the name of the bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9._-]*$')",message="must be the name of a bucket: letters, digits, '.', '_' and '-'"
	Bucket string `json:"bucket,omitempty"`

	// Region (S3) is the region of the bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9-]*$')",message="must be a region, for example eu-west-2"
	Region string `json:"region,omitempty"`

	// Endpoint (S3) is the URL of an S3-compatible service. Empty means AWS.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || self.matches('^https?://([^]/?#@:[[:space:][:cntrl:]]+|[[][0-9A-Fa-f:.]+[]])(:[0-9]{1,5})?(/[^?#[:space:][:cntrl:]]*)?$')",message="must be an absolute http or https URL, for example https://minio.example.com:9000"
	Endpoint string `json:"endpoint,omitempty"`

	// PathPrefix (S3, CloudFront) restricts what is served to the paths that
	// start with it. It is not stripped from the path. A missing leading slash
	// is added.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^?#[:space:][:cntrl:]]*$')",message="must be a path such as /uploads, without spaces, '?' or '#'"
	PathPrefix string `json:"pathPrefix,omitempty"`

	// AccessKey (S3) is the access key, inline. It is kept in a Secret, but
	// whoever may read this resource reads it too: prefer credentialsSecretRef.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	AccessKey string `json:"accessKey,omitempty"`

	// SecretKey (S3) is the secret key, inline. Prefer credentialsSecretRef.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	SecretKey string `json:"secretKey,omitempty"`

	// CredentialsSecretRef (S3, GoogleCloudStorage) names a Secret with the
	// credentials in the Darkroom's namespace. A public bucket of Google Cloud
	// Storage needs none.
	// +optional
	CredentialsSecretRef *CredentialsSecretRef `json:"credentialsSecretRef,omitempty"`

	// Host (CloudFront) is the host name of the distribution, without a scheme.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?)?$')",message="must be a host name without scheme or path, for example d111111abcdef8.cloudfront.net"
	Host string `json:"host,omitempty"`

	// SecureProtocol (CloudFront) fetches images over HTTPS. Unset means true.
	// +optional
	SecureProtocol *bool `json:"secureProtocol,omitempty"`
}

// CredentialsSecretRef names a Secret and the keys within it.
type CredentialsSecretRef struct {
	// Name is the Secret's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="must be the name of a Secret"
	Name string `json:"name"`

	// AccessKeyKey (S3) is the key that holds the access key. Empty means accessKey.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]*$')",message="must be a key of a Secret: letters, digits, '-', '_' and '.'"
	AccessKeyKey string `json:"accessKeyKey,omitempty"`

	// SecretKeyKey (S3) is the key that holds the secret key. Empty means secretKey.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]*$')",message="must be a key of a Secret: letters, digits, '-', '_' and '.'"
	SecretKeyKey string `json:"secretKeyKey,omitempty"`

	// CredentialsJSONKey (GoogleCloudStorage) is the key that holds the service
	// account key (JSON). Empty means credentials.json.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]*$')",message="must be a key of a Secret: letters, digits, '-', '_' and '.'"
	CredentialsJSONKey string `json:"credentialsJsonKey,omitempty"`
}
