package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

func ownedBy(kind string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, UID: uid, Controller: ptr.To(true)}}
}

func TestTheCurrentReplicaSetIsTheDeploymentsOwn(t *testing.T) {
	deployment := deployment(2)
	deployment.UID, deployment.Annotations = "d", map[string]string{revisionAnnotation: "3"}
	replicaSet := func(uid, owner types.UID, revision string) appsv1.ReplicaSet {
		return appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
			UID: uid, OwnerReferences: ownedBy("Deployment", owner), Annotations: map[string]string{revisionAnnotation: revision},
		}}
	}
	sets := []appsv1.ReplicaSet{replicaSet("foreign", "another", "3"), replicaSet("old", "d", "2"), replicaSet("new", "d", "3")}
	if got := currentReplicaSet(deployment, sets); got != "new" {
		t.Errorf("got %q", got)
	}
	if got := currentReplicaSet(deployment, sets[:2]); got != "" {
		t.Errorf("got %q before there is one", got)
	}
}

func TestThePodToAskIsTheOneThatHasWaitedLongest(t *testing.T) {
	// waits is a pod of a ReplicaSet, whose container was started some seconds before noon.
	waits := func(name string, owner types.UID, seconds int, changes ...func(*corev1.Pod)) corev1.Pod {
		started := metav1.NewTime(noon.Add(-time.Duration(seconds) * time.Second))
		out := corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: ownedBy("ReplicaSet", owner)},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: containerName, Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 3000}},
			}}},
			Status: corev1.PodStatus{
				PodIP: "10.0.0." + name,
				ContainerStatuses: []corev1.ContainerStatus{{
					Name: containerName, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
				}},
			},
		}
		for _, change := range changes {
			change(&out)
		}
		return out
	}
	ready := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	deleted := func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1.NewTime(noon)) }
	otherPort := func(pod *corev1.Pod) { pod.Spec.Containers[0].Ports[0].ContainerPort = 8080 }
	for name, test := range map[string]struct {
		pods []corev1.Pod
		want probe.Pod
		wait time.Duration
	}{
		"none":                      {nil, probe.Pod{}, 0},
		"the longest":               {[]corev1.Pod{waits("1", "new", 7), waits("2", "new", 60), waits("3", "new", 9)}, probe.Pod{Name: "2", IP: "10.0.0.2", Port: "3000"}, 0},
		"one that has just started": {[]corev1.Pod{waits("1", "new", 2)}, probe.Pod{}, 3 * time.Second},
		"at another port":           {[]corev1.Pod{waits("1", "new", 7, otherPort)}, probe.Pod{Name: "1", IP: "10.0.0.1", Port: "8080"}, 0},
		"all are ready":             {[]corev1.Pod{waits("1", "new", 7, ready)}, probe.Pod{}, 0},
		"being deleted":             {[]corev1.Pod{waits("1", "new", 7, deleted)}, probe.Pod{}, 0},
		"of the previous template":  {[]corev1.Pod{waits("1", "old", 7)}, probe.Pod{}, 0},
	} {
		pod, wait := startingPod(notReady(test.pods), "new", noon)
		if diff := cmp.Diff(test.want, pod); diff != "" || wait != test.wait {
			t.Errorf("%s: wait %s, want %s (-want +got):\n%s", name, wait, test.wait, diff)
		}
	}
}
