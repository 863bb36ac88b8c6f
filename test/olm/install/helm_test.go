package install

import (
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// helmIn returns Helm 3 for a new namespace of the API server.
func helmIn(t *testing.T, namespace string) *action.Configuration {
	t.Helper()
	kube, _ := connect(t)
	must(t, kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	flags := genericclioptions.NewConfigFlags(false)
	flags.APIServer, flags.CacheDir, flags.Namespace = &administrator.Host, ptr.To(t.TempDir()), &namespace
	flags.WrapConfigFn = func(*rest.Config) *rest.Config { return rest.CopyConfig(administrator) }
	helm := &action.Configuration{}
	must(t, helm.Init(flags, namespace, "secret", func(string, ...any) {}))
	return helm
}

func operatorChart(t *testing.T) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load(filepath.Join(repository, "charts", "darkroom-operator"))
	must(t, err)
	return loaded
}

func uninstall(t *testing.T, helm *action.Configuration) {
	t.Helper()
	_, err := action.NewUninstall(helm).Run("darkroom-operator")
	must(t, err)
}

// TestTheCRDMovesToTheChart follows docs/operations.md: the CRD was applied with kubectl, or belongs to a release in
// another namespace.
func TestTheCRDMovesToTheChart(t *testing.T) {
	kube, _ := connect(t)
	apply(t, kube, kustomizeBuild(t, "crd")...)
	install := func(helm *action.Configuration, namespace string, takeOwnership bool, values string) error {
		install := action.NewInstall(helm)
		install.ReleaseName, install.Namespace, install.TakeOwnership = "darkroom-operator", namespace, takeOwnership
		_, err := install.Run(operatorChart(t), parse(t, values))
		return err
	}
	for _, namespace := range []string{"moved-once", "moved-twice"} {
		helm := helmIn(t, namespace)
		err := install(helm, namespace, false, "")
		if err == nil || !strings.Contains(err.Error(), "invalid ownership metadata") {
			t.Fatalf("%s: got error %v, which docs/operations.md does not explain", namespace, err)
		}
		must(t, install(helm, namespace, false, "crds: {install: false}"))
		uninstall(t, helm)
		must(t, install(helm, namespace, true, ""))
		uninstall(t, helm)
	}
}

// TestAnUpgradeKeepsOnlyTheValuesOfTheUser upgrades from a chart with a value that this chart lacks. --reuse-values
// would pass on the defaults of the old chart, and the schema would reject that value.
func TestAnUpgradeKeepsOnlyTheValuesOfTheUser(t *testing.T) {
	helm := helmIn(t, "upgraded")
	old := operatorChart(t)
	old.Schema = nil
	old.Values["manager"].(map[string]any)["removed"] = true
	install := action.NewInstall(helm)
	install.ReleaseName, install.Namespace = "darkroom-operator", "upgraded"
	_, err := install.Run(old, parse(t, "{crds: {install: false}, manager: {baseDomain: images.example.com}}"))
	must(t, err)
	defer uninstall(t, helm)

	upgrade := action.NewUpgrade(helm)
	upgrade.Namespace, upgrade.ReuseValues = "upgraded", true
	if _, err := upgrade.Run("darkroom-operator", operatorChart(t), nil); err == nil ||
		!strings.Contains(err.Error(), "removed") {
		t.Errorf("--reuse-values returns %v: does docs/install.md still need another flag?", err)
	}
	upgrade = action.NewUpgrade(helm)
	upgrade.Namespace, upgrade.ResetThenReuseValues = "upgraded", true
	upgraded, err := upgrade.Run("darkroom-operator", operatorChart(t), parse(t, "manager: {ingressClass: nginx}"))
	must(t, err)
	for _, want := range []string{"--base-domain=images.example.com", "--ingress-class=nginx"} {
		if !strings.Contains(upgraded.Manifest, want) {
			t.Errorf("the manager lacks %s", want)
		}
	}
}
