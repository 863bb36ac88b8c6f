package apiserver_test

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

// happened creates an event about an object of a namespace.
func happened(t *testing.T, namespace, reason, kind, name string, uid types.UID) {
	t.Helper()
	create(t, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "event-"}, Type: "Warning", Reason: reason, Message: "something happened",
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
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "photos-1"}, pod); err != nil {
		t.Fatal(err)
	}
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
	if none := into[apiserver.PodList](t, s.want(http.StatusOK, token, "GET", path(namespace, "others")+"/pods", "")); len(none.Items) != 0 {
		t.Errorf("pods are %+v", none)
	}
}
