package apiserver_test

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

func TestOnlyThePodsOfADarkroomAreListed(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	installed(t, s, token, namespace, "")
	pod := &corev1.Pod{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "photos-1"}, pod); err != nil {
		t.Fatal(err)
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "darkroom", RestartCount: 2,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}},
	}}}
	if err := kube.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	pods := into[apiserver.PodList](t, s.want(http.StatusOK, token, "GET", path(namespace, "photos")+"/pods", ""))
	if len(pods.Items) != 1 || pods.Items[0].Reason != "ImagePullBackOff" || pods.Items[0].Restarts != 2 || pods.Items[0].Ready {
		t.Errorf("pods are %+v", pods)
	}
	// Until the operator has reported the selector, the list is empty.
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "others"))
	if none := into[apiserver.PodList](t, s.want(http.StatusOK, token, "GET", path(namespace, "others")+"/pods", "")); len(none.Items) != 0 {
		t.Errorf("pods are %+v", none)
	}
}
