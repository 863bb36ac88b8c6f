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
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// pod returns a pod that was created some minutes after noon, with the given container statuses.
func pod(name string, minutes int, containers ...corev1.ContainerStatus) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              name,
			CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(minutes) * time.Minute)),
		},
		Status: corev1.PodStatus{ContainerStatuses: containers},
	}
}

func waiting(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: containerName, Image: "gojektech/darkroom:v9",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}
}

// crashed returns a container that ended with a message and waits to be restarted.
func crashed(code int32, reason, message string, restarts int32) corev1.ContainerStatus {
	container := waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container")
	container.RestartCount = restarts
	container.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
		ExitCode: code,
		Reason:   reason, Message: message,
	}
	return container
}

var running = corev1.ContainerStatus{
	Name:  containerName,
	State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
}

func unschedulable(name string) corev1.Pod {
	out := pod(name, 0)
	out.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/3 nodes are available: 3 Insufficient memory.",
	}}
	return out
}

func TestProblemOfThePods(t *testing.T) {
	notFound := waiting("ErrImagePull", "not found")
	deleted := pod("photos-1", 9, notFound)
	deleted.DeletionTimestamp = &metav1.Time{Time: noon}
	injected := pod("photos-1", 0, waiting("PodInitializing", ""))
	injected.Status.InitContainerStatuses = []corev1.ContainerStatus{notFound}
	imagePull := &Problem{
		v1alpha1.ReasonImagePullFailed,
		"Pod photos-1 cannot pull image gojektech/darkroom:v9: ErrImagePull: not found",
	}
	failing := func(words string) *Problem { return &Problem{v1alpha1.ReasonPodsFailing, "Pod photos-1: " + words} }
	type list = []corev1.Pod
	for name, test := range map[string]struct {
		pods []corev1.Pod
		want *Problem
	}{
		"no pods":                     {nil, nil},
		"a running pod":               {list{pod("photos-1", 0, running)}, nil},
		"a pod that is being deleted": {list{deleted}, nil},
		"no image":                    {list{pod("photos-1", 0, notFound)}, imagePull},
		"the second container":        {list{pod("photos-1", 0, running, notFound)}, imagePull},
		"an init container":           {list{injected}, imagePull},
		"no Secret": {
			list{pod("photos-1", 0, waiting("CreateContainerConfigError", `secret "keys" not found`))},
			failing(`CreateContainerConfigError: secret "keys" not found`),
		},
		// The exit reason is more useful than the reason for waiting.
		"out of memory": {
			list{pod("photos-1", 0, crashed(137, "OOMKilled", "", 3))},
			failing("CrashLoopBackOff: exit code 137 (OOMKilled), restarted 3 times"),
		},
		"a program that does not exist": {
			list{pod("photos-1", 0, crashed(128, "StartError",
				`exec: "./darkroom": stat ./darkroom: no such file or directory`, 2))},
			failing(
				`CrashLoopBackOff: exit code 128 (StartError), restarted 2 times: exec: "./darkroom": stat ./darkroom: no such file or directory`,
			),
		},
		// Messages of programs may quote credentials.
		"the termination message of a program": {
			list{pod("photos-1", 0, crashed(1, "Error", "cannot log in with hunter2", 2))},
			failing("CrashLoopBackOff: exit code 1 (Error), restarted 2 times"),
		},
		"no node": {
			list{unschedulable("photos-1")},
			&Problem{
				v1alpha1.ReasonUnschedulable,
				"Pod photos-1 cannot be scheduled: 0/3 nodes are available: 3 Insufficient memory.",
			},
		},
		// The newest pod has the latest template.
		"the newest pod comes first": {
			list{pod("photos-0", 1, crashed(1, "Error", "", 9)), pod("photos-1", 2, notFound)},
			imagePull,
		},
		"an older pod where the newest has no problem": {
			list{pod("photos-2", 3, running), pod("photos-1", 1, crashed(1, "Error", "", 9))},
			failing("CrashLoopBackOff: exit code 1 (Error), restarted 9 times"),
		},
		"of two as old as each other, the first": {
			list{pod("photos-1", 1, notFound), pod("photos-0", 1, crashed(1, "Error", "", 9))}, imagePull,
		},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, "the problem", test.want, DetermineProblem(test.pods))
		})
	}
}

func ownedBy(kind string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, UID: uid, Controller: ptr.To(true)}}
}

func TestTheCurrentReplicaSetIsTheDeploymentsOwn(t *testing.T) {
	deployment := deployment(2)
	deployment.UID, deployment.Annotations = "d", map[string]string{revisionAnnotation: "3"}
	live := fake.NewFakeClient()
	create := func(uid, owner types.UID, revision string) {
		expect.NoError(t, live.Create(t.Context(), &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
			Name: string(uid), UID: uid, OwnerReferences: ownedBy("Deployment", owner),
			Annotations: map[string]string{revisionAnnotation: revision},
		}}))
	}
	create("foreign", "another", "3")
	create("old", "d", "2")
	if got, err := currentReplicaSet(t.Context(), live, deployment, nil); got != "" || err != nil {
		t.Errorf("got %q before the ReplicaSet exists (%v)", got, err)
	}
	create("new", "d", "3")
	if got, err := currentReplicaSet(t.Context(), live, deployment, nil); got != "new" || err != nil {
		t.Errorf("got %q, want new (%v)", got, err)
	}
}

func TestThePodToAskIsTheOneThatHasWaitedLongest(t *testing.T) {
	// waits returns a pod of a ReplicaSet whose container was started some seconds before noon.
	waits := func(name string, owner types.UID, seconds int, changes ...func(*corev1.Pod)) corev1.Pod {
		started := running
		started.State.Running = &corev1.ContainerStateRunning{
			StartedAt: metav1.NewTime(noon.Add(-time.Duration(seconds) * time.Second)),
		}
		out := pod(name, 0, started)
		out.OwnerReferences = ownedBy("ReplicaSet", owner)
		out.Spec.Containers = []corev1.Container{
			{Name: containerName, Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 3000}}},
		}
		out.Status.PodIP = "10.0.0." + name
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
		"none": {nil, probe.Pod{}, 0},
		"the longest": {
			[]corev1.Pod{waits("1", "new", 7), waits("2", "new", 60), waits("3", "new", 9)},
			probe.Pod{Name: "2", IP: "10.0.0.2", Port: "3000"},
			0,
		},
		"one that has just had enough time": {
			[]corev1.Pod{waits("1", "new", 5)},
			probe.Pod{Name: "1", IP: "10.0.0.1", Port: "3000"},
			0,
		},
		"one that has just started": {[]corev1.Pod{waits("1", "new", 2)}, probe.Pod{}, 3 * time.Second},
		"at another port": {
			[]corev1.Pod{waits("1", "new", 7, otherPort)},
			probe.Pod{Name: "1", IP: "10.0.0.1", Port: "8080"},
			0,
		},
		"all are ready":            {[]corev1.Pod{waits("1", "new", 7, ready)}, probe.Pod{}, 0},
		"being deleted":            {[]corev1.Pod{waits("1", "new", 7, deleted)}, probe.Pod{}, 0},
		"of the previous template": {[]corev1.Pod{waits("1", "old", 7)}, probe.Pod{}, 0},
	} {
		pod, wait := startingPod(notReady(test.pods), "new", noon)
		if diff := cmp.Diff(test.want, pod); diff != "" || wait != test.wait {
			t.Errorf("%s: got wait %s, want %s; pod (-want +got):\n%s", name, wait, test.wait, diff)
		}
	}
}
