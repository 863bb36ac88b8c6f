package apiserver_test

import (
	"errors"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

func TestOnlyThePodsOfADarkroomAreListed(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	token := newEditor(t, namespace).token
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	darkroom := stored(t, namespace, "photos")
	chosen := map[string]string{"app.kubernetes.io/instance": "photos"}

	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos-1", Labels: chosen},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "darkroom", Image: "darkroom:v1"}}},
	}
	create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}})
	create(t, pod)
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "darkroom", RestartCount: 2,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}},
	}}}
	if err := kube.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	create(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "another", Labels: map[string]string{"app.kubernetes.io/instance": "other"}},
		Spec:       pod.Spec,
	})
	// Until the operator has reported the selector, the list is empty.
	if none := into[apiserver.PodList](t, s.want(http.StatusOK, token, "GET", path(namespace, "photos")+"/pods", "")); len(none.Items) != 0 {
		t.Errorf("pods are %+v", none)
	}
	darkroom.Status.Selector = labels.Set(chosen).String()
	if err := kube.Status().Update(t.Context(), darkroom); err != nil {
		t.Fatal(err)
	}
	eventually(t, "server knows the selector", func() error {
		if now := into[apiserver.PodList](t, s.want(http.StatusOK, token, "GET", path(namespace, "photos")+"/pods", "")); len(now.Items) == 0 {
			return errors.New("no pods")
		}
		return nil
	})
	pods := into[apiserver.PodList](t, s.want(http.StatusOK, token, "GET", path(namespace, "photos")+"/pods", ""))
	if len(pods.Items) != 1 || pods.Items[0].Reason != "ImagePullBackOff" || pods.Items[0].Restarts != 2 || pods.Items[0].Ready {
		t.Errorf("pods are %+v", pods)
	}
}
