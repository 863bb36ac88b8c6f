package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/darkroom-operator/darkroom-operator/internal/controller"
)

const reference = "images/deployment/operator"

// deployedAs returns an operator's Deployment with the given arguments and environment.
func deployedAs(args []string, environment ...corev1.EnvVar) *appsv1.Deployment {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "operator", Namespace: "images"}}
	deployment.Spec.Template.Annotations = map[string]string{"olm.targetNamespaces": "team-a,team-b"}
	deployment.Spec.Template.Spec.Containers = []corev1.Container{
		{Name: "proxy", Args: []string{"--secure"}},
		{Name: "manager", Args: append([]string{"manager"}, args...), Env: environment},
	}
	return deployment
}

// readWith reads the options of a Deployment in the same way as plan with a command line.
func readWith(t *testing.T, deployment *appsv1.Deployment, line ...string) (*managerOptions, error) {
	t.Helper()
	set := pflag.NewFlagSet("plan", pflag.ContinueOnError)
	options := &managerOptions{}
	withImages(set, options)
	set.StringVar(&options.controllers.Installation, "installation", "", "")
	if err := set.Parse(line); err != nil {
		t.Fatal(err)
	}
	cluster := fake.NewClientBuilder().WithScheme(controller.NewScheme()).WithObjects(deployment).Build()
	return readManager(t.Context(), cluster, reference, set)
}

func TestAPlanHasTheFlagsOfTheOperatorThatRuns(t *testing.T) {
	deployment := deployedAs(
		[]string{"--base-domain=img.example.com", "--inherit-labels=team,cost", "--pass-proxy"},
		corev1.EnvVar{Name: "DARKROOM_INGRESS_CLASS", Value: "nginx"},
		corev1.EnvVar{Name: "DARKROOM_BASE_DOMAIN", Value: "ignored.example.com"},
		corev1.EnvVar{Name: envImage, Value: "mirror.example.com/darkroom:v1"},
		corev1.EnvVar{Name: "HTTPS_PROXY", Value: "http://proxy.example.com:3128"},
		corev1.EnvVar{Name: envWatchNamespace, ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['olm.targetNamespaces']"},
		}},
	)
	got, err := readWith(t, deployment)
	if err != nil {
		t.Fatal(err)
	}
	options := got.translation.options
	if !slices.Equal(options.BaseDomains, []string{"img.example.com"}) ||
		!slices.Equal(options.InheritLabels, []string{"team", "cost"}) || options.IngressClassName != "nginx" ||
		options.Image != "mirror.example.com/darkroom:v1" || options.Proxy.HTTPS != "http://proxy.example.com:3128" {
		t.Errorf("the options are %+v", options)
	}
	if got.controllers.Installation != "images" ||
		!slices.Equal(got.controllers.Namespaces, []string{"team-a", "team-b"}) {
		t.Errorf("installation %s, namespaces %q", got.controllers.Installation, got.controllers.Namespaces)
	}
	got, err = readWith(t, deployment, "--base-domain=new.example.com", "--inherit-labels=owner",
		"--image=darkroom:v2", "--installation=other")
	if err != nil {
		t.Fatal(err)
	}
	options = got.translation.options
	if !slices.Equal(options.BaseDomains, []string{"new.example.com"}) ||
		!slices.Equal(options.InheritLabels, []string{"owner"}) || options.Image != "darkroom:v2" ||
		options.IngressClassName != "nginx" || got.controllers.Installation != "other" {
		t.Errorf("with flags on the command line: %+v", got)
	}
}

func TestAFlagThatThisVersionLacksIsNamedBeforeTheUpgrade(t *testing.T) {
	_, err := readWith(t, deployedAs([]string{"--dropped=1"}))
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --dropped: remove the argument before the upgrade") {
		t.Errorf("got %v", err)
	}
	other := deployedAs(nil)
	other.Spec.Template.Spec.Containers[1].Args = []string{"apiserver"}
	_, err = readWith(t, other)
	if err == nil || !strings.Contains(err.Error(), "no container of the Deployment runs the manager") {
		t.Errorf("a Deployment of something else: %v", err)
	}
}
