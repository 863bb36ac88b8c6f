//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	helmrelease "helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// invalid reports whether the operator refuses the present generation of a Darkroom because of a
// field.
func invalid(field string) func(*v1alpha1.Darkroom) error {
	return func(darkroom *v1alpha1.Darkroom) error {
		ready := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != v1alpha1.ReasonInvalid || !strings.Contains(ready.Message, field) {
			return fmt.Errorf("not refused because of %s: %+v", field, ready)
		}
		return nil
	}
}

// An administrator restarts the operator with other flags.
func TestARestartWithStricterFlagsTouchesNothingThatServes(t *testing.T) {
	namespace := newNamespace(t)
	darkroom := darkrooms.New("photos", namespace).SubDomains("photos").
		Ingress(v1alpha1.Ingress{Annotations: map[string]string{"nginx.ingress.kubernetes.io/ssl-redirect": "true"}}).Obj()
	launched := func(name string, flags ...string) *operator {
		return start(t, name, append(flags, "--watch-namespaces", namespace, "--installation", namespace)...)
	}
	lenient := launched("lenient")
	create(t, darkroom)
	waitVerdict(t, darkroom, "is ready", notReady)
	served := &networkingv1.Ingress{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(darkroom), served); err != nil {
		t.Fatal(err)
	}
	lenient.kill()

	for name, test := range map[string]struct{ flag, field string }{
		"a shorter list of annotations": {"--ingress-annotations=example.com/*", "spec.ingress.annotations"},
		"a longer base domain":          {"--base-domain=" + strings.Repeat(strings.Repeat("d", 60)+".", 4) + "example", "spec.subDomains"},
	} {
		t.Run(name, func(t *testing.T) {
			strict := launched("strict", test.flag)
			defer strict.kill()
			waitVerdict(t, darkroom, "is refused", invalid(test.field))
			ingress, deployments := &networkingv1.Ingress{}, &appsv1.DeploymentList{}
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(darkroom), ingress); err != nil {
				t.Fatal(err)
			}
			if ingress.UID != served.UID || ingress.Generation != served.Generation {
				t.Errorf("the Ingress was changed: %+v", ingress.Spec)
			}
			if err := kube.List(t.Context(), deployments, client.InNamespace(namespace)); err != nil {
				t.Fatal(err)
			}
			if len(deployments.Items) != 1 || deployments.Items[0].Name != "photos" || deployments.Items[0].Generation != 1 {
				t.Errorf("the Deployments are %+v", deployments.Items)
			}
		})
	}
}

func TestInstallationsWithOtherBaseDomainsDoNotShareSubDomains(t *testing.T) {
	for _, name := range []string{"one", "two"} {
		namespace := newNamespace(t)
		o := start(t, name, "--watch-namespaces", namespace, "--installation", namespace, "--base-domain", name+".example.com")
		defer o.kill()
		darkroom := darkrooms.New("photos", namespace).SubDomains("shared").Obj()
		create(t, darkroom)
		waitVerdict(t, darkroom, "is ready", notReady)
		if domains := darkroom.Status.Domains; len(domains) != 1 || domains[0] != "shared."+name+".example.com" {
			t.Errorf("the domains are %v", domains)
		}
	}
}

func TestAnnotationsOfRoutesHaveAnAllowList(t *testing.T) {
	namespace := newNamespace(t)
	defer start(t, "annotations", "--watch-namespaces", namespace, "--installation", namespace).kill()
	darkroom := darkrooms.New("photos", namespace).Gateway("public").SubDomains("photos").
		Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Gateway.Annotations = map[string]string{"external-dns.alpha.kubernetes.io/hostname": "bank.example.com"}
		}).Obj()
	create(t, darkroom)
	waitVerdict(t, darkroom, "is refused", invalid("spec.gateway.annotations"))
}

// A Darkroom with a mistake adopts a release that serves, and is deleted again.
func TestADeletedDarkroomWithAMistakeLeavesTheReleaseThatItWouldAdopt(t *testing.T) {
	namespace := newNamespace(t)
	flags := genericclioptions.NewConfigFlags(false)
	flags.Namespace = &namespace
	helm := &action.Configuration{}
	if err := helm.Init(flags, namespace, "secret", func(string, ...any) {}); err != nil {
		t.Fatal(err)
	}
	chart, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(helm)
	install.ReleaseName, install.Namespace = "photos", namespace
	if _, err := install.Run(chart, map[string]any{"source": map[string]any{"type": "WebFolder", "baseUrl": "https://example.com"}}); err != nil {
		t.Fatal(err)
	}
	defer start(t, "adoption", "--watch-namespaces", namespace, "--installation", namespace).kill()
	darkroom := darkrooms.New("photos", namespace).Annotation(v1alpha1.AnnotationAdoptRelease, "photos").
		Ingress(v1alpha1.Ingress{Annotations: map[string]string{"example.com/note": "not allowed"}}).Obj()
	create(t, darkroom)
	waitVerdict(t, darkroom, "is refused", invalid("spec.ingress.annotations"))
	if err := kube.Delete(t.Context(), darkroom); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is gone", func(ctx context.Context) error {
		err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom)
		if err == nil {
			return fmt.Errorf("its finalizers are %v", darkroom.Finalizers)
		}
		return client.IgnoreNotFound(err)
	})
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "photos-darkroom"}, &appsv1.Deployment{}); err != nil {
		t.Errorf("the Deployment of the release: %v", err)
	}
	if last, err := action.NewGet(helm).Run("photos"); err != nil || last.Info.Status != helmrelease.StatusDeployed {
		t.Errorf("the release is %+v (%v)", last, err)
	}
}
