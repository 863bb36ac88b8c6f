package values

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestSourceBecomesTheValuesOfItsOwnKind(t *testing.T) {
	type table = map[string]any
	no := false
	// A resource that was switched between kinds keeps the fields of all of them.
	leftOvers := func(kind v1alpha1.SourceType) v1alpha1.Source {
		return v1alpha1.Source{
			Type: kind, BaseURL: "https://example.com", Bucket: "pictures", Region: "eu-west-2",
			Endpoint: "https://minio.example.com", PathPrefix: "/p", Host: "d1.cloudfront.net", SecureProtocol: &no,
			CredentialsSecretRef: &v1alpha1.CredentialsSecretRef{Name: "keys", AccessKeyKey: "id", SecretKeyKey: "key", CredentialsJSONKey: "json"},
		}
	}
	for name, test := range map[string]struct {
		darkroom *darkrooms.Builder
		want     table
	}{
		"a source without a type is a WebFolder": {
			photos().Source(v1alpha1.Source{BaseURL: "https://example.com/images"}),
			table{"type": "WebFolder", "baseUrl": "https://example.com/images"},
		},
		"slashes at the end of a URL are dropped: Darkroom would double them": {
			photos().WebFolder("http://example.com:8080/images//"),
			table{"type": "WebFolder", "baseUrl": "http://example.com:8080/images"},
		},
		"a URL that is a host and a slash": {
			photos().WebFolder("https://example.com/"),
			table{"type": "WebFolder", "baseUrl": "https://example.com"},
		},
		"a URL may hold an @ in its path": {
			photos().WebFolder("https://example.com/@me"),
			table{"type": "WebFolder", "baseUrl": "https://example.com/@me"},
		},
		"WebFolder among fields of other kinds": {
			photos().Source(leftOvers(v1alpha1.WebFolder)),
			table{"type": "WebFolder", "baseUrl": "https://example.com"},
		},
		"WebFolder beside inline keys of S3": {
			photos().InlineKeys("AKIAEXAMPLE", "not-a-real-key"),
			table{"type": "WebFolder", "baseUrl": darkrooms.DefaultBaseURL},
		},
		"S3 with inline keys": {
			photos().S3("pictures", "eu-west-2").InlineKeys("AKIAEXAMPLE", "not-a-real-key"),
			table{
				"type": "S3", "bucket": table{"name": "pictures", "region": "eu-west-2"},
				"credentials": table{"accessKey": "AKIAEXAMPLE", "secretKey": "not-a-real-key"},
			},
		},
		"S3 with a Secret whose keys have the usual names": {
			photos().S3("pictures", "eu-west-2").CredentialsSecret("keys"),
			table{
				"type": "S3", "bucket": table{"name": "pictures", "region": "eu-west-2"},
				"credentials": table{"existingSecret": table{"name": "keys"}},
			},
		},
		"S3 among fields of other kinds": {
			photos().Source(leftOvers(v1alpha1.S3)),
			table{
				"type": "S3", "pathPrefix": "/p",
				"bucket":      table{"name": "pictures", "region": "eu-west-2", "endpoint": "https://minio.example.com"},
				"credentials": table{"existingSecret": table{"name": "keys", "accessKeyKey": "id", "secretKeyKey": "key"}},
			},
		},
		"S3 with a slash at the end of the endpoint": {
			photos().S3("my_photos", "r").CredentialsSecret("keys").Endpoint("http://minio.example.com:9000/"),
			table{
				"type": "S3", "bucket": table{"name": "my_photos", "region": "r", "endpoint": "http://minio.example.com:9000"},
				"credentials": table{"existingSecret": table{"name": "keys"}},
			},
		},
		"a public bucket of Google Cloud Storage needs no credentials": {
			photos().GoogleCloudStorage("pictures"),
			table{"type": "GoogleCloudStorage", "bucket": table{"name": "pictures"}},
		},
		"Google Cloud Storage beside inline keys of S3": {
			photos().GoogleCloudStorage("pictures").InlineKeys("AKIAEXAMPLE", "not-a-real-key"),
			table{"type": "GoogleCloudStorage", "bucket": table{"name": "pictures"}},
		},
		"Google Cloud Storage among fields of other kinds": {
			photos().Source(leftOvers(v1alpha1.GoogleCloudStorage)),
			table{
				"type": "GoogleCloudStorage", "bucket": table{"name": "pictures"},
				"credentials": table{"existingSecret": table{"name": "keys", "credentialsJsonKey": "json"}},
			},
		},
		"CloudFront over HTTPS, unless said otherwise": {
			photos().CloudFront("d111111abcdef8.cloudfront.net"),
			table{"type": "CloudFront", "host": "d111111abcdef8.cloudfront.net"},
		},
		"CloudFront among fields of other kinds": {
			photos().Source(leftOvers(v1alpha1.CloudFront)),
			table{"type": "CloudFront", "host": "d1.cloudfront.net", "secureProtocol": false, "pathPrefix": "/p"},
		},
		"CloudFront at a port": {
			photos().CloudFront("pictures.example.com:8443"),
			table{"type": "CloudFront", "host": "pictures.example.com:8443"},
		},
		"a path prefix without a leading slash would make every image a 404": {
			photos().CloudFront("d1.cloudfront.net").PathPrefix("uploads/2026"),
			table{"type": "CloudFront", "host": "d1.cloudfront.net", "pathPrefix": "/uploads/2026"},
		},
		"a path prefix loses the slash at its end": {
			photos().CloudFront("d1.cloudfront.net").PathPrefix("/uploads/"),
			table{"type": "CloudFront", "host": "d1.cloudfront.net", "pathPrefix": "/uploads"},
		},
		"a path prefix of a slash is none": {
			photos().CloudFront("d1.cloudfront.net").PathPrefix("/"),
			table{"type": "CloudFront", "host": "d1.cloudfront.net"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, at(valuesOf(t, test.darkroom.Obj(), Options{}), "source")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryKindOfSourceIsTranslated(t *testing.T) {
	want := []v1alpha1.SourceType{v1alpha1.CloudFront, v1alpha1.GoogleCloudStorage, v1alpha1.S3, v1alpha1.WebFolder}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(sources))); diff != "" {
		t.Errorf("(-API +translated):\n%s", diff)
	}
}
