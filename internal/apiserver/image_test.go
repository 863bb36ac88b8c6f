package apiserver_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// ownAddress is an address of this machine that Kubernetes takes for one of a pod: no
// loopback address.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.To4() != nil && !network.IP.IsLoopback() && !network.IP.IsLinkLocalUnicast() {
			return network.IP.String()
		}
	}
	t.Skip("this machine has loopback addresses alone, which no Service can lead to")
	return ""
}

// serveAs has a handler answer for the Service of a Darkroom.
func serveAs(t *testing.T, namespace, name string, handler http.Handler) {
	t.Helper()
	listener, err := net.Listen("tcp", ownAddress(t)+":0")
	if err != nil {
		t.Fatal(err)
	}
	operand := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	operand.Start()
	t.Cleanup(operand.Close)
	address := listener.Addr().(*net.TCPAddr)
	create(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	})
	// The proxy of Kubernetes leads to pods alone.
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}})
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "darkroom", Image: "darkroom"}}},
	}
	create(t, pod)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address.IP.String(), PodIPs: []corev1.PodIP{{IP: address.IP.String()}}}
	if err := kube.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	//nolint:staticcheck // it is what the proxy of Kubernetes reads
	create(t, &corev1.Endpoints{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Subsets: []corev1.EndpointSubset{{
			Addresses: []corev1.EndpointAddress{{
				IP: address.IP.String(), TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: name},
			}},
			Ports: []corev1.EndpointPort{{Name: "http", Port: int32(address.Port)}},
		}},
	})
	// Since 1.37 it reads EndpointSlices instead.
	create(t, &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{
			Addresses:  []string{address.IP.String()},
			Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)},
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: name},
		}},
		Ports: []discoveryv1.EndpointPort{{Name: ptr.To("http"), Port: ptr.To(int32(address.Port)), Protocol: ptr.To(corev1.ProtocolTCP)}},
	})
}

func drawn(t *testing.T, width int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, 10))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestImageFromTheRunningDarkroom(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	one := path(namespace, "photos") + "/image?path="

	got := s.want(http.StatusServiceUnavailable, token, "GET", one+"/cat.png", "")
	if detail := problemOf(t, got).Detail; !strings.Contains(detail, "not installed") {
		t.Errorf("without a Service the answer is %s", got)
	}
	small, asked := drawn(t, 7), make(chan string, 10)
	serveAs(t, namespace, "photos", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("the Darkroom is told the caller's token")
		}
		switch r.URL.Path {
		case "/images/a cat.png":
			asked <- r.URL.RawQuery
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(small)
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, "<script>")
		case "/drawing.svg":
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = fmt.Fprint(w, "<svg/>")
		case "/large":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(make([]byte, 9<<20))
		case "/elsewhere":
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		case "/bad":
			w.WriteHeader(http.StatusUnprocessableEntity)
		case "/denied":
			w.WriteHeader(http.StatusForbidden)
		default:
			http.NotFound(w, r)
		}
	}))
	got = s.becomes(http.StatusOK, token, "GET", one+"/images/a+cat.png&w=7&fit=crop", "")
	if got.body != string(small) || got.header.Get("Content-Type") != "image/png" {
		t.Errorf("the image is %q, %d bytes", got.header.Get("Content-Type"), len(got.body))
	}
	if query := <-asked; query != "fit=crop&w=7" {
		t.Errorf("the Darkroom is asked %q", query)
	}
	for name, c := range map[string]struct {
		query  string
		status int
	}{
		"a page":                 {"/page", http.StatusBadGateway},
		"a drawing with scripts": {"/drawing.svg", http.StatusBadGateway},
		"a large image":          {"/large", http.StatusBadGateway},
		"a redirect":             {"/elsewhere", http.StatusBadGateway},
		"a bad source":           {"/bad", http.StatusBadGateway},
		"a Darkroom that denies": {"/denied", http.StatusBadGateway},
		"no such image":          {"/none", http.StatusNotFound},
		"metrics":                {"/metrics", http.StatusUnprocessableEntity},
		"the profiler":           {"/debug/pprof", http.StatusUnprocessableEntity},
		"a detour":               {"/images/../metrics", http.StatusUnprocessableEntity},
		"an encoded detour":      {"/images/%252e%252e/metrics", http.StatusUnprocessableEntity},
		"another host":           {"//evil.example.com/x", http.StatusUnprocessableEntity},
		"no path":                {"images", http.StatusUnprocessableEntity},
		"a query in the path":    {"/cat.png%3Fw=9999", http.StatusUnprocessableEntity},
		"too wide":               {"/cat.png&w=9999", http.StatusUnprocessableEntity},
		"an unknown parameter":   {"/cat.png&debug=1", http.StatusUnprocessableEntity},
		"an unknown fit":         {"/cat.png&fit=stretch", http.StatusUnprocessableEntity},
	} {
		t.Run(name, func(t *testing.T) {
			problemOf(t, s.on(t).want(c.status, token, "GET", one+c.query, ""))
		})
	}
}

func TestImageParametersAreBounded(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	for query, status := range map[string]int{
		"blur=100": http.StatusServiceUnavailable, "blur=0.5": http.StatusServiceUnavailable, "rot=-360": http.StatusServiceUnavailable,
		"blur=101": http.StatusUnprocessableEntity, "blur=9999": http.StatusUnprocessableEntity, "rot=361": http.StatusUnprocessableEntity,
		"rot=-360.5": http.StatusUnprocessableEntity, "rot=99999999": http.StatusUnprocessableEntity, "blur=1e5": http.StatusUnprocessableEntity,
	} {
		s.want(status, token, "GET", path(namespace, "photos")+"/image?path=/images/a.png&"+query, "")
	}
}
