package olm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/manifests"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// repository is the folder of the repository.
const repository = "../.."

// loadBundle loads the bundle in a folder. `make bundle-validate` validates bundle/.
func loadBundle(t *testing.T, folder string) *manifests.Bundle {
	t.Helper()
	bundle, err := manifests.GetBundleFromDir(folder)
	must(t, err)
	return bundle
}

func TestTheBundleSupportsAllInstallModes(t *testing.T) {
	bundle := loadBundle(t, repository+"/bundle")
	if len(bundle.CSV.Spec.InstallModes) != 4 {
		t.Errorf("the bundle has %d install modes", len(bundle.CSV.Spec.InstallModes))
	}
	for _, mode := range bundle.CSV.Spec.InstallModes {
		if !mode.Supported {
			t.Errorf("%s is not supported", mode.Type)
		}
	}
}

// pageRoles are the ClusterRoles of the bundle; for the other user roles, OLM has equivalents. OLM v0 does not delete
// them. Their names differ from the chart's, because otherwise the chart could not be installed beside the bundle.
var pageRoles = []string{"darkroom-page-editor", "darkroom-page-viewer", "darkroom-secret-creator"}

// Neither OLM v0 nor v1 installs a bundle with a kind that the cluster does not serve, such as ServiceMonitor, and
// neither can skip an object. OLM v1.2 also rejects NetworkPolicy. See docs/platforms.md.
func TestTheBundleHasOnlyKindsThatEveryOLMInstalls(t *testing.T) {
	var roles []string
	for _, object := range loadBundle(t, repository+"/bundle").Objects {
		switch object.GetKind() {
		case "ClusterServiceVersion", "CustomResourceDefinition", "ConfigMap", "Service", "PodDisruptionBudget":
		case "ClusterRole":
			roles = append(roles, object.GetName())
		default:
			t.Errorf("the bundle contains the %s %s", object.GetKind(), object.GetName())
		}
	}
	slices.Sort(roles)
	if !slices.Equal(roles, pageRoles) {
		t.Errorf("the bundle contains %q, want %q", roles, pageRoles)
	}
}

func TestTheBundleListsItsImagesForMirrors(t *testing.T) {
	listsItsImagesForMirrors(t, repository+"/bundle", false)
}

// listsItsImagesForMirrors checks that a bundle can be installed from a mirror: it declares this, and lists its images,
// by digest in a release.
func listsItsImagesForMirrors(t *testing.T, folder string, isRelease bool) {
	t.Helper()
	bundle := loadBundle(t, folder)
	related := map[string]bool{}
	for _, image := range bundle.CSV.Spec.RelatedImages {
		related[image.Image] = true
	}
	used := []string{bundle.CSV.Annotations["containerImage"]}
	for _, deployment := range bundle.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		for _, container := range deployment.Spec.Template.Spec.Containers {
			used = append(used, container.Image)
			for _, variable := range container.Env {
				if strings.HasPrefix(variable.Name, "RELATED_IMAGE_") {
					used = append(used, variable.Value)
				}
			}
		}
	}
	if len(used) != 7 {
		t.Errorf("the images are %q", used)
	}
	for _, image := range used {
		if !related[image] {
			t.Errorf("%s is not among the related images", image)
		}
		if byDigest := strings.Contains(image, "@sha256:"); byDigest != isRelease {
			t.Errorf("%s has a digest: %t", image, byDigest)
		}
	}
	const annotation = "features.operators.openshift.io/disconnected"
	if says := bundle.CSV.Annotations[annotation]; says != "true" {
		t.Errorf("%s is %q", annotation, says)
	}
}

// A rolling restart of nodes must leave one pod of each program.
func TestTheBundleRunsTwoPodsOfEachProgram(t *testing.T) {
	bundle := loadBundle(t, repository+"/bundle")
	budgets := map[string]policyv1.PodDisruptionBudgetSpec{}
	for _, object := range bundle.Objects {
		if object.GetKind() == "PodDisruptionBudget" {
			budget := &policyv1.PodDisruptionBudget{}
			must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, budget))
			budgets[budget.Name] = budget.Spec
		}
	}
	for _, deployment := range bundle.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		pods := deployment.Spec.Template
		if replicas := ptr.Deref(deployment.Spec.Replicas, 1); replicas != 2 {
			t.Errorf("%s has %d replicas", deployment.Name, replicas)
		}
		spread := pods.Spec.TopologySpreadConstraints
		if len(spread) != 1 || !matches(t, spread[0].LabelSelector, pods.Labels) {
			t.Errorf("%s is spread by %+v", deployment.Name, spread)
		}
		budget, found := budgets[deployment.Name]
		if !found || budget.MaxUnavailable.IntValue() != 1 || !matches(t, budget.Selector, pods.Labels) {
			t.Errorf("%s has the PodDisruptionBudget %+v", deployment.Name, budget)
		}
	}
}

func matches(t *testing.T, selector *metav1.LabelSelector, pods map[string]string) bool {
	t.Helper()
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	must(t, err)
	return parsed.Matches(labels.Set(pods))
}

// OLM v1 treats the manifests as Helm templates. Legends in Grafana contain the same braces, so the dashboards write
// them as JSON escapes.
func TestTheBundleHasNothingThatHelmTakesForATemplate(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "bundle", "manifests", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d manifests (%v)", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		if strings.Contains(string(text), "{{") {
			t.Errorf("%s contains {{", filepath.Base(file))
		}
	}
}

// must ends the test if there is an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
