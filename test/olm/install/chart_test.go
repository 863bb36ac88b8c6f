package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/helm4"
)

// renderChart renders the operator's chart like `helm install darkroom-operator`, with Helm 3 and Helm 4, which must
// agree.
func renderChart(t *testing.T, release, values string) ([]*unstructured.Unstructured, error) {
	t.Helper()
	directory := filepath.Join(repository, "charts", "darkroom-operator")
	files, err := renderHelm3(t, directory, release, parse(t, values))
	files4, err4 := helm4.Render(directory, helm4.Release{Name: release, Namespace: "darkroom-system"}, parse(t, values))
	if (err == nil) != (err4 == nil) {
		t.Errorf("Helm 3 returns %v, Helm 4 %v, for the values\n%s", err, err4, values)
	}
	if diff := cmp.Diff(helm4.Documents(files), helm4.Documents(files4)); diff != "" {
		t.Errorf("Helm 3 and 4 render differently (-3 +4), for the values\n%s\n%s", values, diff)
	}
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for name, text := range files {
		if strings.HasSuffix(name, ".yaml") {
			objects = append(objects, decode(t, []byte(text))...)
		}
	}
	return objects, nil
}

func parse(t *testing.T, values string) map[string]any {
	t.Helper()
	parsed := map[string]any{}
	must(t, yaml.Unmarshal([]byte(values), &parsed))
	return parsed
}

func renderHelm3(t *testing.T, directory, release string, values map[string]any) (map[string]string, error) {
	t.Helper()
	chart, err := loader.Load(directory)
	must(t, err)
	options := chartutil.ReleaseOptions{Name: release, Namespace: "darkroom-system", Revision: 1, IsInstall: true}
	toRender, err := chartutil.ToRenderValues(chart, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, toRender)
}

func mustRender(t *testing.T, values string) map[string]*unstructured.Unstructured {
	t.Helper()
	objects, err := renderChart(t, "darkroom-operator", values)
	must(t, err)
	return byName(objects)
}

// podsOf returns the pod template of a Deployment.
func podsOf(t *testing.T, deployment *unstructured.Unstructured) corev1.PodTemplateSpec {
	t.Helper()
	if deployment == nil {
		t.Fatal("there is no Deployment of that name")
	}
	return convert[appsv1.Deployment](t, deployment).Spec.Template
}

func byName(objects []*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	named := make(map[string]*unstructured.Unstructured, len(objects))
	for _, object := range objects {
		named[fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())] = object
	}
	return named
}

// For a Service darkroom-url, Kubernetes would set DARKROOM_URL_PORT, which is the variable of --url-port.
func TestServicesAreNotReadAsFlags(t *testing.T) {
	for name, object := range mustRender(t, "apiserver: {enabled: true}") {
		if object.GetKind() == "Deployment" && ptr.Deref(podsOf(t, object).Spec.EnableServiceLinks, true) {
			t.Errorf("%s has the variables of Services", name)
		}
	}
}

// TestChartAndKustomizeInstallTheSame compares the chart with config/, so that a change of one is also made in the
// other.
func TestChartAndKustomizeInstallTheSame(t *testing.T) {
	for _, pair := range []struct{ overlay, values string }{
		{"default", ""},
		{"overlays/with-apiserver", "apiserver: {enabled: true}"},
		{
			"overlays/with-oidc-impersonation",
			"apiserver: {enabled: true, impersonation: {enabled: true, groups: [sso:photographers]}}",
		},
		{"overlays/namespaced", "rbac: {namespaced: true}"},
		{"base+guard+network-policy", "networkPolicy: {enabled: true}"},
		{"overlays/with-probe-via-apiserver", "manager: {probeVia: apiserver}"},
		{"base+prometheus+grafana", "guard: {enabled: false}\nserviceMonitor: {enabled: true}\ndashboards: {enabled: true}"},
		{"overlays/with-policies", "policies: {enabled: true}"},
		{"base+guard+admission", "admission: {enabled: true}"},
	} {
		t.Run(pair.overlay, func(t *testing.T) {
			ours, theirs := mustRender(t, pair.values), byName(kustomizeBuild(t, pair.overlay))
			// helm install --create-namespace creates it.
			maps.DeleteFunc(theirs, func(_ string, object *unstructured.Unstructured) bool {
				return object.GetKind() == "Namespace"
			})
			// For the other overlays, the lease is deleted with its namespace.
			maps.DeleteFunc(ours, func(_ string, object *unstructured.Unstructured) bool { return object.GetKind() == "Lease" })
			if diff := cmp.Diff(slices.Sorted(maps.Keys(theirs)), slices.Sorted(maps.Keys(ours))); diff != "" {
				t.Fatalf("the chart (+) and config/%s (-) have other objects:\n%s", pair.overlay, diff)
			}
			for name, object := range theirs {
				compare(t, name, ours[name], object)
			}
		})
	}
}

// helm uninstall removes the operator's permissions while the operator is stopping, so it cannot release the lease.
func TestTheChartOwnsTheLeaseOfLeaderElection(t *testing.T) {
	const plain = "darkroom-operator.deployments.example.com"
	hashed := func(parts ...string) string {
		sum := sha256.Sum256([]byte(strings.Join(parts, "\n"))) // as leaderElectionID in internal/cmd
		return hex.EncodeToString(sum[:4]) + "." + plain
	}
	for values, want := range map[string]string{
		"":                                       "darkroom-system/" + plain,
		"manager: {leaseNamespace: kube-system}": "kube-system/" + plain,
		"manager: {installation: darkroom-system}":                    "darkroom-system/" + plain,
		"manager: {installation: blue}":                               "darkroom-system/" + hashed("blue", ""),
		"manager: {selector: shard=a}":                                "darkroom-system/" + hashed("darkroom-system", "shard=a"),
		"manager: {watchNamespaces: [b, a]}":                          "darkroom-system/" + hashed("darkroom-system", "", "a", "b"),
		"rbac: {namespaced: true}":                                    "darkroom-system/" + hashed("darkroom-system", "", "darkroom-system"),
		"manager: {leaderElect: false, leaderElectRetryPeriod: null}": "",
	} {
		got := ""
		for _, object := range mustRender(t, values) {
			if object.GetKind() == "Lease" {
				got += object.GetNamespace() + "/" + object.GetName()
			}
		}
		if got != want {
			t.Errorf("%s: the lease is %q, want %q", values, got, want)
		}
	}
}

// Releases in one namespace share the name of the installation, and differ in their namespaces or selector.
func TestTheNotesDeleteOnlyTheDarkroomsOfTheRelease(t *testing.T) {
	command := regexp.MustCompile(`kubectl get darkrooms (.*) -o .*installation=="(.*?)"`)
	for values, want := range map[string][]string{
		"":                                   {"-A darkroom-system"},
		"crds: {keep: false}":                nil,
		"rbac: {namespaced: true}":           {"-n darkroom-system darkroom-system"},
		"manager: {watchNamespaces: [b, a]}": {"-n b darkroom-system", "-n a darkroom-system"},
		"manager: {selector: shard=a, installation: blue}": {`-A -l "shard=a" blue`},
	} {
		files, err := renderHelm3(t, filepath.Join(repository, "charts", "darkroom-operator"), "one", parse(t, values))
		must(t, err)
		var got []string
		for _, found := range command.FindAllStringSubmatch(files["darkroom-operator/templates/NOTES.txt"], -1) {
			got = append(got, found[1]+" "+found[2])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the notes delete %q, want %q", values, got, want)
		}
	}
}

// compare reports if an object of the chart differs in more than the labels and names that Helm sets.
func compare(t *testing.T, name string, chart, kustomize *unstructured.Unstructured) {
	t.Helper()
	switch chart.GetKind() {
	case "Deployment":
		mine, theirs := convert[appsv1.Deployment](t, chart).Spec, convert[appsv1.Deployment](t, kustomize).Spec
		theirs.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullIfNotPresent
		// Some overlays set it manually, from the downward API.
		if from := &theirs.Template.Spec.Containers[0].Env[0]; from.Name == "WATCH_NAMESPACE" && from.ValueFrom != nil {
			*from = corev1.EnvVar{Name: from.Name, Value: chart.GetNamespace()}
		}
		difference(t, name, mine, theirs)
	case "Role", "ClusterRole":
		difference(t, name, chart.Object["rules"], kustomize.Object["rules"])
		for label, value := range kustomize.GetLabels() {
			if strings.HasPrefix(label, "rbac.") && chart.GetLabels()[label] != value {
				t.Errorf("%s lacks the label %s", name, label)
			}
		}
	case "ServiceAccount":
	case "RoleBinding", "ClusterRoleBinding":
		difference(t, name, chart.Object["roleRef"], kustomize.Object["roleRef"])
		difference(t, name, chart.Object["subjects"], kustomize.Object["subjects"])
	case "ConfigMap":
		if chart.GetName() == "darkroom-policies" {
			difference(t, name, chart.Object["data"], kustomize.Object["data"])
			return
		}
		for _, object := range []*unstructured.Unstructured{chart, kustomize} {
			if object.GetLabels()["grafana_dashboard"] != "1" {
				t.Errorf("%s has the labels %v, which Grafana's sidecar does not find", name, object.GetLabels())
			}
		}
		difference(t, name, dashboards(t, chart), dashboards(t, kustomize))
	default:
		difference(t, name, chart.Object["spec"], kustomize.Object["spec"])
	}
}

// dashboards returns the files in a ConfigMap, decoded.
func dashboards(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	decoded := map[string]any{}
	for file, text := range convert[corev1.ConfigMap](t, object).Data {
		var content any
		if err := json.Unmarshal([]byte(text), &content); err != nil {
			t.Errorf("%s: %s: %v", object.GetName(), file, err)
		}
		decoded[file] = content
	}
	return decoded
}

func difference(t *testing.T, name string, chart, kustomize any) {
	t.Helper()
	if !equality.Semantic.DeepEqual(chart, kustomize) && !reflect.DeepEqual(chart, kustomize) {
		t.Errorf("%s differs (-config +chart):\n%s", name, cmp.Diff(kustomize, chart))
	}
}

func TestTheChartOfEverythingIsAcceptedByAnAPIServer(t *testing.T) {
	kube, warnings := connect(t)
	for _, object := range kustomizeBuild(t, "default") {
		if object.GetKind() == "Namespace" {
			apply(t, kube, object)
		}
	}
	objects := mustRender(t, `
darkroomImage: registry.example.com/darkroom:v0.4.2
commonLabels: {cost-center: images}
podSecurityContext: {fsGroup: 2000}
manager:
  imagePullSecrets: [mirror, other]
  podDisruptionBudget: {maxUnavailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow}
  topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]
  replicas: 2
  baseDomain: images.example.com
  selector: shard=a
  maxConcurrentReconciles: 8
  maxConcurrentRollouts: 0
  reconcilePeriod: 5m
  metricsSecure: false
  logLevel: debug
  metricsCertSecret: metrics
  podLabels: {team: images}
  nodeSelector: {kubernetes.io/os: linux}
  tolerations: [{key: dedicated, operator: Exists}]
  extraEnv: [{name: HTTPS_PROXY, value: "http://proxy.example.com:3128"}]
apiserver:
  enabled: true
  podDisruptionBudget: {minAvailable: 50%}
  tlsSecret: apiserver
  clusterName: production
  oidcSecret: oidc
  impersonation: {enabled: true, users: ["sso:alice"], groups: ["sso:photographers"]}
  requestsPerSecond: 1000000
  ingress: {enabled: true, className: nginx, tlsSecretName: darkrooms}
serviceMonitor: {enabled: true, labels: {release: prometheus}, interval: 1m, scrapeTimeout: 20s}
dashboards: {enabled: true, labels: {grafana_dashboard: "2"}, annotations: {grafana_folder: Images}}
networkPolicy: {enabled: true}
admission: {enabled: true, actions: [Deny]}
`)
	for _, object := range objects {
		apply(t, kube, object)
		if object.GetKind() == "ValidatingAdmissionPolicyBinding" {
			deleteLater(t, kube, object) // it denies objects that other tests create
		}
	}
	if warnings.Len() > 0 {
		t.Errorf("the API server warns: %s", warnings)
	}
	for deployment, want := range map[string]string{
		"darkroom-operator-controller-manager": "manager --leader-elect --base-domain=images.example.com " +
			"--image-pull-secrets=mirror --image-pull-secrets=other --selector=shard=a --max-concurrent-reconciles=8 " +
			"--max-concurrent-rollouts=0 --reconcile-period=5m --metrics-secure=false " +
			"--metrics-cert-dir=/certificates/metrics --log-level=debug",
		"darkroom-operator-apiserver": "apiserver --bind-address=:5000 --cluster-name=production " +
			"--oidc-config=/oidc/oidc.yaml --base-domain=images.example.com --image-pull-secrets=mirror " +
			"--image-pull-secrets=other --requests-per-second=1000000 --tls-cert-file=/certificates/apiserver/tls.crt " +
			"--tls-private-key-file=/certificates/apiserver/tls.key",
	} {
		got := strings.Join(podsOf(t, objects["Deployment darkroom-system/"+deployment]).Spec.Containers[0].Args, " ")
		if got != want {
			t.Errorf("%s is started with\n%s\nwant\n%s", deployment, got, want)
		}
	}
}

func TestTheChartRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, values := range []string{
		"manager: {baseDomian: x}", "manager: {reconcilePeriod: 5}", "apiserver: {auth: none}",
		"apiserver: {enabled: true, impersonation: {groups: [system:masters]}}", "admission: {actions: [Panic]}",
		"serviceMonitor: {interval: often}",
		"commonLabels: {app.kubernetes.io/name: other}", "image: {digest: latest}",
		"manager: {podDisruptionBudget: {selector: {}}}",
		"manager: {metricsBindAddress: '8443'}", "manager: {healthProbeBindAddress: localhost}",
		"manager: {pprofBindAddress: 'off'}",
	} {
		if _, err := renderChart(t, "darkroom-operator", values); err == nil {
			t.Errorf("%s is accepted", values)
		}
	}
}

func TestPodsOfTheOperatorCanBeSpreadLabelledAndSecured(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	objects := mustRender(t, `
image: {repository: mirror.example.com/operator, tag: v0.1.0, digest: "`+digest+`"}
commonLabels: {team: platform, cost-center: images}
podSecurityContext: {runAsUser: 1000, seccompProfile: null}
securityContext: {readOnlyRootFilesystem: false}
manager:
  podLabels: {team: images}
  podDisruptionBudget: {maxUnavailable: 1}
  topologySpreadConstraints:
  - {topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}
  - {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {team: images}}}
`)
	for name, object := range objects {
		if object.GetLabels()["cost-center"] != "images" && object.GetKind() != "CustomResourceDefinition" {
			t.Errorf("%s has the labels %v", name, object.GetLabels())
		}
	}
	const manager = "darkroom-system/darkroom-operator-controller-manager"
	pods := podsOf(t, objects["Deployment "+manager])
	if pods.Labels["team"] != "images" || pods.Labels["cost-center"] != "images" {
		t.Errorf("pods have the labels %v", pods.Labels)
	}
	difference(t, "security context of pods", pods.Spec.SecurityContext, &corev1.PodSecurityContext{
		RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(1000)),
	})
	container := pods.Spec.Containers[0]
	want := "mirror.example.com/operator@" + digest
	if container.Image != want || *container.SecurityContext.ReadOnlyRootFilesystem {
		t.Errorf("the image is %s, want %s, in the security context %+v", container.Image, want, container.SecurityContext)
	}
	own := &metav1.LabelSelector{MatchLabels: map[string]string{
		"app.kubernetes.io/name": "darkroom-operator", "app.kubernetes.io/component": "manager",
	}}
	difference(t, "spread", pods.Spec.TopologySpreadConstraints, []corev1.TopologySpreadConstraint{
		{TopologyKey: "kubernetes.io/hostname", MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own},
		{
			TopologyKey: "zone", MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "images"}},
		},
	})
	difference(t, "budget", convert[policyv1.PodDisruptionBudget](t, objects["PodDisruptionBudget "+manager]).Spec,
		policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: ptr.To(intstr.FromInt32(1)), Selector: own,
		})
}

func TestTheCRDOutlivesTheRelease(t *testing.T) {
	const name = "CustomResourceDefinition /darkrooms.deployments.example.com"
	if kept := mustRender(t, "")[name].GetAnnotations()["helm.sh/resource-policy"]; kept != "keep" {
		t.Errorf("its resource policy is %q", kept)
	}
	if dropped := mustRender(t, "crds: {keep: false}")[name].GetAnnotations()["helm.sh/resource-policy"]; dropped != "" {
		t.Errorf("with keep disabled, its resource policy is %q", dropped)
	}
}

// An empty list allows nothing, unlike the default.
func TestTheListOfIngressAnnotationsIsPassedOnWhole(t *testing.T) {
	for want, values := range map[string]string{
		"":                       "apiserver: {enabled: true}",
		"--ingress-annotations=": "{manager: {ingressAnnotations: []}, apiserver: {enabled: true}}",
		"--ingress-annotations=default,example.com/*": "{manager: {ingressAnnotations: [default, example.com/*]}, " +
			"apiserver: {enabled: true}}",
		"--ingress-annotations=a": "{manager: {ingressAnnotations: [a]}, " +
			"apiserver: {enabled: true, ingressAnnotations: null}}",
	} {
		for name, object := range mustRender(t, values) {
			if object.GetKind() != "Deployment" {
				continue
			}
			got := ""
			for _, arg := range podsOf(t, object).Spec.Containers[0].Args {
				if strings.HasPrefix(arg, "--ingress-annotations") {
					got += arg
				}
			}
			if got != want {
				t.Errorf("%s with %s: got %q, want %q", name, values, got, want)
			}
		}
	}
}

// Kubernetes rejects a budget with both fields, and with neither field no pod can be evicted, so that a drain of the
// node would never end.
func TestADisruptionBudgetHasOneNumber(t *testing.T) {
	for component, also := range map[string]string{"manager": "", "apiserver": "enabled: true, "} {
		for budget, isRefused := range map[string]bool{
			"minAvailable: 1": false, "maxUnavailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow": false,
			"minAvailable: 1, maxUnavailable: 1": true, "unhealthyPodEvictionPolicy: AlwaysAllow": true,
		} {
			_, err := renderChart(t, "darkroom-operator",
				fmt.Sprintf("%s: {%spodDisruptionBudget: {%s}}", component, also, budget))
			if isRefused != (err != nil && strings.Contains(err.Error(), component+".podDisruptionBudget: set either")) {
				t.Errorf("%s: {%s} returns %v", component, budget, err)
			}
		}
	}
}

// Prometheus and Grafana find objects by labels that differ between clusters.
func TestScrapingCanBeConfigured(t *testing.T) {
	for name, object := range mustRender(t, `
serviceMonitor: {enabled: true, labels: {release: stack}, interval: 1m, scrapeTimeout: 20s}
dashboards: {enabled: true, labels: {board: images}, annotations: {folder: Images}}
`) {
		label, want := object.GetLabels()["release"], "stack"
		switch object.GetKind() {
		case "ServiceMonitor":
			endpoints, _, err := unstructured.NestedSlice(object.Object, "spec", "endpoints")
			if err != nil || len(endpoints) != 1 {
				t.Fatalf("%s has the endpoints %v: %v", name, endpoints, err)
			}
			if endpoint := endpoints[0].(map[string]any); endpoint["interval"] != "1m" || endpoint["scrapeTimeout"] != "20s" {
				t.Errorf("%s has the endpoint %v", name, endpoint)
			}
		case "PrometheusRule":
		case "ConfigMap":
			label, want = object.GetLabels()["board"]+object.GetAnnotations()["folder"], "imagesImages"
		default:
			continue
		}
		if label != want {
			t.Errorf("%s has the labels %v and the annotations %v", name, object.GetLabels(), object.GetAnnotations())
		}
	}
}

// Flux creates artifacts of Git repositories without symbolic links. The roles would have no rules.
func TestAChartWithoutItsFilesIsRefused(t *testing.T) {
	directory := t.TempDir()
	original, err := filepath.Abs(filepath.Join(repository, "charts", "darkroom-operator"))
	must(t, err)
	for _, name := range []string{"Chart.yaml", "values.yaml", "values.schema.json", "templates"} {
		must(t, os.Symlink(filepath.Join(original, name), filepath.Join(directory, name)))
	}
	for _, values := range []string{"", "crds: {install: false}"} {
		_, err := renderHelm3(t, directory, "darkroom-operator", parse(t, values))
		if err == nil || !strings.Contains(err.Error(), "packaged chart") {
			t.Errorf("with %q: got error %v, want one that names the packaged chart", values, err)
		}
	}
}
