//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/faults"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

const (
	// faultTime is how long a fault lasts: longer than any back-off.
	faultTime = 13 * time.Second
	// kindsOfFaults is how many kinds of faults between operator and API server are tried; the seed
	// chooses them.
	kindsOfFaults = 4
	// healTime is how long after the end of a fault everything is as it should be: four times what
	// docs/reliability.md promises, for machines that are busy. Nothing is reconciled for another reason as soon.
	healTime = time.Minute
)

// TestFaultsOfTheAPIServer has an operator that reaches the API server through a proxy with faults, and
// faults of what the API server asks before a write. All Darkrooms are upgraded meanwhile.
func TestFaultsOfTheAPIServer(t *testing.T) {
	create(t, namespace("chaos"))
	between := &faults.Faults{}
	o := startBehind(t, between)
	defer end(t, o, syscall.SIGKILL)
	createFleet(t)
	eventually(t, "the fleet is ready", wrong)
	var rows []string
	try := func(name string, begin, end func()) {
		t.Run(name, func(t *testing.T) {
			begin()
			upgradeAll(t)
			time.Sleep(faultTime) // is part of the fault
			end()
			took := eventually(t, "all is as it should be", wrong)
			if took > healTime {
				t.Errorf("it took %s", took)
			}
			must(t, o.Ended())
			rows = append(rows, fmt.Sprintf("| %s, for %s, during upgrades of all | upgrades took longer | %.1f s | 0 |", name,
				faultTime, took.Seconds()))
		})
	}
	all := faults.All()
	for _, i := range random.Perm(len(all))[:kindsOfFaults] {
		kind := all[i]
		try("the API server, every other request: "+kind, func() { between.Begin(kind) }, func() { between.End() })
	}
	for name, object := range map[string]client.Object{
		"a webhook for Deployments that is down": brokenWebhook(), "an exhausted quota of Secrets": exhaustedQuota(),
	} {
		try(name, func() { create(t, object) }, func() { must(t, kube.Delete(t.Context(), object)) })
	}
	binding := &rbacv1.ClusterRoleBinding{}
	must(t, kube.Get(t.Context(), client.ObjectKey{Name: "darkroom-operator-manager-rolebinding"}, binding))
	try("the permissions revoked", func() { must(t, kube.Delete(t.Context(), binding)) }, func() {
		create(t, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: binding.Name, Labels: binding.Labels}, RoleRef: binding.RoleRef,
			Subjects: binding.Subjects,
		})
	})
	printTable(rows)
}

// startBehind starts an operator behind a proxy, with its own rights.
func startBehind(t *testing.T, between *faults.Faults) *program.Program {
	t.Helper()
	admin, err := access.Administrator()
	must(t, err)
	account, err := access.As(t.Context(), admin, client.ObjectKey{Namespace: operatorNamespace, Name: operatorAccount})
	must(t, err)
	// The proxy sends the token: clients send none without TLS.
	transport, err := rest.TransportFor(account)
	must(t, err)
	target, err := url.Parse(admin.Host)
	must(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     between.Inject(transport),
		FlushInterval: -1,
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, context.Canceled) {
				return
			}
			panic(http.ErrAbortHandler) // the connection is closed without an answer
		},
	})
	t.Cleanup(proxy.CloseClientConnections)
	kubeconfig := filepath.Join(scratch, "behind.kubeconfig")
	must(t, access.WriteKubeconfig(&rest.Config{Host: proxy.URL}, operatorNamespace, kubeconfig))
	o, err := program.Manager(binaries, repository, kubeconfig, filepath.Join(scratch, "behind.log"),
		"--metrics-bind-address", "0")
	must(t, err)
	eventually(t, "the operator is ready", o.Ready)
	return o
}

func brokenWebhook() client.Object {
	return &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "broken.example.com"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "broken.example.com", AdmissionReviewVersions: []string{"v1"},
			SideEffects:  ptr.To(admissionv1.SideEffectClassNone),
			ClientConfig: admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/")},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.OperationAll},
				Rule: admissionv1.Rule{
					APIGroups: []string{"apps"}, APIVersions: []string{"v1"},
					Resources: []string{"deployments"},
				},
			}},
		}},
	}
}

func exhaustedQuota() client.Object {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "chaos", Name: "exhausted"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("1")}},
	}
}
