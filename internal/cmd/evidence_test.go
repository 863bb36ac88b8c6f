package cmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

// canary is a credential of the Darkroom, and foreign a credential that occurs only in a variable of a pod.
const (
	canary  = "kanarien  vogel/+42=x"
	foreign = "papagei-of-a-webhook"
)

var now = time.Unix(1_800_000_000, 0)

// suspect returns the objects of a Darkroom that does not start, with credentials where users and controllers may put
// them.
func suspect() *evidence {
	darkroom := darkrooms.New("photos", "team-a").S3("pictures", "eu-west-2").
		Annotation(lastApplied, `{"spec":{"source":{"secretKey":"`+canary+`"}}}`).
		Condition(v1alpha1.Condition{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse,
			Reason: v1alpha1.ReasonImagePullFailed, ObservedGeneration: 1,
			Message: "A pod cannot pull its image", LastTransitionTime: metav1.NewTime(now.Add(-5 * time.Minute)),
		}).Obj()
	darkroom.Spec.Source.AccessKey, darkroom.Spec.Source.SecretKey = "AKIAKANARIE", canary
	darkroom.Spec.ExtraEnv = []corev1.EnvVar{{Name: "TOKEN", Value: canary}}
	darkroom.Status.ObservedGeneration, darkroom.Status.Phase, darkroom.Status.Message = 1, v1alpha1.PhaseDegraded,
		"A pod cannot pull its image"
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "photos-1", Namespace: "team-a", UID: "1"}}
	pod.Spec.Containers = []corev1.Container{
		{Name: "darkroom", Env: []corev1.EnvVar{{Name: "TOKEN", Value: canary}, {Name: "INJECTED", Value: foreign}}},
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		RestartCount: 3, State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "denied for " + canary},
		},
	}}
	deployment := unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "photos", "namespace": "team-a"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{
				"name": "darkroom", "args": []any{"--key", canary},
				"env": []any{map[string]any{"name": "INJECTED", "value": foreign}},
			},
		}}}},
	}}
	event := corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "photos-1"}, Type: "Warning", Reason: "Failed",
		Message: "pull with " + canary + " failed", LastTimestamp: metav1.NewTime(now.Add(-time.Minute)),
	}
	return &evidence{
		darkroom: darkroom, pods: []corev1.Pod{pod}, events: []corev1.Event{event},
		objects: []unstructured.Unstructured{deployment},
	}
}

// written returns the output of the commands status and report for the evidence.
func written(t interface{ Fatal(args ...any) }, e *evidence) map[string]string {
	out := map[string]string{}
	for name, write := range map[string]func(*strings.Builder) error{
		"status": func(b *strings.Builder) error { return e.writeStatus(b, now) },
		"report": func(b *strings.Builder) error { return e.writeReport(b, map[string]any{"program": "v1"}, now) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		out[name] = b.String()
	}
	return out
}

// spoil appends a suffix to one random text of the Darkroom's objects.
func spoil(t *rapid.T, e *evidence, with string) {
	places := 0
	pick := rapid.IntRange(0, 200).Draw(t, "place")
	for _, object := range []any{&e.pods[0], &e.events[0], &e.objects[0], e.darkroom} {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(manifest.EachText(fields, func(text string) string {
			// The fields of environment variables have these names in every cluster.
			if places++; places-1 == pick && text != "env" && text != "value" {
				return text + with
			}
			return text
		}))
		if err != nil {
			t.Fatal(err)
		}
		_ = json.Unmarshal(raw, object) // other types, such as times, stay unchanged
	}
}

func TestTextsOfOthersDoNotControlTheTerminal(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		e := suspect()
		spoil(t, e, "\x1b[2J\u009b8m\u202e\r\n  forged")
		for name, text := range written(t, e) {
			if name == "status" && strings.Contains(text, "\n  forged") {
				t.Errorf("the screen has a line of others:\n%s", text)
			}
			if strings.ContainsAny(text, "\x1b\u009b\u202e\r") {
				t.Errorf("the %s controls the terminal: %q", name, text)
			}
		}
	})
}

// words removes differences in white space from a text.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestNoCredentialIsShown puts a credential of the Darkroom into the texts of its objects and events, because
// controllers may quote credentials there.
func TestNoCredentialIsShown(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		e := suspect()
		spoil(t, e, fmt.Sprintf(": %s, again %s", canary, canary))
		e.darkroom.Spec.Source.SecretKey, e.darkroom.Spec.ExtraEnv[0].Value = canary, canary
		for name, text := range written(t, e) {
			for _, secret := range []string{canary, foreign, "AKIAKANARIE"} {
				if strings.Contains(words(text), words(secret)) {
					t.Errorf("the %s has %s:\n%s", name, secret, text)
				}
			}
		}
	})
}
