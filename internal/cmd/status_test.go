package cmd

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestStatusSaysWhyAndWhatToDo(t *testing.T) {
	text := written(t, suspect())["status"]
	for _, want := range []string{
		"Darkroom team-a/photos: Degraded", "A pod cannot pull its image",
		"→ Check version, image.repository and image.pullSecrets.",
		"ImagePullBackOff", "3 restarts", "Pod photos-1", "5m",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the status lacks %q:\n%s", want, text)
		}
	}
	if lines := strings.Count(text, "\n"); lines > 40 {
		t.Errorf("got %d lines, want a screen of 40 at most", lines)
	}
}

func TestStatusGivesAdviceOnce(t *testing.T) {
	for reason, message := range map[string]string{
		v1alpha1.ReasonImagePullFailed: "A pod cannot pull its image.",
		v1alpha1.ReasonSecretKeyMissing: `Secret photos has no key "accessKey". Add the key, or name another key in ` +
			"credentialsSecretRef.",
		v1alpha1.ReasonSourceDenied: "GET /cat.jpg: HTTP 403. The source refused access: check spec.source.",
		v1alpha1.ReasonIngressClassMissing: "IngressClass public does not exist. Set ingress.className to a class listed " +
			"by `kubectl get ingressclasses`.",
	} {
		e := suspect()
		e.darkroom.Status.Message = message
		e.darkroom.Status.Conditions = []v1alpha1.Condition{
			{Type: v1alpha1.ConditionReady, Status: "False", Reason: reason, Message: message},
			{Type: v1alpha1.ConditionStalled, Status: "True", Reason: reason, Message: message},
		}
		text := written(t, e)["status"]
		if got := strings.Count(text, message); got != 1 {
			t.Errorf("%s: got the message %d times, want it once:\n%s", reason, got, text)
		}
		isGeneral, want := strings.Contains(text, "→"), reason == v1alpha1.ReasonImagePullFailed
		if isGeneral != want {
			t.Errorf("%s: got general advice below the message: %t, want %t:\n%s", reason, isGeneral, want, text)
		}
	}
}

// If no operator of the installation runs any more, nothing else in the Darkroom shows it.
func TestStatusNamesTheInstallationAndTheAgeOfTheStatus(t *testing.T) {
	e := suspect()
	e.darkroom.Status.Installation = "darkroom-system"
	for subresource, age := range map[string]time.Duration{"": time.Minute, "status": 3 * time.Hour} {
		e.darkroom.ManagedFields = append(e.darkroom.ManagedFields, metav1.ManagedFieldsEntry{
			Subresource: subresource, Time: &metav1.Time{Time: now.Add(-age)},
		})
	}
	const want = "Handled by the installation darkroom-system. The status was last written 3h ago."
	if text := written(t, e)["status"]; !strings.Contains(text, want) {
		t.Errorf("the status lacks %q:\n%s", want, text)
	}
}
