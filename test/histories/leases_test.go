package histories

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hostSteps affect the Leases of hosts: an administrator deletes one, or they are lost with their namespace.
var hostSteps = []kind{
	platform(2, "kubectl delete lease of the host of the sub-domain a", func(w *world) error {
		return w.deleteLeases(w.hosts()[:1])
	}),
	platform(2, "the Leases of all hosts are lost", func(w *world) error { return w.deleteLeases(w.hosts()) }),
	platform(2, "the Leases of all hosts are lost while the operator is down", func(w *world) error {
		w.stop(mainInstallation)
		if err := w.deleteLeases(w.hosts()); err != nil {
			return err
		}
		return w.start(mainInstallation)
	}),
}

func (w *world) deleteLeases(hosts []string) error {
	for _, host := range hosts {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: host}}
		if err := client.IgnoreNotFound(w.kube.Delete(w.ctx, lease)); err != nil {
			return err
		}
	}
	return nil
}
