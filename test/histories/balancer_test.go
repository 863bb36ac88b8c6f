package histories

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// balancerFinalizer belongs to a load balancer, which serves a route until it has removed the finalizer.
const balancerFinalizer = "example.com/load-balancer"

// balancerSteps are the steps that the controller of a load balancer takes.
var balancerSteps = []kind{
	platform(3, "a load balancer sets a finalizer on routes, and continues to serve deleted ones",
		func(w *world) error {
			w.balances = true
			return nil
		}),
	platform(2, "the load balancer removes its finalizer from the routes that are deleted", func(w *world) error {
		w.balances = false
		return nil
	}),
}

// balance acts as the load balancer for one route.
func (w *world) balance(route *unstructured.Unstructured) (bool, error) {
	isSet, isDeleted := slices.Contains(route.GetFinalizers(), balancerFinalizer), route.GetDeletionTimestamp() != nil
	finalizers := slices.DeleteFunc(slices.Clone(route.GetFinalizers()),
		func(finalizer string) bool { return finalizer == balancerFinalizer })
	switch {
	case w.balances && !isSet && !isDeleted:
		finalizers = append(finalizers, balancerFinalizer)
	case w.balances || !isSet || !isDeleted:
		return false, nil
	}
	return true, edit(w, client.ObjectKeyFromObject(route), route, func(r *unstructured.Unstructured) error {
		r.SetFinalizers(finalizers)
		return nil
	})
}
