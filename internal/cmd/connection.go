package cmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
)

// connection contains the flags by which commands for users choose a cluster.
type connection struct {
	kubeconfig, context string
}

func (c *connection) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "path to a kubeconfig (default: the one kubectl uses)")
	flags.StringVar(&c.context, "context", "", "context of the kubeconfig (default: the current one)")
}

// connect returns a client for the cluster, the configuration for further clients, and the namespace of the kubeconfig.
// The name appears in the user agent of the clients.
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

// subject identifies the Darkroom that is the subject of a command.
type subject struct {
	connection

	namespace string
}

func (s *subject) addFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&s.namespace, "namespace", "n", "", "namespace of the Darkroom (default: the namespace of the kubeconfig)")
	s.connection.addFlags(flags)
}

// connect returns a client for the cluster, and the namespace of the Darkroom.
func (s *subject) connect() (client.Client, *rest.Config, string, error) {
	cluster, kubeconfig, namespace, err := s.connection.connect(pluginName)
	return cluster, kubeconfig, cmp.Or(s.namespace, namespace), err
}

// notFound replaces a NotFound error by one that names the Darkroom; it returns other errors unchanged.
func notFound(err error, name, namespace string) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("Darkroom %s not found in namespace %s: list all Darkrooms with kubectl get darkrooms -A", name, namespace)
	}
	return err
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
