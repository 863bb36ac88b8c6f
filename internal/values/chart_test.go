package values

import (
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	releaserender "github.com/darkroom-operator/darkroom-operator/internal/release/render"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/golden"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// everything contains Darkrooms that together set every field of the API: the samples, and the fields that the samples
// omit.
func everything(t *testing.T) map[string]*v1alpha1.Darkroom {
	t.Helper()
	s3 := photos().S3("pictures", "eu-west-2").CredentialsSecret("keys").
		Endpoint("https://minio.example.com:9000/").PathPrefix("uploads").Obj()
	s3.Spec.Source.CredentialsSecretRef.AccessKeyKey = "id"
	s3.Spec.Source.CredentialsSecretRef.SecretKeyKey = "key"
	cases := map[string]*v1alpha1.Darkroom{
		"minimal": photos().Obj(),
		"more": photos().Replicas(3).DefaultParam("auto", "compress").DefaultParam("mono", "000000").
			PodTemplate(v1alpha1.PodTemplate{
				ServiceAccountName: "robot",
				PriorityClassName:  "images",
				Volumes: []v1alpha1.Volume{{
					Name:   "authorities",
					Secret: &corev1.SecretVolumeSource{SecretName: "authorities"},
				}},
				VolumeMounts: []v1alpha1.VolumeMount{{Name: "authorities", MountPath: "/etc/ssl/private", SubPath: "ca"}},
			}).
			Spec(func(spec *v1alpha1.DarkroomSpec) {
				spec.Metrics = &v1alpha1.Metrics{
					Enabled: true, ServiceMonitor: true, ServiceMonitorLabels: map[string]string{"release": "stack"},
					ScrapeInterval: "1m",
				}
				spec.Source.CABundleRef = &v1alpha1.CABundleRef{Kind: v1alpha1.CABundleSecret, Name: "authorities", Key: "tls.crt"}
				spec.Gate = &v1alpha1.Gate{
					Limits: &v1alpha1.GateLimits{
						MaxSourcePixels: ptr.To(int64(1e8)), MaxSourceBytes: ptr.To(resource.MustParse("128Mi")),
						Parameters: []v1alpha1.GateParameter{"w", "h"},
					},
					Presets: map[string]v1alpha1.PresetParameters{"thumb": "w=200&h=200"},
					Cache:   &v1alpha1.GateCache{StaleIfErrorSeconds: ptr.To(int32(3600))},
					Resizer: v1alpha1.ResizerDarkroom, ServerTiming: ptr.To(false), AccessLog: true,
					Signing: &v1alpha1.GateSigning{
						SecretRef: v1alpha1.SigningSecretRef{Name: "signing", Key: "urls"}, Mode: v1alpha1.SigningRequire,
						Scheme: v1alpha1.SigningImgix,
					},
					Resources: &corev1.ResourceRequirements{
						Requests: corev1.ResourceList{
							corev1.ResourceCPU:    resource.MustParse("50m"),
							corev1.ResourceMemory: resource.MustParse("64Mi"),
						},
						Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
					},
				}
				spec.Service = &v1alpha1.Service{Annotations: map[string]string{"cert-manager.io/issuer": "acme"}}
			}).Obj(),
		"presets": photos().Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Gate = &v1alpha1.Gate{Presets: map[string]v1alpha1.PresetParameters{"thumb": "w=200&h=200"}, OnlyPresets: true}
			spec.BaseDomain = DefaultBaseDomain
		}).Obj(),
		"s3-keys": s3,
		"s3-identity": photos().Source(v1alpha1.Source{
			Type: v1alpha1.S3, Bucket: "pictures", Region: "eu-west-2",
			Auth: v1alpha1.WorkloadIdentity,
		}).
			PodTemplate(v1alpha1.PodTemplate{ServiceAccountAnnotations: map[string]string{"cert-manager.io/issuer": "acme"}}).
			Spec(func(spec *v1alpha1.DarkroomSpec) { spec.Gate = &v1alpha1.Gate{} }).Obj(),
		"sources": photos().Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Gate = &v1alpha1.Gate{}
			bucket := *s3.Spec.Source.DeepCopy()
			bucket.CABundleRef = &v1alpha1.CABundleRef{Kind: v1alpha1.CABundleSecret, Name: "authorities", Key: "tls.crt"}
			spec.AdditionalSources = []v1alpha1.AdditionalSource{
				{Name: "products", Path: "/products", StripPath: true, Source: bucket},
				{Name: "inline", Path: "/inline", Source: v1alpha1.Source{
					Type: v1alpha1.S3, Bucket: "b", Region: "r", AccessKey: "AKIAEXAMPLE", SecretKey: "not-a-real-key",
				}},
				{Name: "cdn", Path: "/cdn", Source: v1alpha1.Source{
					Type: v1alpha1.CloudFront, Host: "d111111abcdef8.cloudfront.net", SecureProtocol: ptr.To(false),
				}},
				{Name: "gcs", Fallback: true, Source: v1alpha1.Source{
					Type: v1alpha1.GoogleCloudStorage, Bucket: "b",
					CredentialsSecretRef: &v1alpha1.CredentialsSecretRef{Name: "gcs", CredentialsJSONKey: "key.json"},
				}},
				{Name: "identity", Fallback: true, Source: v1alpha1.Source{
					Type: v1alpha1.GoogleCloudStorage, Bucket: "b",
					Auth: v1alpha1.WorkloadIdentity,
				}},
				{Name: "old", Fallback: true, Source: v1alpha1.Source{BaseURL: "https://old.example.com/images/"}},
			}
		}).Obj(),
		"gcs-public": photos().GoogleCloudStorage("pictures").Obj(),
		"gateway": photos().CloudFront("d111111abcdef8.cloudfront.net").Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Gateway = &v1alpha1.Gateway{
				ParentRefs: []v1alpha1.ParentRef{{
					Kind: "ListenerSet", Name: "public",
					Namespace: "gateways", SectionName: "https",
				}},
				Annotations: map[string]string{"cert-manager.io/issuer": "acme"},
				Timeouts:    &v1alpha1.GatewayTimeouts{Request: "30s"},
			}
		}).Obj(),
		"gateway-and-ingress": photos().Gateway("public").Ingress(v1alpha1.Ingress{ClassName: "nginx"}).Obj(),
	}
	samples, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "darkroom-*.yaml"))
	if err != nil || len(samples) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, sample := range samples {
		darkroom, err := manifests.ReadDarkroom(sample)
		expect.NoError(t, err)
		darkroom.Name, darkroom.Namespace = "photos", "team-a"
		cases["sample-"+strings.TrimSuffix(strings.TrimPrefix(filepath.Base(sample), "darkroom-"), ".yaml")] = darkroom
	}
	return cases
}

func TestEveryFieldOfTheAPIIsInACase(t *testing.T) {
	set := map[string]bool{}
	for _, darkroom := range everything(t) {
		eachField(reflect.ValueOf(&darkroom.Spec).Elem(), "spec", func(path string, field reflect.Value) {
			set[path] = set[path] || !field.IsZero()
		})
	}
	for path, isSet := range set {
		if !isSet {
			t.Errorf("no case sets %s, so no test checks that its values fit the chart", path)
		}
	}
}

// eachField visits the fields of the API's own types in a struct, and the fields of each item of a list. A struct that
// is not set is created while its fields are visited.
func eachField(of reflect.Value, path string, visit func(path string, field reflect.Value)) {
	for i := range of.NumField() {
		field, below := of.Field(i), path
		if name, _, _ := strings.Cut(of.Type().Field(i).Tag.Get("json"), ","); name != "" {
			below += "." + name
		}
		visit(below, field)
		absent := field.Kind() == reflect.Pointer && field.IsNil()
		if absent {
			field.Set(reflect.New(field.Type().Elem()))
		}
		inner := []reflect.Value{reflect.Indirect(field)}
		if list := inner[0]; list.Kind() == reflect.Slice {
			inner = nil
			for i := range list.Len() {
				inner = append(inner, list.Index(i))
			}
		}
		for _, inner := range inner {
			if inner.Kind() == reflect.Struct && inner.Type().PkgPath() == of.Type().PkgPath() {
				eachField(inner, below, visit)
			}
		}
		if absent {
			field.SetZero()
		}
	}
}

// Each case is translated, compared with its golden file, validated against values.schema.json, rendered, and decoded
// strictly into Kubernetes types.
func TestTheChartAcceptsTranslatedValues(t *testing.T) {
	folder := filepath.Join("testdata", "golden")
	var files []string
	for name, darkroom := range everything(t) {
		file := filepath.Join(folder, name+".yaml")
		files = append(files, file)
		t.Run(name, func(t *testing.T) {
			before := darkroom.DeepCopy()
			values, err := yaml.Marshal(valuesOf(t, darkroom, Options{}))
			expect.NoError(t, err)
			golden.Check(t, file, string(values))
			decoded := render(t, darkroom, Options{})
			expect.Equal(t, "the Darkroom, which is shared by a cache", before, darkroom)
			for _, object := range decoded {
				if object.GetNamespace() != "team-a" {
					t.Errorf("%T %s is in namespace %q", object, object.GetName(), object.GetNamespace())
				}
				if _, isTest := object.(*corev1.Pod); !isTest && object.GetLabels()[v1alpha1.LabelDarkroom] != "photos" {
					t.Errorf("%T %s: the operator's caches would not contain it: labels %v", object, object.GetName(), object.GetLabels())
				}
			}
			if got := deploymentIn(t, decoded).Name; got != "photos" {
				t.Errorf("want the Darkroom's own name, got %s", got)
			}
		})
	}
	golden.CheckNoneIsLeft(t, folder, files)
}

// Anything that the API server stores must be rejected with the name of its field. An error from the chart would name a
// value that the author of the resource has never seen, and would be retried forever.
func TestTheTranslatorRefusesWhatTheChartRefuses(t *testing.T) {
	label := strings.Repeat("a", 63)
	for _, test := range []struct {
		field    string
		darkroom *darkrooms.Builder
		advice   string
	}{
		{field: "spec.image.pullSecrets[0].name", darkroom: photos().PullSecrets(""), advice: "the name of a Secret"},
		{
			field:    "spec.ingress.className",
			darkroom: photos().Ingress(v1alpha1.Ingress{ClassName: "My Class"}), advice: "an IngressClass",
		},
		{
			field:    "spec.ingress.tlsSecretName",
			darkroom: photos().Ingress(v1alpha1.Ingress{TLSSecretName: "My Cert"}), advice: "a Secret",
		},
		{
			field:    "spec.podTemplate.serviceAccountName",
			darkroom: photos().PodTemplate(v1alpha1.PodTemplate{ServiceAccountName: "My Robot"}), advice: "a ServiceAccount",
		},
		{
			field:    "spec.podTemplate.volumes[0].name",
			darkroom: photos().PodTemplate(v1alpha1.PodTemplate{Volumes: []v1alpha1.Volume{{Name: "My Volume"}}}),
		},
		{
			field:    "spec.podTemplate.labels[a b]",
			darkroom: photos().PodTemplate(v1alpha1.PodTemplate{Labels: map[string]string{"a b": ""}}),
			advice:   "must be the key of a label",
		},
		{
			field:    "spec.podTemplate.nodeSelector[disk]",
			darkroom: photos().PodTemplate(v1alpha1.PodTemplate{NodeSelector: map[string]string{"disk": "a b"}}),
			advice:   "must be the value of a label",
		},
		{field: "spec.extraEnv[0].name", darkroom: photos().Env("MY VARIABLE", ""), advice: "must be the name of a variable"},
		{field: "spec.defaultParams[w;h]", darkroom: photos().DefaultParam("w;h", "1"), advice: "names may contain"},
		{field: "spec.source.type", darkroom: photos().Source(v1alpha1.Source{Type: "FTP"}), advice: "CloudFront"},
		{
			field:    "spec.subDomains[1]",
			darkroom: photos().SubDomains("photos", strings.Join([]string{label, label, label, label[:42]}, ".")),
			advice:   "would have 255 characters, but DNS allows 253",
		},
		{
			field:    "spec.resources.requests[cpu]",
			darkroom: photos().Request(corev1.ResourceCPU, "1001m").Limit(corev1.ResourceCPU, "1"),
			advice:   "not exceed the limit of 1",
		},
		{field: "spec.ingress.annotations[a b]", darkroom: annotated("a b"), advice: "must be the key of an annotation"},
		{
			field: "spec.ingress.annotations[konghq.com/plugins]", darkroom: annotated("konghq.com/plugins"),
			advice: "ask the administrator to allow it with --ingress-annotations",
		},
		{
			field:    "spec.ingress.annotations[kubernetes.io/ingress.class]",
			darkroom: annotated("kubernetes.io/ingress.class"), advice: "set spec.ingress.className instead",
		},
		{
			field: "spec.ingress.annotations",
			darkroom: photos().Ingress(v1alpha1.Ingress{Annotations: map[string]string{
				"cert-manager.io/issuer": strings.Repeat("x", 1<<18),
			}}),
			advice: "may not be more than 262144",
		},
		// YAML cannot represent these characters: toYaml returns nothing on an error, so that one such character in a
		// variable would silently remove all variables. The second character is the line break of EBCDIC.
		{field: "spec.extraEnv", darkroom: photos().Env("FINE", "1").Env("NOTE", "\x7f")},
		{field: "spec.extraEnv", darkroom: photos().Env("NOTE", "a\u0085b")},
		{
			field:    "spec.ingress.annotations",
			darkroom: photos().Ingress(v1alpha1.Ingress{Annotations: map[string]string{"cert-manager.io/issuer": "\x7f"}}),
		},
		{
			field:    "spec.podTemplate.annotations",
			darkroom: photos().PodTemplate(v1alpha1.PodTemplate{Annotations: map[string]string{"<<": "a"}}),
		},
	} {
		t.Run(test.field, func(t *testing.T) {
			wrong := refusalOf(t, test.darkroom.Obj()).Fields
			if last := wrong[len(wrong)-1]; last.Field != test.field || !strings.Contains(last.ErrorBody(), test.advice) {
				t.Errorf("got %v, want the field %s with %q", last, test.field, test.advice)
			}
			for _, other := range wrong[:len(wrong)-1] {
				if !strings.HasPrefix(other.Field, test.field+"[") {
					t.Errorf("got also %v, want only the field %s", other, test.field)
				}
			}
		})
	}
}

// oldestKubernetes is the oldest version that the chart allows.
var oldestKubernetes = releaserender.Capabilities{Version: "v1.30.0"}

var darkroomChart = sync.OnceValues(charts.Darkroom)

// render renders the translation of a Darkroom as the operator does, with the pod of helm test.
func render(t *testing.T, darkroom *v1alpha1.Darkroom, options Options) []client.Object {
	t.Helper()
	chrt, err := darkroomChart()
	expect.NoError(t, err)
	rendered, err := tryRender(chrt, darkroom, valuesOf(t, darkroom, options))
	expect.NoError(t, err)
	objects, err := manifests.DecodeStrictly(rendered)
	expect.NoError(t, err)
	return objects
}

func tryRender(chrt *chart.Chart, darkroom *v1alpha1.Darkroom, values map[string]any) (string, error) {
	rendered, err := releaserender.Render(chrt, client.ObjectKeyFromObject(darkroom), values, oldestKubernetes)
	if err != nil {
		return "", err
	}
	documents := []string{rendered.Manifest}
	for _, hook := range rendered.Hooks {
		documents = append(documents, hook.Manifest)
	}
	return strings.Join(documents, "\n---\n"), nil
}

func deploymentIn(t *testing.T, objects []client.Object) *appsv1.Deployment {
	t.Helper()
	return manifests.Only[*appsv1.Deployment](t, objects)
}
