package apiserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// kubelet serves the logs of a node. A followed log receives the lines from the channel.
type kubelet struct {
	more   chan string
	closed chan struct{}
	asked  chan string
}

func (k *kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case k.asked <- r.URL.String():
	default:
	}
	if r.URL.Query().Get("previous") == "true" {
		http.Error(w, "previous terminated container not found", http.StatusBadRequest)
		return
	}
	lines := "first\nsecond\n"
	if r.URL.Query().Get("timestamps") == "true" {
		lines = "2026-01-01T00:00:00.5Z first\n2026-01-01T00:00:00.501Z second\n"
	}
	fmt.Fprint(w, lines)
	if r.URL.Query().Get("follow") != "true" {
		return
	}
	control := http.NewResponseController(w)
	for {
		if err := control.Flush(); err != nil {
			return
		}
		select {
		case line, running := <-k.more:
			if !running {
				return
			}
			fmt.Fprint(w, line)
		case <-r.Context().Done():
			select {
			case k.closed <- struct{}{}:
			default:
			}
			return
		}
	}
}

// newKubelet starts the kubelet of a node; the Kubernetes API reads logs from it.
func newKubelet(t *testing.T, node string) *kubelet {
	t.Helper()
	k := &kubelet{more: make(chan string), closed: make(chan struct{}, 1), asked: make(chan string, 1)}
	server := httptest.NewTLSServer(k)
	t.Cleanup(server.Close)
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
	create(t, object)
	t.Cleanup(func() {
		if err := kube.Delete(context.Background(), object); err != nil {
			t.Error(err)
		}
	})
	object.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	object.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(server.Listener.Addr().(*net.TCPAddr).Port)
	expect.NoError(t, kube.Status().Update(t.Context(), object))
	return k
}

// installed creates a Darkroom with one pod of its own, and a pod of another Darkroom.
func installed(t *testing.T, s *server, token, namespace, node string) {
	t.Helper()
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	darkroom := stored(t, namespace, "photos")
	darkroom.Status.Selector = "app.kubernetes.io/instance=photos"
	expect.NoError(t, kube.Status().Update(t.Context(), darkroom))
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}})
	for name, instance := range map[string]string{"photos-1": "photos", "others-1": "others"} {
		create(t, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name,
				Labels: map[string]string{"app.kubernetes.io/instance": instance},
			},
			Spec: corev1.PodSpec{
				NodeName:   node,
				Containers: []corev1.Container{{Name: "darkroom", Image: "darkroom"}, {Name: "injected", Image: "proxy"}},
			},
		})
	}
	eventually(t, "server has the selector", func() error {
		if len(into[apiserver.PodList](t, s.want(http.StatusOK, token, "GET", path(namespace, "photos")+"/pods", "")).
			Items) == 0 {
			return errors.New("no pods")
		}
		return nil
	})
}

func TestLogOfAPod(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor, reader := newEditor(t, namespace), newUserWho(t, namespace, "reader", canReadLogs)
	k := newKubelet(t, namespace)
	installed(t, s, editor.token, namespace, namespace)
	pods := path(namespace, "photos") + "/pods/"
	create(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "new",
			Labels: map[string]string{"app.kubernetes.io/instance": "photos"},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "darkroom", Image: "darkroom"}}},
	})
	if got := s.want(http.StatusOK, reader.token, "GET", pods+"new/log", ""); got.body != "" {
		t.Errorf("the log of a pod that has no node yet is %s", got)
	}

	got := s.want(http.StatusOK, reader.token, "GET", pods+"photos-1/log?lines=2&timestamps=true", "")
	mediaType := got.header.Get("Content-Type")
	if got.body != "2026-01-01T00:00:00.5Z first\n2026-01-01T00:00:00.501Z second\n" ||
		!strings.HasPrefix(mediaType, "text/plain") {
		t.Errorf("the log is %s, of type %s", got, got.header.Get("Content-Type"))
	}
	contains(t, "the request to the kubelet", <-k.asked,
		"/containerLogs/"+namespace+"/photos-1/darkroom?", "tailLines=2", "limitBytes=8388608", "timestamps=true")
	s.want(http.StatusNotFound, reader.token, "GET", pods+"others-1/log", "")
	s.want(http.StatusNotFound, reader.token, "GET", pods+"none/log", "")
	s.want(http.StatusUnprocessableEntity, reader.token, "GET", pods+"photos-1/log?lines=10001", "")
	for _, pod := range []string{"photos-1", "new"} {
		got = s.want(http.StatusNotFound, reader.token, "GET", pods+pod+"/log?container=gate", "")
		contains(t, "the problem", problemOf(t, got).Detail, `no container "gate"`)
	}
	got = s.want(http.StatusNotFound, reader.token, "GET", pods+"photos-1/log?previous=true", "")
	contains(t, "the problem", problemOf(t, got).Detail, "has not been restarted")
	got = s.want(http.StatusForbidden, editor.token, "GET", pods+"photos-1/log", "")
	contains(t, "the problem", problemOf(t, got).Detail, "get pods/log")
}

// follow opens a followed log, and returns its lines and a function that closes it.
func follow(t *testing.T, s *server, token, path string) (*http.Response, *bufio.Reader) {
	t.Helper()
	response, err := s.send(t.Context(), token, http.MethodGet, path+"?follow=true", nil)
	expect.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	return response, bufio.NewReader(response.Body)
}

func TestALogIsFollowedWhileItIsAllowed(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *apiserver.Options) { o.Heartbeat = 100 * time.Millisecond })
	// Each of the required permissions is revoked in turn.
	for i, right := range canReadLogs {
		t.Run(right.Resources[0], func(t *testing.T) {
			t.Parallel()
			s, namespace := s.on(t), newNamespace(t)
			editor, reader := newEditor(t, namespace), newUser(t, namespace, "reader")
			subject := rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: reader.name}
			revoke := grant(t, namespace, subject, []rbacv1.PolicyRule{right})
			grant(t, namespace, subject, slices.Delete(slices.Clone(canReadLogs), i, i+1))
			k := newKubelet(t, namespace)
			installed(t, s, editor.token, namespace, namespace)
			target := path(namespace, "photos") + "/pods/photos-1/log"
			s.becomes(http.StatusOK, reader.token, "GET", target, "")

			_, log := follow(t, s, reader.token, target)
			for _, want := range []string{"first\n", "second\n", "third\n"} {
				if want == "third\n" {
					k.more <- want
				}
				if line, err := log.ReadString('\n'); line != want {
					t.Fatalf("line is %q, %v; want %q", line, err, want)
				}
			}
			revoke()
			if rest, err := io.ReadAll(log); len(rest) > 0 {
				t.Errorf("after the permission was revoked: %q, %v", rest, err)
			}
			<-k.closed
		})
	}
}

func TestACallerReadsSoManyLogs(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor, reader := newEditor(t, namespace), newUserWho(t, namespace, "reader", canReadLogs)
	editor.may(namespace, canReadLogs)
	newKubelet(t, namespace)
	installed(t, s, editor.token, namespace, namespace)
	target := path(namespace, "photos") + "/pods/photos-1/log"
	first, _ := follow(t, s, reader.token, target)
	for range 3 {
		follow(t, s, reader.token, target)
	}
	s.limited(reader.token, "GET", target)
	s.want(http.StatusOK, editor.token, "GET", target, "")
	first.Body.Close()
	s.becomes(http.StatusOK, reader.token, "GET", target, "")
}

// A pod may have 1.5 MiB, and users may create pods with the labels of a Darkroom.
func TestLargePodsAreListedWithinABound(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor := newEditor(t, namespace)
	installed(t, s, editor.token, namespace, "")
	for i := range 9 {
		create(t, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: fmt.Sprint("photos-large-", i),
				Labels: map[string]string{"app.kubernetes.io/instance": "photos"},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "darkroom", Image: "darkroom", Env: []corev1.EnvVar{{Name: "LARGE", Value: strings.Repeat("x", 1<<20)}},
			}}},
		})
	}
	// Six megabytes are the limit.
	got := into[apiserver.PodList](t, s.want(http.StatusOK, editor.token, "GET", path(namespace, "photos")+"/pods", ""))
	if n := len(got.Items); n < 1 || n > 6 {
		t.Errorf("%d pods of a megabyte are read", n)
	}
}

// happened creates an event about an object of a namespace.
func happened(t *testing.T, namespace, reason, kind, name string, uid types.UID) {
	t.Helper()
	create(t, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "event-"}, Type: "Warning", Reason: reason,
		Message:        "something happened",
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: namespace, Name: name, UID: uid},
	})
}

func TestOnlyThePodsAndEventsOfADarkroomAreListed(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	reader := newUserWho(t, namespace, "reader", canReadLogs)
	installed(t, s, token, namespace, "")
	one := path(namespace, "photos")
	pods := into[apiserver.PodList](t, s.want(http.StatusOK, token, "GET", one+"/pods", ""))
	if len(pods.Items) != 1 || pods.Items[0].Name != "photos-1" || pods.Items[0].Ready {
		t.Errorf("pods are %+v", pods)
	}
	pod := &corev1.Pod{}
	expect.NoError(t, kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "photos-1"}, pod))
	happened(t, namespace, "Installed", "Darkroom", "photos", stored(t, namespace, "photos").UID)
	happened(t, namespace, "Before", "Darkroom", "photos", "another")
	happened(t, namespace, "BackOff", "Pod", "photos-1", pod.UID)
	happened(t, namespace, "Before", "Pod", "photos-1", "another")
	happened(t, namespace, "Others", "Pod", "others-1", "another")
	for route, want := range map[string]string{"/events": "Installed", "/pods/photos-1/events": "BackOff"} {
		events := into[apiserver.EventList](t, s.want(http.StatusOK, token, "GET", one+route, ""))
		if len(events.Items) != 1 || events.Items[0].Reason != want || events.Items[0].FirstSeen == nil {
			t.Errorf("%s: events are %+v", route, events)
		}
	}
	s.want(http.StatusNotFound, token, "GET", one+"/pods/others-1/events", "")
	s.want(http.StatusForbidden, reader.token, "GET", one+"/pods/photos-1/events", "")
	// Until the operator has reported the selector, the list is empty.
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "others"))
	none := into[apiserver.PodList](t, s.want(http.StatusOK, token, "GET", path(namespace, "others")+"/pods", ""))
	if len(none.Items) != 0 {
		t.Errorf("pods are %+v", none)
	}
}
