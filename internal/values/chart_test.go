package values

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/releaseutil"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	releaserender "github.com/darkroom-operator/darkroom-operator/internal/release/render"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everything has Darkrooms that together set every field of the API.
func everything() map[string]*v1alpha1.Darkroom {
	yes, no := true, false
	ttl, seconds, percentage := int64(86400), int64(300), int32(60)
	gcs := photos().GoogleCloudStorage("pictures").CredentialsSecret("keys").Obj()
	gcs.Spec.Source.CredentialsSecretRef.CredentialsJSONKey = "robot.json"
	s3 := photos().S3("pictures", "eu-west-2").CredentialsSecret("keys").Endpoint("https://minio.example.com:9000/").PathPrefix("uploads").Obj()
	s3.Spec.Source.CredentialsSecretRef.AccessKeyKey = "id"
	s3.Spec.Source.CredentialsSecretRef.SecretKeyKey = "key"
	return map[string]*v1alpha1.Darkroom{
		"minimal": photos().Obj(),
		"webfolder": photos().
			Version("0.4.2").
			Repository("registry.example.com:5000/team/darkroom").
			PullPolicy(corev1.PullAlways).PullSecrets("regcred").
			SubDomains("photos", "img.photos").
			Replicas(3).
			Request(corev1.ResourceCPU, "250m").Request(corev1.ResourceMemory, "3Gi").
			DefaultParam("auto", "compress").DefaultParam("mono", "000000").
			Env("HTTPS_PROXY", "http://proxy:3128").
			Ingress(v1alpha1.Ingress{ClassName: "nginx", TLSSecretName: "cert", Annotations: map[string]string{"cert-manager.io/issuer": "acme"}}).
			PodTemplate(v1alpha1.PodTemplate{
				Annotations:        map[string]string{"example.com/scrape": "true"},
				Labels:             map[string]string{"team": "a"},
				NodeSelector:       map[string]string{"disk": "ssd"},
				Tolerations:        []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds}},
				Affinity:           &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}}}},
				ServiceAccountName: "robot",
				PriorityClassName:  "images", TerminationGracePeriodSeconds: ptr.To(int64(120)),
				Volumes: []v1alpha1.Volume{
					{Name: "authorities", ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "authorities"}}},
				},
				VolumeMounts: []v1alpha1.VolumeMount{{Name: "authorities", MountPath: "/etc/ssl/private", SubPath: "ca"}},
				TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule,
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
				}},
			}).
			Spec(func(spec *v1alpha1.DarkroomSpec) {
				spec.CacheTTLSeconds = &ttl
				spec.LogLevel = "warn"
				spec.Metrics = &v1alpha1.Metrics{
					Enabled: true, ServiceMonitor: true, ServiceMonitorLabels: map[string]string{"release": "stack"}, ScrapeInterval: "1m",
				}
				spec.Probe = &v1alpha1.Probe{Path: "/probe.jpg", PeriodSeconds: ptr.To(int32(30)), TimeoutSeconds: ptr.To(int32(5)), FailureThreshold: ptr.To(int32(3))}
				spec.Source.CABundleRef = &v1alpha1.CABundleRef{Kind: v1alpha1.CABundleSecret, Name: "authorities", Key: "tls.crt"}
				spec.Gate = &v1alpha1.Gate{
					Limits: &v1alpha1.GateLimits{
						MaxWidth: ptr.To(int32(2000)), MaxHeight: ptr.To(int32(1000)), MaxSourcePixels: ptr.To(int64(1e8)),
						MaxSourceBytes: ptr.To(resource.MustParse("128Mi")), Parameters: []v1alpha1.GateParameter{"w", "h"},
					},
					Presets: map[string]v1alpha1.PresetParameters{"thumb": "w=200&h=200"},
					Cache: &v1alpha1.GateCache{
						Disk: ptr.To(resource.MustParse("1Gi")), RevalidateSeconds: ptr.To(int32(60)), StaleIfErrorSeconds: ptr.To(int32(3600)),
					},
					ShrinkFirst: ptr.To(false), AccessLog: true,
					Resources: &corev1.ResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
						Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
					},
				}
				spec.Service = &v1alpha1.Service{
					IPFamilyPolicy: corev1.IPFamilyPolicyPreferDualStack, TrafficDistribution: corev1.ServiceTrafficDistributionPreferClose,
					Annotations: map[string]string{"cert-manager.io/issuer": "acme"},
				}
				spec.NetworkPolicy = &v1alpha1.NetworkPolicy{Enabled: true}
				spec.ExtraEnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "more"},
				}}}
			}).Obj(),
		"presets": photos().Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Gate = &v1alpha1.Gate{Presets: map[string]v1alpha1.PresetParameters{"thumb": "w=200&h=200"}, OnlyPresets: true}
		}).Obj(),
		"s3-inline": photos().S3("pictures", "eu-west-2").InlineKeys("AKIAEXAMPLE", "not-a-real-key").
			Limit(corev1.ResourceMemory, "64Mi").Obj(),
		"s3-secret": s3,
		"s3-identity": photos().Source(v1alpha1.Source{Type: v1alpha1.S3, Bucket: "pictures", Region: "eu-west-2", Auth: v1alpha1.WorkloadIdentity}).
			Spec(func(spec *v1alpha1.DarkroomSpec) { spec.Gate = &v1alpha1.Gate{} }).Obj(),
		"gcs-public": photos().GoogleCloudStorage("pictures").Obj(),
		"gcs-secret": gcs,
		"cloudfront": photos().Source(v1alpha1.Source{
			Type: v1alpha1.CloudFront, Host: "d111111abcdef8.cloudfront.net", SecureProtocol: &no, PathPrefix: "/uploads",
		}).Obj(),
		"autoscaling": photos().Autoscaling(2, 5).Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Autoscaling.TargetCPUUtilizationPercentage = &percentage
			spec.Autoscaling.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{
				ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To(int32(600))},
			}
			spec.PodTemplate = &v1alpha1.PodTemplate{
				ServiceAccountAnnotations: map[string]string{"cert-manager.io/issuer": "acme"},
				Volumes:                   []v1alpha1.Volume{{Name: "authorities", Secret: &corev1.SecretVolumeSource{SecretName: "authorities"}}},
				VolumeMounts:              []v1alpha1.VolumeMount{{Name: "authorities", MountPath: "/authorities"}},
			}
		}).Obj(),
		"gateway": photos().CloudFront("d111111abcdef8.cloudfront.net").Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Source.SecureProtocol = &yes
			spec.Gateway = &v1alpha1.Gateway{
				ParentRefs:  []v1alpha1.ParentRef{{Name: "public", Namespace: "gateways", SectionName: "https"}},
				Annotations: map[string]string{"cert-manager.io/issuer": "acme"},
				Timeouts:    &v1alpha1.GatewayTimeouts{Request: "30s"},
			}
		}).Obj(),
		"gateway-and-ingress": photos().Gateway("public").Ingress(v1alpha1.Ingress{ClassName: "nginx"}).Obj(),
	}
}

func TestEveryFieldOfTheAPIIsInACase(t *testing.T) {
	set := map[string]bool{}
	for _, darkroom := range everything() {
		fieldsOf(reflect.ValueOf(darkroom.Spec), "spec", set)
	}
	for path, isSet := range set {
		if !isSet {
			t.Errorf("no case sets %s: nothing shows that its values fit the chart", path)
		}
	}
}

// fieldsOf notes for each field of the API's own types whether it is set.
func fieldsOf(value reflect.Value, path string, set map[string]bool) {
	value = reflect.Indirect(value)
	if value.Kind() == reflect.Slice && value.Len() > 0 {
		value = value.Index(0)
	}
	if value.Kind() != reflect.Struct || value.Type().PkgPath() != reflect.TypeFor[v1alpha1.Darkroom]().PkgPath() {
		return
	}
	for i := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		field := path + "." + name
		set[field] = set[field] || !value.Field(i).IsZero()
		fieldsOf(value.Field(i), field, set)
	}
}

// Each case is translated, held against values.schema.json, rendered and decoded
// strictly into the types of Kubernetes.
func TestTheChartAcceptsTranslatedValues(t *testing.T) {
	for name, darkroom := range everything() {
		t.Run(name, func(t *testing.T) {
			before := darkroom.DeepCopy()
			decoded := render(t, darkroom, Options{})
			if diff := cmp.Diff(before, darkroom); diff != "" {
				t.Errorf("the Darkroom, which is that of a cache, was changed (-before +after):\n%s", diff)
			}
			for _, object := range decoded {
				if object.GetNamespace() != "team-a" {
					t.Errorf("%T %s is in namespace %q", object, object.GetName(), object.GetNamespace())
				}
				if _, isTest := object.(*corev1.Pod); !isTest && object.GetLabels()[v1alpha1.LabelDarkroom] != "photos" {
					t.Errorf("%T %s: the operator's caches would not hold it: labels %v", object, object.GetName(), object.GetLabels())
				}
			}
			if got := decoded.deployment(t).Name; got != "photos" {
				t.Errorf("want the Darkroom's own name, got %s", got)
			}
		})
	}
}

func TestGoldenValues(t *testing.T) {
	cases := everything()
	for name, darkroom := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := yaml.Marshal(valuesOf(t, darkroom, Options{}))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "golden", name+".yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v (go test ./internal/values -update writes it)", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("differs from %s; if intended, go test ./internal/values -update (-want +got):\n%s", golden, diff)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, found := cases[strings.TrimSuffix(filepath.Base(file), ".yaml")]; !found {
			t.Errorf("%s belongs to no case", file)
		}
	}
}

// What the API server stores must be refused with the name of its field: a refusal
// by the chart names a value that the author of the resource has never seen, and
// is tried again and again.
func TestTheTranslatorRefusesWhatTheChartRefuses(t *testing.T) {
	label := strings.Repeat("a", 63)
	for field, test := range map[string]struct {
		darkroom *darkrooms.Builder
		advice   string
	}{
		"spec.image.pullSecrets[0].name":                        {photos().PullSecrets(""), "the name of a Secret"},
		"spec.ingress.className":                                {photos().Ingress(v1alpha1.Ingress{ClassName: "My Class"}), "an IngressClass"},
		"spec.ingress.tlsSecretName":                            {photos().Ingress(v1alpha1.Ingress{TLSSecretName: "My Cert"}), "a Secret"},
		"spec.podTemplate.serviceAccountName":                   {photos().PodTemplate(v1alpha1.PodTemplate{ServiceAccountName: "My Robot"}), "a ServiceAccount"},
		"spec.podTemplate.volumes[0].name":                      {photos().PodTemplate(v1alpha1.PodTemplate{Volumes: []v1alpha1.Volume{{Name: "My Volume"}}}), ""},
		"spec.podTemplate.labels[a b]":                          {photos().PodTemplate(v1alpha1.PodTemplate{Labels: map[string]string{"a b": ""}}), "must be the key of a label"},
		"spec.podTemplate.nodeSelector[disk]":                   {photos().PodTemplate(v1alpha1.PodTemplate{NodeSelector: map[string]string{"disk": "a b"}}), "must be the value of a label"},
		"spec.extraEnv[0].name":                                 {photos().Env("MY VARIABLE", ""), "must be the name of a variable"},
		"spec.defaultParams[w;h]":                               {photos().DefaultParam("w;h", "1"), "names may contain"},
		"spec.source.type":                                      {photos().Source(v1alpha1.Source{Type: "FTP"}), "CloudFront"},
		"spec.subDomains[1]":                                    {photos().SubDomains("photos", strings.Join([]string{label, label, label, label[:42]}, ".")), "would have 255 characters, and DNS allows 253"},
		"spec.resources.requests[cpu]":                          {photos().Request(corev1.ResourceCPU, "1001m").Limit(corev1.ResourceCPU, "1"), "not exceed the limit of 1"},
		"spec.ingress.annotations[a b]":                         {annotated("a b"), "must be the key of an annotation"},
		"spec.ingress.annotations[konghq.com/plugins]":          {annotated("konghq.com/plugins"), "ask the administrator to allow it with --ingress-annotations"},
		"spec.ingress.annotations[kubernetes.io/ingress.class]": {annotated("kubernetes.io/ingress.class"), "set spec.ingress.className instead"},
		"spec.ingress.annotations": {
			photos().Ingress(v1alpha1.Ingress{Annotations: map[string]string{"cert-manager.io/issuer": strings.Repeat("x", 1<<18)}}), "may not be more than 262144",
		},
	} {
		t.Run(field, func(t *testing.T) { expectNamed(t, test.darkroom, map[string]string{field: test.advice}) })
	}
}

// objects are the rendered objects, decoded strictly: an unknown, misplaced or
// repeated field is an error.
type objects []client.Object

// oldestKubernetes is the first release that the chart admits.
var oldestKubernetes = &chartutil.Capabilities{
	KubeVersion: chartutil.KubeVersion{Version: "v1.30.0", Major: "1", Minor: "30"},
	APIVersions: chartutil.DefaultVersionSet,
}

var (
	darkroomChart = sync.OnceValues(charts.Darkroom)
	strictDecoder = sync.OnceValue(func() runtime.Decoder {
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, gatewayv1.Install} {
			if err := add(scheme); err != nil {
				panic(err)
			}
		}
		return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	})
)

// render renders what a Darkroom is translated to, as the operator does.
func render(t *testing.T, darkroom *v1alpha1.Darkroom, options Options) objects {
	t.Helper()
	decoded, err := decode(manifest(t, darkroom, options))
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// manifest is all that a Darkroom becomes, with the pod of helm test.
func manifest(t *testing.T, darkroom *v1alpha1.Darkroom, options Options) string {
	t.Helper()
	chrt, err := darkroomChart()
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := tryRender(chrt, darkroom, valuesOf(t, darkroom, options))
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

func tryRender(chrt *chart.Chart, darkroom *v1alpha1.Darkroom, values map[string]any) (string, error) {
	key := types.NamespacedName{Namespace: darkroom.Namespace, Name: darkroom.Name}
	rendered, err := releaserender.Render(chrt, key, values, oldestKubernetes)
	if err != nil {
		return "", err
	}
	documents := []string{rendered.Manifest}
	for _, hook := range rendered.Hooks {
		documents = append(documents, hook.Manifest)
	}
	return strings.Join(documents, "\n---\n"), nil
}

func decode(manifest string) (objects, error) {
	documents := releaseutil.SplitManifests(manifest)
	keys := make([]string, 0, len(documents))
	for key := range documents {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var decoded objects
	for _, key := range keys {
		document := []byte(documents[key])
		if header := (metav1.TypeMeta{}); yaml.Unmarshal(document, &header) == nil && header.Kind == "ServiceMonitor" {
			monitor := &serviceMonitor{}
			if err := yaml.UnmarshalStrict(document, monitor); err != nil {
				return nil, err
			}
			decoded = append(decoded, monitor)
			continue
		}
		object, _, err := strictDecoder().Decode(document, nil, nil)
		if err != nil {
			return nil, err
		}
		decoded = append(decoded, object.(client.Object))
	}
	return decoded, nil
}

// serviceMonitor has the metadata of the Prometheus Operator's type, which is not
// among the types of Kubernetes, and leaves its spec to the tests of the chart.
type serviceMonitor struct {
	metav1.PartialObjectMetadata `json:",inline"`
	Spec                         map[string]any `json:"spec"`
}

// only returns the single object of a type.
func only[T client.Object](t *testing.T, decoded objects) T {
	t.Helper()
	var found []T
	for _, object := range decoded {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	if len(found) != 1 {
		t.Fatalf("want one %T, got %d", *new(T), len(found))
	}
	return found[0]
}

func (o objects) deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	return only[*appsv1.Deployment](t, o)
}

// config is Darkroom's configuration.
func (o objects) config(t *testing.T) map[string]string {
	t.Helper()
	return only[*corev1.ConfigMap](t, o).Data
}
