package apiserver_test

import (
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

func TestOnlyTheEventsOfADarkroomAreListed(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	darkroom := stored(t, namespace, "photos")

	for i, event := range []corev1.Event{
		{Reason: "Installed", InvolvedObject: corev1.ObjectReference{Kind: "Darkroom", Namespace: namespace, Name: "photos", UID: darkroom.UID}},
		{Reason: "Before", InvolvedObject: corev1.ObjectReference{Kind: "Darkroom", Namespace: namespace, Name: "photos", UID: "another"}},
	} {
		event.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("event", i)}
		event.Type, event.Message = "Normal", "something happened"
		create(t, &event)
	}
	events := into[apiserver.EventList](t, s.want(http.StatusOK, token, "GET", path(namespace, "photos")+"/events", ""))
	if len(events.Items) != 1 || events.Items[0].Reason != "Installed" || events.Items[0].FirstSeen == nil {
		t.Errorf("events are %+v", events)
	}
}

func TestOnlyTheEventsOfAPodAreListed(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	editor, reader := newEditor(t, namespace), newReader(t, namespace)
	installed(t, s, editor.token, namespace, "")
	pod := &corev1.Pod{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "photos-1"}, pod); err != nil {
		t.Fatal(err)
	}
	for i, event := range []corev1.Event{
		{Reason: "BackOff", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "photos-1", UID: pod.UID}},
		{Reason: "Before", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "photos-1", UID: "another"}},
		{Reason: "Others", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "others-1", UID: "another"}},
	} {
		event.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("event", i)}
		event.Type, event.Message = "Warning", "something happened"
		create(t, &event)
	}
	pods := path(namespace, "photos") + "/pods/"
	events := into[apiserver.EventList](t, s.want(http.StatusOK, editor.token, "GET", pods+"photos-1/events", ""))
	if len(events.Items) != 1 || events.Items[0].Reason != "BackOff" {
		t.Errorf("events are %+v", events)
	}
	s.want(http.StatusNotFound, editor.token, "GET", pods+"others-1/events", "")
	s.want(http.StatusForbidden, reader.token, "GET", pods+"photos-1/events", "")
}
