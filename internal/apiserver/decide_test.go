package apiserver

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
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

func TestPodsAreDescribedByTheirProblem(t *testing.T) {
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

func TestWhoGetsAHost(t *testing.T) {
	made := func(namespace string, age int64, subDomains ...string) *v1alpha1.Darkroom {
		return &v1alpha1.Darkroom{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos", CreationTimestamp: metav1.Unix(1000-age, 0)},
			Spec:       v1alpha1.DarkroomSpec{SubDomains: subDomains},
		}
	}
	leaving := made("c", 100, "cats")
	leaving.DeletionTimestamp = &metav1.Time{}
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
	} {
		wanted := made("b", 0, "cats")
		rival := oldestRivals(wanted, append(c.others, made("b", 5, "cats")))["cats"]
		if got := hostState(c.before, rival, "cats"); got != c.want {
			t.Errorf("%s: the host is %s, want %s", name, got, c.want)
		}
	}
}

func TestNamesOfFieldsInErrors(t *testing.T) {
	for body, want := range map[string]problem.Field{
		`{"replicas":1.5}`:                        {Location: "body.replicas", Message: "must be an integer of 32 bits"},
		`{"replicas":99999999999}`:                {Location: "body.replicas", Message: "must be an integer of 32 bits"},
		`{"source":{"secureProtocol":"yes"}}`:     {Location: "body.source.secureProtocol", Message: "must be true or false"},
		`{"subDomains":"foo"}`:                    {Location: "body.subDomains", Message: "must be a list"},
		`{"source":{"baseUrl":["a"]}}`:            {Location: "body.source.baseUrl", Message: "must be a string"},
		`{"source":"https://example.com/images"}`: {Location: "body.source", Message: "must be an object"},
	} {
		if got := typeProblem(json.Unmarshal([]byte(body), &DarkroomInput{})); got != want {
			t.Errorf("%s is %+v, want %+v", body, got, want)
		}
	}
}
