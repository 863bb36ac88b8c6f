// Package helm3 gives tests the library of Helm 3, which users may use in addition to the operator.
package helm3

import (
	"fmt"

	"helm.sh/helm/v3/pkg/action"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
)

// Configuration returns the configuration of the helm command for a namespace of a cluster.
func Configuration(cluster *rest.Config, namespace string) (*action.Configuration, error) {
	flags := genericclioptions.NewConfigFlags(false)
	flags.WrapConfigFn = func(*rest.Config) *rest.Config { return rest.CopyConfig(cluster) }
	flags.Namespace = &namespace
	helm := &action.Configuration{}
	if err := helm.Init(flags, namespace, "secret", func(string, ...any) {}); err != nil {
		return nil, fmt.Errorf("configure Helm for namespace %s: %w", namespace, err)
	}
	return helm, nil
}
