package controller

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failingDiscovery is an API server that is overloaded.
type failingDiscovery struct{}

func (failingDiscovery) ServerResourcesForGroupVersionWithContext(context.Context, string) (*metav1.APIResourceList, error) {
	return nil, apierrors.NewServiceUnavailable("overloaded")
}

func TestAKindIsNotTakenForGoneWhenDiscoveryFails(t *testing.T) {
	k := newKinds(nil, nil, failingDiscovery{}, time.Minute)
	k.followed[httpRoute] = &following{cached: true}
	if err := k.look(t.Context()); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got error %v, want the one of the API server", err)
	}
	if !k.has(httpRoute) {
		t.Error("HTTPRoutes are taken for gone")
	}
}
