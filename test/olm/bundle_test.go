package olm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
)

// repository is the folder of the repository.
const repository = "../.."

func TestTheBundleHasNothingToComplainOf(t *testing.T) {
	bundle, err := manifests.GetBundleFromDir(repository + "/bundle")
	if err != nil {
		t.Fatal(err)
	}
	objects := bundle.ObjectsToValidate()
	for _, object := range bundle.Objects {
		objects = append(objects, object)
	}
	// All but the one that pulls the images to see what they are built for.
	validators := slices.Concat(validation.DefaultBundleValidators, interfaces.Validators{
		validation.OperatorHubV2Validator, validation.StandardCapabilitiesValidator, validation.StandardCategoriesValidator,
		validation.AlphaDeprecatedAPIsValidator, validation.GoodPracticesValidator, validation.ObjectValidator, validation.OperatorGroupValidator,
	})
	for _, result := range validators.Validate(objects...) {
		for _, complaint := range append(result.Errors, result.Warnings...) {
			// Names like stable-v1 are for releases that promise something.
			if strings.Contains(complaint.Detail, `channel(s) ["alpha"]`) {
				continue
			}
			t.Errorf("%s: %s: %s", result.Name, complaint.Type, complaint.Detail)
		}
	}
}

func TestTheBundleSupportsAllInstallModes(t *testing.T) {
	bundle, err := manifests.GetBundleFromDir(repository + "/bundle")
	if err != nil {
		t.Fatal(err)
	}
	if len(bundle.CSV.Spec.InstallModes) != 4 {
		t.Errorf("it knows %d install modes", len(bundle.CSV.Spec.InstallModes))
	}
	for _, mode := range bundle.CSV.Spec.InstallModes {
		if !mode.Supported {
			t.Errorf("%s is not supported", mode.Type)
		}
	}
}

// Neither OLM v0 nor v1 installs a bundle with a kind that the cluster does not serve, such as
// ServiceMonitor, and neither can skip an object. OLM v0.29 also refuses NetworkPolicy. See
// config/monitoring.
func TestTheBundleHasOnlyKindsThatEveryOLMInstalls(t *testing.T) {
	bundle, err := manifests.GetBundleFromDir(repository + "/bundle")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range bundle.Objects {
		switch object.GetKind() {
		case "ClusterServiceVersion", "CustomResourceDefinition", "ConfigMap", "Service":
		default:
			t.Errorf("it has the %s %s", object.GetKind(), object.GetName())
		}
	}
}

// OLM v1 makes templates of Helm of the manifests. The legends of Grafana have the same
// braces, so the dashboards have them as escapes of JSON.
func TestTheBundleHasNothingThatHelmTakesForATemplate(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "bundle", "manifests", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d manifests (%v)", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "{{") {
			t.Errorf("%s contains {{", filepath.Base(file))
		}
	}
}
