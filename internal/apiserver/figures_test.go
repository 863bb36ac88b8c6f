package apiserver_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// gateMetrics are metrics in the format of a gate.
const gateMetrics = `# TYPE darkroom_gate_requests_total counter
darkroom_gate_requests_total{cache="hit",code="200"} 70
darkroom_gate_requests_total{cache="stale",code="200"} 10
darkroom_gate_requests_total{cache="miss",code="200"} 15
darkroom_gate_requests_total{cache="miss",code="502"} 5
darkroom_gate_requests_total{cache="none",code="404"} 3
# TYPE darkroom_gate_response_bytes_total counter
darkroom_gate_response_bytes_total 4096
# TYPE darkroom_gate_saved_bytes_total counter
darkroom_gate_saved_bytes_total 65536
# TYPE darkroom_gate_request_duration_seconds histogram
darkroom_gate_request_duration_seconds_bucket{cache="hit",le="0.01"} 60
darkroom_gate_request_duration_seconds_bucket{cache="hit",le="0.1"} 70
darkroom_gate_request_duration_seconds_bucket{cache="hit",le="+Inf"} 80
darkroom_gate_request_duration_seconds_sum{cache="hit"} 1
darkroom_gate_request_duration_seconds_count{cache="hit"} 80
darkroom_gate_request_duration_seconds_bucket{cache="miss",le="0.01"} 0
darkroom_gate_request_duration_seconds_bucket{cache="miss",le="0.1"} 20
darkroom_gate_request_duration_seconds_bucket{cache="miss",le="+Inf"} 20
darkroom_gate_request_duration_seconds_sum{cache="miss"} 1
darkroom_gate_request_duration_seconds_count{cache="miss"} 20
`

// addGate adds a pod of the Darkroom photos whose gate responds with a handler; nil means that it does not respond.
func addGate(t *testing.T, namespace, name string, handler http.HandlerFunc) {
	t.Helper()
	listener, err := net.Listen("tcp", ownAddress(t)+":0")
	expect.NoError(t, err)
	address := listener.Addr().(*net.TCPAddr)
	if handler == nil {
		listener.Close()
	} else {
		gate := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
		gate.Start()
		t.Cleanup(gate.Close)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels: map[string]string{"app.kubernetes.io/instance": "photos"},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "darkroom", Image: "darkroom"},
			{Name: "gate", Image: "gate", Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: int32(address.Port)}}},
		}},
	}
	create(t, pod)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: address.IP.String(),
		PodIPs: []corev1.PodIP{{IP: address.IP.String()}},
	}
	expect.NoError(t, kube.Status().Update(t.Context(), pod))
}

func TestFiguresOfTheGates(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor := newEditor(t, namespace)
	installed(t, s, editor.token, namespace, "")
	one := path(namespace, "photos") + "/figures"
	// Pods without a gate have no figures and require no permission.
	if got := into[apiserver.Figures](t, s.want(http.StatusOK, editor.token, "GET", one, "")); got.Pods != 0 ||
		len(got.Gates) != 0 {
		t.Errorf("figures without a gate are %+v", got)
	}
	addGate(t, namespace, "photos-2", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" || r.Header.Get("Authorization") != "" {
			t.Errorf("the gate received the request %s with the authorization %q", r.URL, r.Header.Get("Authorization"))
		}
		fmt.Fprint(w, gateMetrics)
	})
	addGate(t, namespace, "photos-3", nil)
	addGate(t, namespace, "photos-4", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "no metrics {") })
	for i, number := range []string{"NaN", "+Inf", "-Inf", "1e400"} {
		addGate(t, namespace, fmt.Sprint("photos-5-", i), func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.ReplaceAll(gateMetrics, " 4096", " "+number))
		})
	}
	contains(t, "the problem", problemOf(t, s.want(http.StatusForbidden, editor.token, "GET", one, "")).Detail,
		"pods", "proxy")

	editor.may(namespace, []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods/proxy"}, Verbs: []string{"get"}},
		{APIGroups: []string{"deployments.example.com"}, Resources: []string{"darkrooms"}, Verbs: []string{"list"}},
	})
	got := into[apiserver.Figures](t, s.becomes(http.StatusOK, editor.token, "GET", one, ""))
	want := []apiserver.GateFigures{{
		Pod: "photos-2", Requests: 103, Cached: 80, Images: 100, Errors: 5, Bytes: 4096, Saved: 65536,
		Durations: []apiserver.Bucket{{Seconds: 0.01, Count: 60}, {Seconds: 0.1, Count: 90}},
	}}
	if got.Pods != 7 || !slices.EqualFunc(got.Gates, want,
		func(a, b apiserver.GateFigures) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("figures are %+v, want %+v", got, want)
	}
	s.want(http.StatusForbidden, newUser(t, namespace, "stranger").token, "GET", one, "")
}

// Anyone who may run pods controls their responses and the size of the responses.
func TestAPodThatAnswersWithoutEndIsNotRead(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor := newEditor(t, namespace)
	installed(t, s, editor.token, namespace, "")
	editor.may(namespace,
		[]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods/proxy"}, Verbs: []string{"get"}}})
	const most = 64 << 20
	sent := make(chan int, 10)
	addGate(t, namespace, "photos-2", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		total, piece := 0, make([]byte, 64<<10)
		for total < most {
			n, err := w.Write(piece)
			if total += n; err != nil {
				break
			}
		}
		sent <- total
	})
	got := into[apiserver.Figures](t, s.becomes(http.StatusOK, editor.token, "GET",
		path(namespace, "photos")+"/figures", ""))
	if got.Pods != 1 || len(got.Gates) != 0 {
		t.Errorf("figures are %+v", got)
	}
	if total := <-sent; total >= most {
		t.Errorf("all of %d bytes were read", total)
	}
}
