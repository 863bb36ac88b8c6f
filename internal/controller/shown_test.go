package controller_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// valve holds back what the API server sends over the watch of a resource, so that the
// cache lags.
type valve struct {
	resource string

	mu   sync.Mutex
	shut chan struct{} // nil while open
}

func (v *valve) close() {
	v.mu.Lock()
	v.shut = make(chan struct{})
	v.mu.Unlock()
}

func (v *valve) open() {
	v.mu.Lock()
	if v.shut != nil {
		close(v.shut)
		v.shut = nil
	}
	v.mu.Unlock()
}

func (v *valve) wait() {
	v.mu.Lock()
	shut := v.shut
	v.mu.Unlock()
	if shut != nil {
		<-shut
	}
}

func (v *valve) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && request.URL.Query().Get("watch") != "" && strings.HasSuffix(request.URL.Path, "/"+v.resource) {
			response.Body = heldBack{response.Body, v}
		}
		return response, err
	})
}

type heldBack struct {
	io.ReadCloser
	valve *valve
}

func (h heldBack) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.valve.wait()
	return n, err
}

func TestALaggingCacheMakesNoChangeReady(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	deployments := &valve{resource: "deployments"}
	t.Cleanup(deployments.open)
	startOperator(t, namespace, withTransport(deployments.wrap))
	darkroom := webFolder(namespace, "photos")
	create(t, darkroom)
	eventually(t, "the release", installed(namespace, "photos"))
	becomeReady(t, namespace, "photos")
	ready := func(status v1alpha1.DarkroomStatus) error {
		return condition(status, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
	}
	eventuallyStatus(t, darkroom, "ready", ready)

	deployments.close()
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventually(t, "the release of the change", installed(namespace, "photos"))
	// The report that is to be judged is one that was made after the release: it
	// replaces what is written here, and is made when the Ingress is touched.
	const overwritten = "overwritten by the next report"
	now := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos")
	before := now.DeepCopy()
	now.Status.Message = overwritten
	if err := kube.Status().Patch(t.Context(), now, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	change(t, mustGet(t, &networkingv1.Ingress{}, namespace, "photos"), func(i *networkingv1.Ingress) {
		i.Annotations["example.com/note"] = "touched"
	})
	eventuallyStatus(t, darkroom, "a report on the change", func(status v1alpha1.DarkroomStatus) error {
		if status.Message == overwritten {
			return errors.New("there is none yet")
		}
		return nil
	})
	status := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status
	if err := condition(status, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDeploying); err != nil {
		t.Error(err)
	}

	deployments.open()
	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "ready", ready)
}
