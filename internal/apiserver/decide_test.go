package apiserver

import (
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

func TestPodsAreDescribedByTheirProblem(t *testing.T) {
	with := func(restarts int32, state corev1.ContainerState) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{RestartCount: restarts, State: state}}}
	}
	waiting := &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}
	crashed := &corev1.ContainerStateTerminated{Reason: "Error", Message: "exit 1"}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	noNode := corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Reason: "Unschedulable", Message: "no room",
	}
	for _, c := range []struct {
		status corev1.PodStatus
		want   Pod
	}{
		{corev1.PodStatus{}, Pod{Phase: "Unknown"}},
		{
			corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{ready}},
			Pod{Phase: "Running", Ready: true},
		},
		{
			corev1.PodStatus{Conditions: []corev1.PodCondition{noNode}},
			Pod{Phase: "Unknown", Reason: "Unschedulable", Message: "no room"},
		},
		{
			with(0, corev1.ContainerState{Waiting: waiting}),
			Pod{Phase: "Unknown", Reason: "ImagePullBackOff", Message: "no such image"},
		},
		{
			with(3, corev1.ContainerState{Terminated: crashed}),
			Pod{Phase: "Unknown", Restarts: 3, Reason: "Error", Message: "exit 1"},
		},
	} {
		if got := describePod(&corev1.Pod{Status: c.status}); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

func TestOnlyImagesAreForwarded(t *testing.T) {
	for name, c := range map[string]struct {
		status    int
		mediaType string
		size      int
		want      int // the status of the problem; 0 for an image that is forwarded
	}{
		"an image":               {status: http.StatusOK, mediaType: "image/png; a=b", size: maxImage},
		"a page":                 {status: http.StatusOK, mediaType: "text/html", want: http.StatusBadGateway},
		"a drawing with scripts": {status: http.StatusOK, mediaType: "image/svg+xml", want: http.StatusBadGateway},
		"no type":                {status: http.StatusOK, want: http.StatusBadGateway},
		"a large image": {
			status: http.StatusOK, mediaType: "image/png", size: maxImage + 1, want: http.StatusBadGateway,
		},
		"a source that fails": {status: http.StatusUnprocessableEntity, want: http.StatusBadGateway},
		"no such image":       {status: http.StatusNotFound, want: http.StatusNotFound},
	} {
		_, err := judgeImage(c.status, c.mediaType, make([]byte, max(c.size, 1)))
		var refusal *problem.Details
		if got := errors.As(err, &refusal); got != (c.want != 0) || got && refusal.Status != c.want {
			t.Errorf("%s: got error %v, want status %d", name, err, c.want)
		}
	}
}

func TestMessagesOfTheClusterDoNotRepeatCredentials(t *testing.T) {
	const key = `{"type":"service_account","client_email":"a@b","private_key":"line-one-of-it\nline-two-of-it\n"}`
	for name, c := range map[string]struct {
		secret  NewSecret
		message string
		canary  string
	}{
		"access key": {
			NewSecret{AccessKey: "canary-access", SecretKey: "canary-secret"},
			"denied: canary-access", "canary-access",
		},
		"secret key": {
			NewSecret{AccessKey: "canary-access", SecretKey: "canary-secret"},
			"denied: Y2FuYXJ5LXNlY3JldA==", "Y2FuYXJ5",
		},
		"JSON":        {NewSecret{CredentialsJSON: key}, "denied: " + key, "line-two-of-it"},
		"private key": {NewSecret{CredentialsJSON: key}, "denied: line-two-of-it", "line-two-of-it"},
	} {
		err := c.secret.refusal(apierrors.NewBadRequest(c.message))
		var refusal *problem.Details
		if !errors.As(err, &refusal) || strings.Contains(refusal.Detail, c.canary) ||
			!strings.HasPrefix(refusal.Detail, "denied") {
			t.Errorf("%s: the problem is %v", name, err)
		}
	}
}

// Each line of metrics is a metric that takes at least a hundred bytes.
func TestMetricsOfAPodTakeLittleMemory(t *testing.T) {
	for _, line := range []string{
		"a 1\n", familyRequests + " 1\n", familyRequests + `{a="b"} 1` + "\n",
		"\n", "# TYPE a counter\n",
	} {
		var before, after runtime.MemStats
		metrics := strings.NewReader(strings.Repeat(line, maxMetrics/len(line)))
		runtime.ReadMemStats(&before)
		got, err := countGate("photos-1", metrics)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 4*maxMetrics {
			t.Errorf("a megabyte of %q takes %d bytes: %v, %v", line, taken, got, err)
		}
	}
}
