package histories

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// specPatches are changes to specs by the owner of a Darkroom: for each field a value, and for each field of the spec
// itself its removal. Another step changes subDomains.
var specPatches = []string{
	`{"version":null}`, `{"version":"v0.4.1"}`,
	`{"image":null}`,
	`{"image":{"repository":"registry.example.com/darkroom","pullPolicy":"Always","pullSecrets":[{"name":"registry"}]}}`,
	`{"source":{"type":"WebFolder","baseUrl":"https://example.com/others"}}`,
	`{"source":{"type":"WebFolder","bucket":null,"region":null,"endpoint":null,"pathPrefix":null,"accessKey":null,
		"secretKey":null,"credentialsSecretRef":null,"auth":null,"host":null,"secureProtocol":null,"caBundleRef":null,
		"baseUrl":"https://example.com/others"}}`,
	`{"source":{"type":"S3","baseUrl":null,"bucket":"photos","region":"eu-west-1","endpoint":"https://minio.example.com",
		"pathPrefix":"/uploads","auth":null,"accessKey":null,"secretKey":null,
		"credentialsSecretRef":{"name":"keys","accessKeyKey":"accessKey","secretKeyKey":"secretKey"}}}`,
	`{"source":{"type":"S3","baseUrl":null,"bucket":"photos","region":"eu-west-1","auth":null,"credentialsSecretRef":null,
		"accessKey":"AKIAEXAMPLE","secretKey":"` + canary + `"}}`,
	`{"gate":{},"podTemplate":{"serviceAccountAnnotations":{"example.com/role":"reader"}},
		"source":{"type":"S3","baseUrl":null,"bucket":"photos","region":"eu-west-1","auth":"WorkloadIdentity",
		"credentialsSecretRef":null,"accessKey":null,"secretKey":null}}`,
	`{"source":{"type":"GoogleCloudStorage","baseUrl":null,"bucket":"photos","auth":null,"accessKey":null,
		"secretKey":null,"credentialsSecretRef":{"name":"keys","credentialsJsonKey":"key"}}}`,
	`{"source":{"type":"CloudFront","baseUrl":null,"bucket":null,"auth":null,"host":"cdn.example.com",
		"secureProtocol":false}}`,
	`{"gate":{},"source":{"caBundleRef":{"kind":"ConfigMap","name":"authorities","key":"ca.crt"}}}`,
	`{"additionalSources":null}`,
	`{"gate":{},"additionalSources":[{"name":"old","path":"/old","type":"WebFolder","baseUrl":"https://example.org"}]}`,
	`{"gate":{},"additionalSources":[
		{"name":"own","path":"/own","stripPath":true,"type":"S3","bucket":"b","region":"eu-west-1",
		"endpoint":"https://minio.example.com","pathPrefix":"/uploads",
		"caBundleRef":{"kind":"Secret","name":"authorities","key":"ca.crt"},
		"credentialsSecretRef":{"name":"keys","accessKeyKey":"accessKey","secretKeyKey":"secretKey"}},
		{"name":"inline","path":"/inline","type":"S3","bucket":"b","region":"eu-west-1",
		"accessKey":"AKIAEXAMPLE","secretKey":"` + canary + `"},
		{"name":"cdn","path":"/cdn","type":"CloudFront","host":"cdn.example.com","secureProtocol":false},
		{"name":"gcs","fallback":true,"type":"GoogleCloudStorage","bucket":"b",
		"credentialsSecretRef":{"name":"keys","credentialsJsonKey":"key"}},
		{"name":"identity","fallback":true,"type":"GoogleCloudStorage","bucket":"b","auth":"WorkloadIdentity"}]}`,
	`{"baseDomain":null}`, `{"baseDomain":"` + baseDomains[1] + `"}`,
	`{"replicas":0}`, `{"replicas":2}`, `{"autoscaling":null}`,
	`{"replicas":null,"autoscaling":{"minReplicas":2,"maxReplicas":3,"targetCPUUtilizationPercentage":70,
		"behavior":{"scaleDown":{"stabilizationWindowSeconds":60}}}}`,
	`{"resources":null}`, `{"resources":{"limits":{"memory":"2Gi"}}}`,
	`{"cacheTTLSeconds":null}`, `{"cacheTTLSeconds":60}`,
	`{"logLevel":null}`, `{"logLevel":"error"}`,
	`{"defaultParams":null}`, `{"defaultParams":{"auto":"format"}}`,
	`{"metrics":null}`,
	`{"metrics":{"enabled":true,"serviceMonitor":true,"serviceMonitorLabels":{"release":"stack"},"scrapeInterval":"1m"}}`,
	`{"probe":null}`, `{"probe":{"path":"/cat.jpg","periodSeconds":30,"timeoutSeconds":5,"failureThreshold":2}}`,
	`{"gate":null}`, `{"gate":{"presets":{"small":"w=100"},"onlyPresets":true,"cache":{"disk":"1Gi"}}}`,
	`{"gate":{"signing":{"secretRef":{"name":"keys","key":"key"},"mode":"Report","scheme":"imgix"}}}`,
	`{"gate":{"limits":{"maxWidth":2000,"maxHeight":2000,"maxSourcePixels":1000000,"maxSourceBytes":"64Mi",
		"parameters":["w","h"]},"cache":{"revalidateSeconds":60,"staleIfErrorSeconds":600},"resizer":"Darkroom",
		"serverTiming":false,"accessLog":true,"resources":{"limits":{"memory":"1Gi"}}}}`,
	`{"ingress":null}`,
	`{"ingress":{"className":"nginx","tlsSecretName":"certificate","annotations":{"example.com/timeout":"5"}}}`,
	`{"gateway":{"parentRefs":[{"name":"public","namespace":"gateways","sectionName":"https"}],
		"annotations":{"example.com/timeout":"5"},"timeouts":{"request":"5s"}}}`,
	`{"gateway":{"parentRefs":[{"kind":"ListenerSet","name":"own"}]}}`, `{"gateway":null}`,
	`{"service":null}`,
	`{"service":{"trafficDistribution":"PreferClose","ipFamilyPolicy":"PreferDualStack",
		"annotations":{"example.com/a":"b"}}}`,
	`{"networkPolicy":null}`, `{"networkPolicy":{"enabled":true}}`,
	`{"podTemplate":null}`, `{"podTemplate":{"labels":{"team":"shop"},"nodeSelector":{"disk":"ssd"}}}`,
	`{"podTemplate":{"annotations":{"example.com/team":"shop"},"tolerations":[{"key":"images","operator":"Exists"}],
		"affinity":{"nodeAffinity":{}},"topologySpreadConstraints":[
		{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}],"serviceAccountName":"robot",
		"priorityClassName":"images","terminationGracePeriodSeconds":60,"volumes":[
		{"name":"map","configMap":{"name":"more"}},{"name":"secret","secret":{"secretName":"keys"}}],
		"volumeMounts":[{"name":"map","mountPath":"/etc/more","subPath":"file"}]}}`,
	`{"extraEnv":null}`, `{"extraEnv":[{"name":"TZ","value":"UTC"}]}`,
	`{"extraEnvFrom":null}`, `{"extraEnvFrom":[{"configMapRef":{"name":"more"}}]}`,
}

// fieldSteps change a field of a spec, or an object that it references.
var fieldSteps = []kind{
	{4, func(t *rapid.T) step {
		tenant, name := who(t)
		patch := `{"spec":` + rapid.SampledFrom(specPatches).Draw(t, "patch") + `}`
		return step{
			fmt.Sprintf("%s: kubectl patch darkroom %s --type merge -p '%s'", tenant, name, patch),
			func(w *world) error {
				key := w.key(tenant, name)
				darkroom := &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
				merge := client.RawPatch(types.MergePatchType, []byte(patch))
				return w.kube.Patch(w.ctx, darkroom, merge, client.FieldOwner("tenant"))
			},
		}
	}},
	{2, func(t *rapid.T) step {
		tenant := rapid.SampledFrom(tenants).Draw(t, "tenant")
		number := rapid.IntRange(1, 2).Draw(t, "number")
		return step{fmt.Sprintf("%s: kubectl apply secret keys with the pair %d", tenant, number), func(w *world) error {
			pair := canary + fmt.Sprint(number)
			secret := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: tenant + w.suffix, Name: "keys"},
				StringData: map[string]string{"accessKey": "AKIAEXAMPLE", "secretKey": pair, "key": pair},
			}
			if err := w.create(secret); benign(err) != nil || err == nil {
				return err
			}
			return edit(w, client.ObjectKeyFromObject(secret), secret, func(s *corev1.Secret) error {
				s.Data["secretKey"], s.Data["key"] = []byte(pair), []byte(pair)
				return nil
			})
		}}
	}},
	{1, func(t *rapid.T) step {
		tenant := rapid.SampledFrom(tenants).Draw(t, "tenant")
		return step{tenant + ": kubectl delete secret keys", func(w *world) error {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tenant + w.suffix, Name: "keys"}}
			if err := w.kube.Get(w.ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
				return err
			}
			return w.remove(secret)
		}}
	}},
	platform(1, "the sources of images fail", func(w *world) error { w.unserved.Store(true); return nil }),
	platform(1, "the sources of images answer again", func(w *world) error { w.unserved.Store(false); return nil }),
}

// settingValues are values of each of the operator's settings.
var settingValues = map[string][]any{
	"BaseDomains": {
		[]string{baseDomains[0]},
		[]string{baseDomains[1]},
		[]string{baseDomains[0], baseDomains[1]},
		[]string{baseDomains[1], baseDomains[0]},
	},
	"IngressClassName":      {"", "nginx"},
	"Image":                 {"", "example.com/darkroom:v2"},
	"GateImage":             {"", "example.com/gate:v2"},
	"ImagePullSecrets":      {[]string(nil), []string{"registry"}},
	"AllowedAnnotations":    {[]string(nil), []string{}, []string{"example.com/*"}},
	"InheritLabels":         {[]string(nil), []string{"team"}},
	"InheritAnnotations":    {[]string(nil), []string{"example.com/owner"}},
	"ReservedHosts":         {[]string(nil), []string{"*." + baseDomains[1]}},
	"Proxy":                 {values.Proxy{}, values.Proxy{HTTP: "http://proxy.example.com:3128"}},
	"MaxConcurrentRollouts": {0, 1},
	"MaxHistory":            {0, 1, 3},
	"Published":             {status.Published{}, status.Published{Scheme: "https", Port: 8443}},
	"ReconcilePeriod":       {time.Duration(0), time.Second},
}

// settingStep restarts the operator with one setting changed.
var settingStep = kind{2, func(t *rapid.T) step {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(settingValues))).Draw(t, "setting")
	value := rapid.SampledFrom(settingValues[name]).Draw(t, "value")
	return step{fmt.Sprintf("the operator is restarted with the setting %s %v", name, value), func(w *world) error {
		later := w.settings[len(w.settings)-1]
		reflect.ValueOf(&later).Elem().FieldByName(name).Set(reflect.ValueOf(value))
		return w.restart(later)
	}}
}}

// wiring are fields of the controllers' options that are not settings, or that are constant in histories or changed by
// other steps.
var wiring = []string{
	"Chart", "Values", "Namespaces", "Selector", "MaxConcurrentReconciles", "Cluster", "DiscoveryPeriod",
	"Probe", "ProbeConcurrency", "Version", "Installation", "LeaseNamespace", "Metrics", "Darkrooms",
}

func TestEachFieldOfTheSpecAndEachSettingHasAStep(t *testing.T) {
	t.Parallel()
	drawn := map[string]bool{".subDomains": true}
	for _, patch := range specPatches {
		var fields any
		if err := json.Unmarshal([]byte(patch), &fields); err != nil {
			t.Fatalf("%s: %v", patch, err)
		}
		addPaths(drawn, fields, "")
	}
	for _, path := range fieldsOf(reflect.TypeFor[v1alpha1.DarkroomSpec](), "") {
		if !drawn[path] {
			t.Errorf("no step changes spec%s: add it to specPatches", path)
		}
	}
	for _, settings := range []reflect.Type{reflect.TypeFor[values.Options](), reflect.TypeFor[controller.Options]()} {
		for field := range settings.Fields() {
			if _, isDrawn := settingValues[field.Name]; !isDrawn && !slices.Contains(wiring, field.Name) {
				t.Errorf("no step changes the setting %s.%s: add it to settingValues", settings, field.Name)
			}
		}
	}
}

// addPaths adds the paths of the fields of a JSON value. All items of a list share their paths.
func addPaths(to map[string]bool, value any, path string) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			to[path+"."+name] = true
			addPaths(to, field, path+"."+name)
		}
	case []any:
		for _, item := range value {
			addPaths(to, item, path)
		}
	}
}

// fieldsOf returns the paths of the fields of a struct and of the API's own structs in it.
func fieldsOf(of reflect.Type, path string) (paths []string) {
	for field := range of.Fields() {
		below := path
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			below += "." + name
			paths = append(paths, below)
		}
		inner := field.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner.PkgPath() == of.PkgPath() {
			paths = append(paths, fieldsOf(inner, below)...)
		}
	}
	return paths
}

// TestThePatchesOfSpecsAreAccepted checks that the patches are valid, because a rejected patch would test nothing.
func TestThePatchesOfSpecsAreAccepted(t *testing.T) {
	t.Parallel()
	w := &world{cluster: shared, ctx: t.Context()}
	darkroom := w.newDarkroom(types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: "fields"}, "a")
	if err := w.kube.Create(t.Context(), darkroom); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.kube.Delete(context.Background(), darkroom); err != nil {
			t.Error(err)
		}
	}()
	options := settingsOf(baseDomains...).Options
	options.AllowedAnnotations = []string{"example.com/*"} // as a step of the administrator allows them
	translator, err := values.New(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, patch := range specPatches {
		patched := darkroom.DeepCopy()
		merge := client.RawPatch(types.MergePatchType, []byte(`{"spec":`+patch+`}`))
		if err := w.kube.Patch(t.Context(), patched, merge, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
			t.Errorf("%s is refused: %v", patch, err)
			continue
		}
		if _, err := translator.Values(patched); err != nil {
			t.Errorf("%s is not translated: %v", patch, err)
		}
	}
}
