package apiserver

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMergePatch(t *testing.T) {
	// The examples of RFC 7396, appendix A, whose results are objects.
	for _, c := range []struct{ base, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		base, _ := object([]byte(c.base))
		patch, _ := object([]byte(c.patch))
		got, _ := json.Marshal(mergePatch(base, patch))
		if string(got) != c.want {
			t.Errorf("%s patched with %s is %s, want %s", c.base, c.patch, got, c.want)
		}
	}
}

func TestMessagesWithoutValues(t *testing.T) {
	for message, want := range map[string]string{
		`Required value: needed`:                                   `Required value: needed`,
		`Invalid value: "sec\"ret": must be short`:                 `Invalid value: must be short`,
		`Invalid value: -1: spec.replicas in body should be more`:  `Invalid value: should be more`,
		`Unsupported value: "loud": supported values: "a", "b"`:    `Unsupported value: supported values: "a", "b"`,
		`Invalid value: "object": rule broken: see "x": and so on`: `Invalid value: rule broken: see "x": and so on`,
	} {
		if got := withoutValue(message); got != want {
			t.Errorf("%s becomes %s, want %s", message, got, want)
		}
	}
}

func TestPathsOfFields(t *testing.T) {
	for field, want := range map[string]string{
		"spec.source.baseUrl": "body.source.baseUrl", "spec.subDomains[0]": "body.subDomains[0]", ".spec.replicas": "body.replicas",
		"metadata.name": "body.name", "spec": "body", "": "body", "<nil>": "body",
	} {
		if got := bodyPath(metav1.StatusCause{Field: field}); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
}

func TestIfMatch(t *testing.T) {
	for header, want := range map[string]bool{
		`"7"`: true, `*`: true, `"6", "7"`: true, `W/"7"`: true, `"70"`: false, `7`: false, `""`: false,
	} {
		if matches(header, "7") != want {
			t.Errorf("%s matches: %t", header, !want)
		}
	}
}

func TestPodsAreDescribedByWhatHoldsThemUp(t *testing.T) {
	for name, c := range map[string]struct {
		status corev1.PodStatus
		want   Pod
	}{
		"nothing known": {corev1.PodStatus{}, Pod{Phase: "Unknown"}},
		"ready": {
			corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
			Pod{Phase: "Running", Ready: true},
		},
		"no node": {
			corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no room"}}},
			Pod{Phase: "Pending", Reason: "Unschedulable", Message: "no room"},
		},
		"crashing": {
			corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
				RestartCount: 3, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", Message: "exit 1"}},
			}}},
			Pod{Phase: "Running", Restarts: 3, Reason: "Error", Message: "exit 1"},
		},
	} {
		if got := describePod(&corev1.Pod{Status: c.status}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestLoopbackAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:5000": true, "localhost:5000": true, "[::1]:5000": true, "127.8.8.8:1": true,
		":5000": false, "0.0.0.0:5000": false, "[::]:5000": false, "10.0.0.1:5000": false, "127.0.0.1": false, "localhost.example.com:5000": false,
	} {
		if isLoopback(address) != want {
			t.Errorf("%s is of this machine alone: %t", address, !want)
		}
	}
}

func TestSeatsAreGivenBack(t *testing.T) {
	s := newSeats(1)
	leave, ok := s.enter("a")
	if _, again := s.enter("a"); !ok || again {
		t.Error("one seat is not one seat")
	}
	if _, other := s.enter("b"); !other {
		t.Error("b has no seat")
	}
	leave()
	if _, ok := s.enter("a"); !ok {
		t.Error("the seat is not given back")
	}
}
