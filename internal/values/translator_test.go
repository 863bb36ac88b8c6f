package values

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func photos() *darkrooms.Builder {
	return darkrooms.New("photos", "team-a")
}

func newTranslator(t testing.TB, options Options) *Translator {
	t.Helper()
	translator, err := New(options)
	expect.NoError(t, err)
	return translator
}

// valuesOf translates a valid Darkroom.
func valuesOf(t *testing.T, darkroom *v1alpha1.Darkroom, options Options) map[string]any {
	t.Helper()
	values, err := newTranslator(t, options).Values(darkroom)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	return values
}

// refusalOf translates an invalid Darkroom, and returns the error.
func refusalOf(t *testing.T, darkroom *v1alpha1.Darkroom) *InvalidError {
	t.Helper()
	values, err := newTranslator(t, Options{}).Values(darkroom)
	var invalid *InvalidError
	if !errors.As(err, &invalid) || values != nil {
		t.Fatalf("want an *InvalidError, got %v and the values %v", err, values)
	}
	return invalid
}

// at returns the value at a path of keys; nil if there is none.
func at(values map[string]any, path ...string) any {
	var value any = values
	for _, key := range path {
		table, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = table[key]
	}
	return value
}

// The golden files show the other translations.
func TestFieldsAreTranslatedIntoValues(t *testing.T) {
	type table = map[string]any
	const (
		digest  = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
		related = "mirror.example.com:5000/gojektech/darkroom"
	)
	spec := func(change func(*v1alpha1.DarkroomSpec)) *v1alpha1.Darkroom { return photos().Spec(change).Obj() }
	no := false
	// A resource that was switched between kinds keeps the fields of all kinds.
	leftOvers := func(kind v1alpha1.SourceType) *v1alpha1.Darkroom {
		return photos().Source(v1alpha1.Source{
			Type: kind, BaseURL: "https://example.com", Bucket: "pictures", Region: "eu-west-2", AccessKey: "AKIAEXAMPLE",
			SecretKey: "not-a-real-key",
			Endpoint:  "https://minio.example.com", PathPrefix: "/p", Host: "d1.cloudfront.net", SecureProtocol: &no,
			CredentialsSecretRef: &v1alpha1.CredentialsSecretRef{
				Name: "keys", AccessKeyKey: "id", SecretKeyKey: "key",
				CredentialsJSONKey: "json",
			},
		}).Obj()
	}
	public := func(more table) table {
		out := table{"enabled": true, "parentRefs": []any{table{"name": "public"}}}
		maps.Copy(out, more)
		return out
	}
	for name, test := range map[string]struct {
		options  Options
		state    ClusterState
		darkroom *v1alpha1.Darkroom
		key      string
		want     any
	}{
		"the operator's image, with a tag": {
			Options{Image: related + ":v0.4.1"},
			ClusterState{},
			photos().Obj(),
			"image",
			table{"repository": related, "tag": "v0.4.1"},
		},
		"the operator's image, with a tag and a digest, which decides": {
			Options{Image: related + ":v1@" + digest},
			ClusterState{},
			photos().Obj(),
			"image",
			table{"repository": related, "tag": "v1", "digest": digest},
		},
		"the operator's image, with neither tag nor digest: the colon is of a port": {
			Options{Image: related},
			ClusterState{},
			photos().Obj(), "image",
			table{"repository": related},
		},
		"the operator's image, without a registry": {
			Options{Image: "darkroom:v1"},
			ClusterState{},
			photos().Obj(), "image",
			table{"repository": "darkroom", "tag": "v1"},
		},
		"a version does not get another digest": {
			Options{Image: related + "@" + digest},
			ClusterState{},
			photos().Version("0.4.0").Obj(), "image",
			table{"repository": related, "tag": "0.4.0"},
		},
		"a repository gets neither": {
			Options{Image: related + ":v1@" + digest},
			ClusterState{},
			photos().Repository("team/darkroom").Obj(), "image",
			table{"repository": "team/darkroom"},
		},
		"pull secrets of the operator": {
			Options{ImagePullSecrets: []string{"a", "b", "a"}},
			ClusterState{},
			photos().Obj(), "image",
			table{"pullSecrets": []any{table{"name": "a"}, table{"name": "b"}}},
		},
		"pull secrets of the Darkroom": {
			Options{ImagePullSecrets: []string{"a"}},
			ClusterState{},
			photos().PullSecrets("mine").Obj(), "image",
			table{"pullSecrets": []any{table{"name": "mine"}}},
		},
		"class of the operator": {
			Options{IngressClassName: "nginx"},
			ClusterState{},
			photos().Ingress(v1alpha1.Ingress{TLSSecretName: "cert"}).Obj(), "ingress",
			table{"className": "nginx", "tlsSecretName": "cert"},
		},
		"class of the Darkroom": {
			Options{IngressClassName: "nginx"},
			ClusterState{},
			photos().Ingress(v1alpha1.Ingress{ClassName: "traefik"}).Obj(), "ingress",
			table{"className": "traefik"},
		},
		"a Gateway needs no class": {
			Options{IngressClassName: "nginx"},
			ClusterState{},
			photos().Gateway("public").Obj(), "ingress",
			table{"enabled": false},
		},
		"a Gateway without a time limit": {
			Options{},
			ClusterState{},
			photos().Gateway("public").Spec(func(s *v1alpha1.DarkroomSpec) { s.Gateway.Timeouts = &v1alpha1.GatewayTimeouts{} }).
				Obj(), "gateway", public(nil),
		},
		"a network policy that is not enabled": {
			Options{},
			ClusterState{},
			spec(func(s *v1alpha1.DarkroomSpec) { s.NetworkPolicy = &v1alpha1.NetworkPolicy{} }), "networkPolicy", nil,
		},
		"hosts do not depend on their order": {
			Options{BaseDomains: []string{"example.net"}},
			ClusterState{},
			photos().SubDomains("c", "a.b", "a").Obj(), "hosts",
			[]any{"a.b.example.net", "a.example.net", "c.example.net"},
		},
		"hosts of others are omitted": {
			Options{},
			ClusterState{RefusedHosts: []string{"b.darkroom.example.com"}},
			photos().SubDomains("b", "a").Obj(), "hosts",
			[]any{"a.darkroom.example.com"},
		},
		"all hosts are of others": {
			Options{},
			ClusterState{RefusedHosts: []string{"a.darkroom.example.com"}},
			photos().SubDomains("a").Obj(), "hosts",
			[]any{},
		},
		"a source without a type": {
			Options{},
			ClusterState{},
			photos().Source(v1alpha1.Source{BaseURL: "https://example.com/images//"}).Obj(), "source",
			table{"type": "WebFolder", "baseUrl": "https://example.com/images"},
		},
		"WebFolder among fields of other kinds": {
			Options{},
			ClusterState{},
			leftOvers(v1alpha1.WebFolder), "source",
			table{"type": "WebFolder", "baseUrl": "https://example.com"},
		},
		"CloudFront among fields of other kinds": {
			Options{},
			ClusterState{},
			leftOvers(v1alpha1.CloudFront), "source",
			table{"type": "CloudFront", "host": "d1.cloudfront.net", "secureProtocol": false, "pathPrefix": "/p"},
		},
		"S3 among fields of other kinds": {Options{}, ClusterState{}, leftOvers(v1alpha1.S3), "source", table{
			"type": "S3", "pathPrefix": "/p", "bucket": table{
				"name": "pictures", "region": "eu-west-2",
				"endpoint": "https://minio.example.com",
			},
			"credentials": table{"existingSecret": table{"name": "keys", "accessKeyKey": "id", "secretKeyKey": "key"}},
		}},
		"Google Cloud Storage among fields of other kinds": {
			Options{},
			ClusterState{},
			leftOvers(v1alpha1.GoogleCloudStorage), "source",
			table{
				"type": "GoogleCloudStorage", "bucket": table{"name": "pictures"},
				"credentials": table{"existingSecret": table{"name": "keys", "credentialsJsonKey": "json"}},
			},
		},
		"inline keys": {
			Options{},
			ClusterState{},
			photos().S3("pictures", "r").InlineKeys("AKIAEXAMPLE", "not-a-real-key").Obj(), "source",
			table{
				"type": "S3", "bucket": table{"name": "pictures", "region": "r"},
				"credentials": table{"accessKey": "AKIAEXAMPLE", "secretKey": "not-a-real-key"},
			},
		},
		"public buckets need no keys": {
			Options{},
			ClusterState{},
			photos().GoogleCloudStorage("pictures").InlineKeys("AKIAEXAMPLE", "not-a-real-key").Obj(), "source",
			table{"type": "GoogleCloudStorage", "bucket": table{"name": "pictures"}},
		},
		"a path prefix has a leading slash": {
			Options{},
			ClusterState{},
			photos().CloudFront("d1.example.com").PathPrefix("uploads/").Obj(), "source",
			table{"type": "CloudFront", "host": "d1.example.com", "pathPrefix": "/uploads"},
		},
		"a path prefix of a slash is none": {
			Options{},
			ClusterState{},
			photos().CloudFront("d1.example.com").PathPrefix("/").Obj(), "source",
			table{"type": "CloudFront", "host": "d1.example.com"},
		},
		"no caching is not the default": {
			Options{},
			ClusterState{},
			spec(func(s *v1alpha1.DarkroomSpec) { s.CacheTTLSeconds = ptr.To(int64(0)) }), "cache",
			table{"ttlSeconds": int64(0)},
		},
		"metrics that are not enabled": {
			Options{},
			ClusterState{},
			spec(func(s *v1alpha1.DarkroomSpec) { s.Metrics = &v1alpha1.Metrics{} }), "metrics", nil,
		},
		"no pods": {Options{}, ClusterState{}, photos().Replicas(0).Obj(), "replicaCount", int64(0)},
		"pods of an autoscaler": {
			Options{},
			ClusterState{},
			photos().Replicas(4).Autoscaling(2, 5).Obj(), "replicaCount", nil,
		},
		"autoscaling from one": {
			Options{},
			ClusterState{},
			spec(func(s *v1alpha1.DarkroomSpec) { s.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 5} }), "autoscaling",
			table{"enabled": true, "minReplicas": int64(1), "maxReplicas": int64(5)},
		},
		"an empty template of pods": {
			Options{},
			ClusterState{},
			photos().PodTemplate(v1alpha1.PodTemplate{}).Obj(), "serviceAccount", nil,
		},
		"a version of credentials": {
			Options{},
			ClusterState{CredentialsVersion: "2"},
			photos().S3("pictures", "r").CredentialsSecret("keys").
				PodTemplate(v1alpha1.PodTemplate{Annotations: map[string]string{AnnotationCredentials: "forged"}}).Obj(),
			"podAnnotations",
			table{AnnotationCredentials: "2"},
		},
		"a version without credentials": {
			Options{},
			ClusterState{CredentialsVersion: "2"},
			photos().S3("pictures", "r").InlineKeys("a", "s").Obj(), "podAnnotations", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.darkroom.DeepCopy()
			values, err := newTranslator(t, test.options).ValuesIn(test.darkroom, test.state)
			expect.NoError(t, err)
			expect.Equal(t, test.key, test.want, at(values, test.key))
			expect.Equal(t, "the Darkroom, which is shared by a cache", before, test.darkroom)
			// The chart stores the credentials of the source in a Secret.
			delete(values, "source")
			if text := fmt.Sprint(values); strings.Contains(text, "AKIAEXAMPLE") || strings.Contains(text, "not-a-real-key") {
				t.Errorf("a credential is in %s", text)
			}
		})
	}
}

// The message becomes the message of a condition. If it varied, the status would be written each time.
func TestEveryWrongFieldIsNamedAtOnceInTheSameWords(t *testing.T) {
	wrong := photos().
		PullSecrets("").
		Request(corev1.ResourceCPU, "2").Limit(corev1.ResourceCPU, "1").
		Request(corev1.ResourceMemory, "2Gi").Limit(corev1.ResourceMemory, "1Gi").
		DefaultParam("w;h", "1").DefaultParam("a b", "1").
		Env("A B", "true").
		Ingress(v1alpha1.Ingress{ClassName: "A Class"}).Obj()
	first := refusalOf(t, wrong)
	for range 50 {
		if diff := cmp.Diff(first.Error(), refusalOf(t, wrong.DeepCopy()).Error()); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
	}
	var got []string
	for _, fieldErr := range first.Fields {
		got = append(got, fieldErr.Field)
	}
	slices.Sort(got)
	want := []string{
		"spec.defaultParams[a b]", "spec.defaultParams[w;h]", "spec.extraEnv[0].name", "spec.image.pullSecrets[0].name",
		"spec.ingress.className", "spec.resources.requests[cpu]", "spec.resources.requests[memory]",
	}
	expect.Equal(t, "the fields that are named", want, got)
}

func TestOptionsThatEveryDarkroomWouldSufferFromAreRefused(t *testing.T) {
	for want, options := range map[string]Options{
		"set HTTPS_PROXY in the Darkrooms' extraEnvFrom": {
			Proxy: Proxy{HTTPS: "http://user:secret@proxy.example.com"},
		},
		`image pull secret "team/mirror": must be the name of a Secret`: {
			ImagePullSecrets: []string{"team/mirror"},
		},
		`base domain "https://example.com": must be a DNS name`: {
			BaseDomains: []string{"https://example.com"},
		},
		`base domain "` + strings.Repeat("a", 64) +
			`.example.com": must be a DNS name`: {BaseDomains: []string{strings.Repeat("a", 64) + ".example.com"}},
		`ingress class "my class": must be the name of an IngressClass`:                   {IngressClassName: "my class"},
		`image "darkroom:v1\n": must be an image reference without spaces or scheme`:      {Image: "darkroom:v1\n"},
		`image "docker://darkroom:v1": must be an image reference`:                        {Image: "docker://darkroom:v1"},
		`image "darkroom@sha256:00": must be an image reference`:                          {Image: "darkroom@sha256:00"},
		`image ":v1": must be an image reference`:                                         {Image: ":v1"},
		`image of the gate "a gate": must be an image reference without spaces or scheme`: {GateImage: "a gate"},
	} {
		if _, err := New(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in: %v", want, err)
		}
	}
	all := Options{
		BaseDomains: []string{"img.example.net"}, IngressClassName: "nginx", ImagePullSecrets: []string{"mirror.example.com"},
		Image: "registry.example.com:5000/team/darkroom:v0.4.2@sha256:" + strings.Repeat("0", 64),
	}
	if _, err := New(all); err != nil {
		t.Error(err)
	}
}

func TestTheProxyOfTheOperatorIsPassedOnWithoutCredentials(t *testing.T) {
	variables := map[string]string{
		"HTTP_PROXY":  "user:secret@proxy.example.com:3128",
		"HTTPS_PROXY": "http://proxy.example.com:3128",
		"NO_PROXY":    ".cluster.local,.svc",
	}
	proxy, left := ProxyOf(func(name string) string { return variables[name] })
	if !slices.Equal(left, []string{"HTTP_PROXY"}) {
		t.Errorf("the omitted names are %q", left)
	}
	want := map[string]any{"httpsProxy": "http://proxy.example.com:3128", "noProxy": ".cluster.local,.svc"}
	expect.Equal(t, "values of the chart", want, at(valuesOf(t, photos().Obj(), Options{Proxy: proxy}), "proxy"))
}

func TestBuilderRefusesToOverwrite(t *testing.T) {
	for name, test := range map[string]struct {
		set  func(*builder)
		want string // the path that was set twice; empty if there is none
	}{
		"beside one another": {func(b *builder) { b.set(1, "a", "b"); b.set(2, "a", "c") }, ""},
		"a value":            {func(b *builder) { b.set(1, "a", "b"); b.set(2, "a", "b") }, "values.a.b"},
		"a value by itself":  {func(b *builder) { b.set(1, "a"); b.set(1, "a") }, "values.a"},
		"a null":             {func(b *builder) { b.set(nil, "a"); b.set(1, "a") }, "values.a"},
		"a value by a map":   {func(b *builder) { b.set(1, "a"); b.set(2, "a", "b") }, "values.a"},
		"a map by a value":   {func(b *builder) { b.set(1, "a", "b"); b.set(2, "a") }, "values.a"},
		"a plain value":      {func(b *builder) { setNonZero(b, "x", "a"); b.setPlain("y", specPath, "a") }, "values.a"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &builder{values: map[string]any{}}
			test.set(b)
			_, err := b.build("photos")
			var got string
			var invalid *InvalidError
			if errors.As(err, &invalid) {
				got = invalid.Fields[0].Field
			}
			expect.Equal(t, "the fields that are named", test.want, got)
		})
	}
}
