package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// statusCheck returns an error if a status does not match the expectation.
type statusCheck func(v1alpha1.DarkroomStatus) error

// eventuallyStatus waits until the status of a Darkroom has the current generation and passes all checks.
func eventuallyStatus(t testing.TB, darkroom *v1alpha1.Darkroom, what string, checks ...statusCheck) {
	t.Helper()
	eventually(t, what, func(ctx context.Context) error {
		now, err := get(ctx, &v1alpha1.Darkroom{}, darkroom.Namespace, darkroom.Name)
		if err == nil && now.Status.ObservedGeneration != now.Generation {
			err = fmt.Errorf("got the status of generation %d, want %d", now.Status.ObservedGeneration, now.Generation)
		}
		for _, check := range checks {
			err = errors.Join(err, check(now.Status))
		}
		return err
	})
}

// has expects a condition.
func has(conditionType string, want metav1.ConditionStatus, reason string) statusCheck {
	return func(status v1alpha1.DarkroomStatus) error {
		found := v1alpha1.FindCondition(status.Conditions, conditionType)
		if found == nil || found.Status != want || found.Reason != reason {
			return fmt.Errorf("condition %s is %+v, want %s with reason %s", conditionType, found, want, reason)
		}
		return nil
	}
}

// isReady expects that all replicas are ready.
func isReady() statusCheck {
	return has(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
}

// isNotReady expects the condition Ready to be False with a reason.
func isNotReady(reason string) statusCheck {
	return has(v1alpha1.ConditionReady, metav1.ConditionFalse, reason)
}

// isPaused expects the status of a paused Darkroom.
func isPaused() statusCheck {
	return has(v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonPaused)
}

// explains expects a text in the message of a condition.
func explains(conditionType, text string) statusCheck {
	return func(status v1alpha1.DarkroomStatus) error {
		found := v1alpha1.FindCondition(status.Conditions, conditionType)
		if found == nil || !strings.Contains(found.Message, text) {
			return fmt.Errorf("got condition %s %+v, want a message with %q", conditionType, found, text)
		}
		return nil
	}
}

// lacks expects that conditions of some types are absent.
func lacks(conditionTypes ...string) statusCheck {
	return func(status v1alpha1.DarkroomStatus) error {
		for _, conditionType := range conditionTypes {
			if found := v1alpha1.FindCondition(status.Conditions, conditionType); found != nil {
				return fmt.Errorf("got unexpected condition %+v", found)
			}
		}
		return nil
	}
}

// isIn expects a phase.
func isIn(phase v1alpha1.Phase) statusCheck {
	return func(status v1alpha1.DarkroomStatus) error {
		if status.Phase != phase {
			return fmt.Errorf("phase is %s, want %s: %s", status.Phase, phase, status.Message)
		}
		return nil
	}
}

// says expects the message of the status to contain some texts.
func says(texts ...string) statusCheck {
	return func(status v1alpha1.DarkroomStatus) error {
		for _, text := range texts {
			if !strings.Contains(status.Message, text) {
				return fmt.Errorf("got message %q, want one with %q", status.Message, text)
			}
		}
		return nil
	}
}

// hasDomains expects the routed hosts.
func hasDomains(want ...string) statusCheck {
	return func(status v1alpha1.DarkroomStatus) error {
		if !slices.Equal(status.Domains, want) {
			return fmt.Errorf("got domains %q, want %q", status.Domains, want)
		}
		return nil
	}
}

// installed returns an error unless the current generation of a Darkroom is released.
func installed(namespace, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		darkroom, err := get(ctx, &v1alpha1.Darkroom{}, namespace, name)
		if err != nil {
			return err
		}
		deployed := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionDeployed)
		failed := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReleaseFailed)
		if deployed == nil || deployed.Status != metav1.ConditionTrue || deployed.ObservedGeneration != darkroom.Generation ||
			failed == nil || failed.Status != metav1.ConditionFalse {
			return fmt.Errorf("conditions are %+v", darkroom.Status.Conditions)
		}
		return nil
	}
}

// events returns the events in a namespace that have a reason, or all events if the reason is empty.
func events(t *testing.T, namespace, reason string) []eventsv1.Event {
	t.Helper()
	list := &eventsv1.EventList{}
	if err := kube.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return reason != "" && e.Reason != reason })
}

func eventuallyEvent(t *testing.T, namespace, reason string) {
	t.Helper()
	eventually(t, "an event "+reason, func(context.Context) error {
		if len(events(t, namespace, reason)) == 0 {
			return fmt.Errorf("no event %s in %s", reason, namespace)
		}
		return nil
	})
}

func encoded(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
