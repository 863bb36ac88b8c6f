//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// newNamespace makes a namespace that is deleted when the test ends, with its Darkrooms, which no
// operator handles any more.
func newNamespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "flags-"}}
	must(t, kube.Create(t.Context(), made))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		left := &v1alpha1.DarkroomList{}
		err := kube.List(ctx, left, client.InNamespace(made.Name))
		for i := range left.Items {
			err = errors.Join(err, kube.Patch(ctx, &left.Items[i], mergePatch(`{"metadata":{"finalizers":null}}`)))
		}
		if err = errors.Join(err, kube.Delete(ctx, made)); err != nil {
			t.Error(err)
		}
	})
	return made.Name
}

// limited starts an operator of one namespace, which is also its installation.
func limited(t *testing.T, namespace, name string, flags ...string) (kill func()) {
	t.Helper()
	o := start(t, name, append(flags, "--watch-namespaces", namespace, "--installation", namespace)...)
	return func() { end(t, o, syscall.SIGKILL) }
}

// is waits until a Darkroom passes a check.
func is(t *testing.T, what string, darkroom *v1alpha1.Darkroom, check func(*v1alpha1.Darkroom) error) {
	t.Helper()
	eventually(t, fmt.Sprintf("Darkroom %s is %s", client.ObjectKeyFromObject(darkroom), what),
		func(ctx context.Context) error {
			if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom); err != nil {
				return err
			}
			return check(darkroom)
		})
}

// blocked reports that the operator does not handle the current generation of a Darkroom, because
// of a reason that a message has.
func blocked(message string) func(*v1alpha1.Darkroom) error {
	return func(darkroom *v1alpha1.Darkroom) error {
		ready := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Status == metav1.ConditionTrue || !strings.Contains(darkroom.Status.Message, message) {
			return fmt.Errorf("not refused because of %s: %q, %+v", message, darkroom.Status.Message, ready)
		}
		return nil
	}
}

func TestARestartWithStricterFlagsTouchesNothingThatServes(t *testing.T) {
	namespace := newNamespace(t)
	darkroom := darkrooms.New("photos", namespace).SubDomains("photos").
		Ingress(v1alpha1.Ingress{Annotations: map[string]string{"nginx.ingress.kubernetes.io/ssl-redirect": "true"}}).Obj()
	kill := limited(t, namespace, "lenient")
	create(t, darkroom)
	is(t, "ready", darkroom, notReady)
	served := &networkingv1.Ingress{}
	must(t, kube.Get(t.Context(), client.ObjectKeyFromObject(darkroom), served))
	kill()
	for flag, field := range map[string]string{
		"--ingress-annotations=example.com/*":          "spec.ingress.annotations",
		"--reserved-hosts=photos.darkroom.example.com": "spec.subDomains",
	} {
		kill := limited(t, namespace, "strict", flag)
		is(t, "refused", darkroom, blocked(field))
		ingress := &networkingv1.Ingress{}
		must(t, kube.Get(t.Context(), client.ObjectKeyFromObject(darkroom), ingress))
		if ingress.UID != served.UID || ingress.Generation != served.Generation {
			t.Errorf("%s: the Ingress was changed: %+v", flag, ingress.Spec)
		}
		if got := generations(t, namespace); !maps.Equal(got, map[string]int64{"photos": 1}) {
			t.Errorf("%s: the Deployments have the generations %v", flag, got)
		}
		kill()
	}
}

func TestInstallationsWithOtherBaseDomainsDoNotShareSubDomains(t *testing.T) {
	for _, name := range []string{"one", "two"} {
		namespace := newNamespace(t)
		defer limited(t, namespace, name, "--base-domain", name+".example.com")()
		darkroom := darkrooms.New("photos", namespace).SubDomains("shared").Obj()
		create(t, darkroom)
		is(t, "ready", darkroom, notReady)
		if domains := darkroom.Status.Domains; len(domains) != 1 || domains[0] != "shared."+name+".example.com" {
			t.Errorf("the domains are %v", domains)
		}
	}
}

func TestAnnotationsOfRoutesHaveAnAllowList(t *testing.T) {
	namespace := newNamespace(t)
	defer limited(t, namespace, "annotations")()
	darkroom := darkrooms.New("photos", namespace).Gateway("public").SubDomains("photos").
		Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Gateway.Annotations = map[string]string{"external-dns.alpha.kubernetes.io/hostname": "bank.example.com"}
		}).Obj()
	create(t, darkroom)
	is(t, "refused", darkroom, blocked("spec.gateway.annotations"))
}
