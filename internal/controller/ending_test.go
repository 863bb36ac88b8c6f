package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// When a namespace is deleted, the objects of a Darkroom are deleted before the Darkroom itself, which remains longer
// if it has a finalizer. Refused writes do not count as failures meanwhile, because failures raise an alert.
func TestTheEndOfANamespaceIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(*testing.T, *v1alpha1.Darkroom){
		"an upgrade": func(t *testing.T, d *v1alpha1.Darkroom) {
			change(t, d, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
		},
		"a repair": func(t *testing.T, d *v1alpha1.Darkroom) {
			remove(t, mustGet(t, &appsv1.Deployment{}, d.Namespace, d.Name))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			darkroom, registry := webFolder(newNamespace(t), "photos"), prometheus.NewRegistry()
			operator := startOperator(t, darkroom.Namespace, func(s *settings) { s.Metrics = registry })
			install(t, darkroom)
			eventually(t, "rest", quiet(operator))
			remove(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: darkroom.Namespace}})
			act(t, darkroom)
			eventually(t, "two attempts", func(context.Context) error {
				if refused := operator.refusals(); refused < 2 {
					return fmt.Errorf("%d writes were refused", refused)
				}
				return nil
			})
			gathered, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, family := range gathered {
				for _, metric := range family.GetMetric() {
					if isFailure(metric) && metric.GetCounter().GetValue() > 0 {
						t.Errorf("counted as failures: %s %s", family.GetName(), metric)
					}
				}
			}
			status := mustGet(t, &v1alpha1.Darkroom{}, darkroom.Namespace, darkroom.Name).Status
			if strings.Contains(encoded(status), "terminated") {
				t.Errorf("got status %+v, want no failure", status)
			}
		})
	}
}

func isFailure(metric *dto.Metric) bool {
	for _, label := range metric.GetLabel() {
		if label.GetName() == "result" && label.GetValue() == "failure" {
			return true
		}
	}
	return false
}

// refusals counts the requests that the API server has forbidden so far.
func (o *operator) refusals() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.forbidden)
}
