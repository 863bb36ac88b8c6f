package apiserver_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// ownAddress is an address of this machine that is not a loopback address, so that Kubernetes accepts it as a pod's
// address.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	expect.NoError(t, err)
	for _, address := range addresses {
		network, ok := address.(*net.IPNet)
		if ok && network.IP.To4() != nil && !network.IP.IsLoopback() && !network.IP.IsLinkLocalUnicast() {
			return network.IP.String()
		}
	}
	t.Skip("this machine has only loopback addresses, to which a Service cannot lead")
	return ""
}

// serveAs makes a handler respond for the Service of a Darkroom.
func serveAs(t *testing.T, namespace, name string, handler http.Handler) {
	t.Helper()
	listener, err := net.Listen("tcp", ownAddress(t)+":0")
	expect.NoError(t, err)
	operand := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	operand.Start()
	t.Cleanup(operand.Close)
	address := listener.Addr().(*net.TCPAddr)
	create(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	})
	// The proxy of Kubernetes connects only to pods.
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}})
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "darkroom", Image: "darkroom"}}},
	}
	create(t, pod)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: address.IP.String(),
		PodIPs: []corev1.PodIP{{IP: address.IP.String()}},
	}
	expect.NoError(t, kube.Status().Update(t.Context(), pod))
	create(t, &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels: map[string]string{discoveryv1.LabelServiceName: name},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{
			Addresses:  []string{address.IP.String()},
			Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)},
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: name},
		}},
		Ports: []discoveryv1.EndpointPort{{
			Name: ptr.To("http"), Port: ptr.To(int32(address.Port)),
			Protocol: ptr.To(corev1.ProtocolTCP),
		}},
	})
}

func TestImageFromTheRunningDarkroom(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	one := path(namespace, "photos") + "/image?path="

	got := s.want(http.StatusServiceUnavailable, token, "GET", one+"/cat.png", "")
	contains(t, "the response without a Service", problemOf(t, got).Detail, "not installed")
	asked := make(chan string, 1)
	serveAs(t, namespace, "photos", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("the Darkroom received the caller's token")
		}
		switch r.URL.Path {
		case "/images/a cat.png":
			asked <- r.URL.RawQuery + " as " + r.Header.Get("Accept")
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "an image")
		case "/elsewhere":
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		case "/denied":
			w.WriteHeader(http.StatusForbidden)
		default:
			http.NotFound(w, r)
		}
	}))
	got = s.becomes(http.StatusOK, token, "GET", one+"/images/a+cat.png&w=7&fit=crop", "")
	if got.body != "an image" || got.header.Get("Content-Type") != "image/png" {
		t.Errorf("the image is %s of type %q", got, got.header.Get("Content-Type"))
	}
	if query := <-asked; query != "fit=crop&w=7 as image/*" {
		t.Errorf("the Darkroom received %q", query)
	}
	s.want(http.StatusOK, token, "GET", one+"/images/a+cat.png&auto=compress,format", "")
	if query := <-asked; query != "auto=compress%2Cformat as image/webp,image/*" {
		t.Errorf("the Darkroom received %q", query)
	}
	for path, status := range map[string]int{
		"/elsewhere": http.StatusBadGateway, "/denied": http.StatusBadGateway,
		"/none": http.StatusNotFound,
	} {
		problemOf(t, s.want(status, token, "GET", one+path, ""))
	}
}

// TestImageParametersAreBounded also checks that paths lead only to images.
func TestImageParametersAreBounded(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	for status, queries := range map[int][]string{
		http.StatusServiceUnavailable: {"/a.png&blur=100", "/a.png&blur=0.5", "/a.png&rot=-360"},
		http.StatusUnprocessableEntity: {
			"/a.png&blur=101", "/a.png&blur=9999", "/a.png&blur=1e5", "/a.png&rot=361",
			"/a.png&rot=-360.5", "/a.png&rot=99999999",
			"/a.png&w=9999", "/a.png&debug=1", "/a.png&fit=stretch",
			"images", "/metrics", "/debug/pprof", "/images/../metrics", "/images/%252e%252e/metrics",
			"//evil.example.com/x", "/a.png%3Fw=9999",
		},
	} {
		for _, query := range queries {
			problemOf(t, s.want(status, token, "GET", path(namespace, "photos")+"/image?path="+query, ""))
		}
	}
}
