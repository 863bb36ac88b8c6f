package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/diagnosis"
)

// connection are the flags of commands for people that choose a cluster.
type connection struct {
	kubeconfig, context string
}

func (c *connection) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "path to a kubeconfig (default: the one kubectl uses)")
	flags.StringVar(&c.context, "context", "", "context of the kubeconfig (default: the current one)")
}

// connect returns a client for the cluster, the settings of all further clients, and the namespace of the kubeconfig.
// The logs of the API server show the clients by the name of the command.
func (c *connection) connect(name string) (client.Client, *rest.Config, string, error) {
	if err := checkKubeconfig(); err != nil && c.kubeconfig == "" {
		return nil, nil, "", err
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: c.context})
	kubeconfig, err := loaded.ClientConfig()
	if err != nil {
		return nil, nil, "", fmt.Errorf("load kubeconfig: %w", err)
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return nil, nil, "", fmt.Errorf("load kubeconfig: %w", err)
	}
	kubeconfig.QPS, kubeconfig.Burst, kubeconfig.WarningHandler = apiQPS, apiBurst, rest.NoWarnings{}
	rest.AddUserAgent(kubeconfig, name+"/"+version())
	cluster, err := client.New(kubeconfig, client.Options{Scheme: controller.NewScheme()})
	if err != nil {
		return nil, nil, "", fmt.Errorf("connect to the cluster: %w", err)
	}
	return cluster, kubeconfig, namespace, nil
}

// subject is the Darkroom that a command is about.
type subject struct {
	connection

	namespace string
}

func (s *subject) addFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&s.namespace, "namespace", "n", "", "namespace of the Darkroom (default: the namespace of the kubeconfig)")
	s.connection.addFlags(flags)
}

// connect returns a client for the cluster, and the namespace of the subject.
func (s *subject) connect() (client.Client, *rest.Config, string, error) {
	cluster, kubeconfig, namespace, err := s.connection.connect(pluginName)
	return cluster, kubeconfig, cmp.Or(s.namespace, namespace), err
}

// gather reads what there is on a Darkroom, with its objects if they are wanted.
func (s *subject) gather(
	ctx context.Context, name string, withObjects bool,
) (*diagnosis.Evidence, *rest.Config, error) {
	cluster, kubeconfig, namespace, err := s.connect()
	if err != nil {
		return nil, nil, err
	}
	var kinds []schema.GroupVersionKind
	if withObjects {
		if kinds, err = kindsOfObjects(ctx, kubeconfig); err != nil {
			return nil, nil, err
		}
	}
	evidence, err := diagnosis.Gather(ctx, cluster, types.NamespacedName{Namespace: namespace, Name: name}, kinds)
	return evidence, kubeconfig, notFound(err, name, namespace)
}

// notFound names a Darkroom that does not exist; it returns other errors as they are.
func notFound(err error, name, namespace string) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no Darkroom %s in the namespace %s: kubectl get darkrooms -A lists all", name, namespace)
	}
	return err
}

// kindsOfObjects are the kinds that the operator manages in a cluster, and ReplicaSets; not Secrets.
func kindsOfObjects(ctx context.Context, kubeconfig *rest.Config) ([]schema.GroupVersionKind, error) {
	served, err := discover(ctx, kubeconfig)
	if err != nil {
		return nil, err
	}
	kinds := slices.DeleteFunc(served.Managed(), func(kind schema.GroupVersionKind) bool { return kind.Kind == "Secret" })
	return append(kinds, appsv1.SchemeGroupVersion.WithKind("ReplicaSet")), nil
}

// complete completes the names of Darkrooms.
func (s *subject) complete(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	cluster, _, namespace, err := s.connect()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	list := &v1alpha1.DarkroomList{}
	if err := cluster.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for i := range list.Items {
		if name := list.Items[i].Name; strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
