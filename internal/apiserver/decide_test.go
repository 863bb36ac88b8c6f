package apiserver

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

func TestPodsAreDescribedByTheirProblem(t *testing.T) {
	with := func(restarts int32, state corev1.ContainerState) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{RestartCount: restarts, State: state}}}
	}
	waiting := &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}
	crashed := &corev1.ContainerStateTerminated{Reason: "Error", Message: "exit 1"}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	noNode := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no room"}
	for _, c := range []struct {
		status corev1.PodStatus
		want   Pod
	}{
		{corev1.PodStatus{}, Pod{Phase: "Unknown"}},
		{corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{ready}}, Pod{Phase: "Running", Ready: true}},
		{corev1.PodStatus{Conditions: []corev1.PodCondition{noNode}}, Pod{Phase: "Unknown", Reason: "Unschedulable", Message: "no room"}},
		{with(0, corev1.ContainerState{Waiting: waiting}), Pod{Phase: "Unknown", Reason: "ImagePullBackOff", Message: "no such image"}},
		{with(3, corev1.ContainerState{Terminated: crashed}), Pod{Phase: "Unknown", Restarts: 3, Reason: "Error", Message: "exit 1"}},
	} {
		if got := describePod(&corev1.Pod{Status: c.status}); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

func TestOnlyImagesAreForwarded(t *testing.T) {
	for name, c := range map[string]struct {
		status, size int
		mediaType    string
		want         int
	}{
		"an image":               {http.StatusOK, maxImage, "image/png; a=b", 0},
		"a page":                 {http.StatusOK, 1, "text/html", http.StatusBadGateway},
		"a drawing with scripts": {http.StatusOK, 1, "image/svg+xml", http.StatusBadGateway},
		"no type":                {http.StatusOK, 1, "", http.StatusBadGateway},
		"a large image":          {http.StatusOK, maxImage + 1, "image/png", http.StatusBadGateway},
		"a source that fails":    {http.StatusUnprocessableEntity, 1, "", http.StatusBadGateway},
		"no such image":          {http.StatusNotFound, 1, "", http.StatusNotFound},
	} {
		_, err := judgeImage(c.status, c.mediaType, make([]byte, c.size))
		var refusal *problem.Details
		if got := errors.As(err, &refusal); got != (c.want != 0) || got && refusal.Status != c.want {
			t.Errorf("%s: %v, want %d", name, err, c.want)
		}
	}
}

func TestWhoGetsAHost(t *testing.T) {
	made := func(namespace string, age int64, subDomains ...string) *v1alpha1.Darkroom {
		return &v1alpha1.Darkroom{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos", CreationTimestamp: metav1.Unix(1000-age, 0)},
			Spec:       v1alpha1.DarkroomSpec{SubDomains: subDomains},
		}
	}
	leaving := made("c", 100, "cats")
	leaving.DeletionTimestamp = &metav1.Time{}
	of := func(installation string, darkroom *v1alpha1.Darkroom) *v1alpha1.Darkroom {
		darkroom.Annotations = map[string]string{v1alpha1.AnnotationInstallation: installation}
		return darkroom
	}
	for name, c := range map[string]struct {
		before *v1alpha1.Darkroom
		others []*v1alpha1.Darkroom
		want   string
	}{
		"no one has it":                    {nil, nil, hostFree},
		"others have others":               {nil, []*v1alpha1.Darkroom{made("a", 5, "dogs")}, hostFree},
		"a new one comes last":             {nil, []*v1alpha1.Darkroom{made("z", 0, "cats")}, hostTaken},
		"it has it already":                {made("b", 5, "cats"), nil, hostOwn},
		"it adds one that is free":         {made("b", 5, "dogs"), nil, hostFree},
		"it adds one of an older":          {made("b", 5), []*v1alpha1.Darkroom{made("c", 6, "cats")}, hostTaken},
		"it adds one of a younger":         {made("b", 5), []*v1alpha1.Darkroom{made("a", 4, "cats")}, hostOwn},
		"of one age the name decides":      {made("b", 5), []*v1alpha1.Darkroom{made("a", 5, "cats")}, hostTaken},
		"the oldest of several decides":    {made("b", 5), []*v1alpha1.Darkroom{made("a", 4, "cats"), made("c", 6, "cats")}, hostTaken},
		"one that is deleted has no claim": {nil, []*v1alpha1.Darkroom{leaving}, hostFree},
		"another installation's host":      {of("a", made("b", 5, "cats")), []*v1alpha1.Darkroom{of("b", made("c", 6, "cats"))}, hostOwn},
		"the own installation's host":      {of("a", made("b", 5, "cats")), []*v1alpha1.Darkroom{of("a", made("c", 6, "cats"))}, hostTaken},
		"nobody has handled the other yet": {of("a", made("b", 5, "cats")), []*v1alpha1.Darkroom{made("c", 6, "cats")}, hostTaken},
	} {
		wanted := made("b", 0, "cats")
		if c.before != nil {
			wanted.Annotations = c.before.Annotations
		}
		hosts := func(darkroom *v1alpha1.Darkroom) []string { return darkroom.Spec.SubDomains }
		rival := oldestRivals(wanted, hosts(wanted), append(c.others, made("b", 5, "cats")), hosts)["cats"]
		if got := hostState(c.before, rival, c.before != nil && slices.Contains(hosts(c.before), "cats")); got != c.want {
			t.Errorf("%s: the host is %s, want %s", name, got, c.want)
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
		"access key":  {NewSecret{AccessKey: "canary-access", SecretKey: "canary-secret"}, "denied: canary-access", "canary-access"},
		"secret key":  {NewSecret{AccessKey: "canary-access", SecretKey: "canary-secret"}, "denied: Y2FuYXJ5LXNlY3JldA==", "Y2FuYXJ5"},
		"JSON":        {NewSecret{CredentialsJSON: key}, "denied: " + key, "line-two-of-it"},
		"private key": {NewSecret{CredentialsJSON: key}, "denied: line-two-of-it", "line-two-of-it"},
	} {
		err := c.secret.refusal(apierrors.NewBadRequest(c.message))
		var refusal *problem.Details
		if !errors.As(err, &refusal) || strings.Contains(refusal.Detail, c.canary) || !strings.HasPrefix(refusal.Detail, "denied") {
			t.Errorf("%s: the problem is %v", name, err)
		}
	}
}
