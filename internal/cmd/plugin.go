package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/diagnosis"
)

// pluginName is the name by which kubectl finds the program: kubectl darkroom.
const pluginName = "kubectl-darkroom"

// notReady is the exit code of status for a Darkroom that is not ready.
const notReady = exitCode(2)

// isPlugin reports whether the program was called by the name of the plugin.
func isPlugin(program string) bool {
	return strings.HasPrefix(filepath.Base(program), pluginName)
}

// newPlugin returns the commands for people, for which kubectl runs the program.
func newPlugin() *cobra.Command {
	root := newRootNamed(pluginName, "Shows and previews Darkrooms")
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl darkroom"}
	root.Long = `Shows and previews Darkrooms. The same program, under the name darkroom-operator, is the operator.

The exit code is 1 after an error; status and plan have others of their own.`
	root.AddCommand(newStatus(), newExplain(), newReport(), newPlan(), newTemplate(), newSign())
	return root
}

// connection are the flags of commands for people that choose a cluster.
type connection struct {
	kubeconfig, context string
}

func (c *connection) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "path of a kubeconfig; empty means the kubeconfig of kubectl")
	flags.StringVar(&c.context, "context", "", "context of the kubeconfig; empty means the current one")
}

// connect returns a client for the cluster, which names the command in the logs of the API server, the settings of all
// further clients, and the namespace of the kubeconfig.
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
	flags.StringVarP(&s.namespace, "namespace", "n", "", "namespace of the Darkroom; empty means the namespace of the kubeconfig")
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

func newStatus() *cobra.Command {
	s := &subject{}
	command := &cobra.Command{
		Use:   "status NAME",
		Short: "Shows on one screen why a Darkroom is not ready, and what to do",
		Long: `Shows the state of a Darkroom with its conditions, pods, hosts, source and latest events, and what to do
about it. The exit code is 0 if it is ready, 2 if it is not, and 1 after an error.`,
		Example: `  kubectl darkroom status photos
  kubectl darkroom status photos -n team-a || kubectl darkroom report photos -n team-a > report.yaml`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			evidence, _, err := s.gather(cmd.Context(), args[0], false)
			if err != nil {
				return err
			}
			if err := evidence.Screen(cmd.OutOrStdout(), time.Now()); err != nil {
				return err
			}
			if !evidence.Ready() {
				return notReady
			}
			return nil
		},
	}
	s.addFlags(command.Flags())
	return command
}

func newReport() *cobra.Command {
	s := &subject{}
	var file string
	command := &cobra.Command{
		Use:   "report NAME",
		Short: "Writes what a bug report needs, without credentials",
		Long: `Writes a Darkroom with its objects, pods and events as YAML. Credentials, the values of variables and the data
of Secrets are left out. Names of hosts, buckets and images are not: read the report before you publish it.`,
		Example:           `  kubectl darkroom report photos -o report.yaml`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			evidence, kubeconfig, err := s.gather(cmd.Context(), args[0], true)
			if err != nil {
				return err
			}
			return writeTo(file, cmd.OutOrStdout(), func(out io.Writer) error {
				return evidence.Report(out, versions(kubeconfig), time.Now())
			})
		},
	}
	s.addFlags(command.Flags())
	command.Flags().StringVarP(&file, "output", "o", "", "file to write; empty means the standard output")
	return command
}

// writeTo writes to a file that only its owner may read, or to out without a name.
func writeTo(name string, out io.Writer, write func(io.Writer) error) error {
	if name == "" {
		return write(out)
	}
	//nolint:gosec // G304: the file that the user names
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// versions are the versions of the program, its chart and the cluster.
func versions(kubeconfig *rest.Config) map[string]any {
	out := map[string]any{"program": version()}
	if chrt, err := charts.Darkroom(); err == nil {
		out["chart"], out["darkroom"] = chrt.Metadata.Version, chrt.AppVersion()
	}
	if api, err := discovery.NewDiscoveryClientForConfig(kubeconfig); err == nil {
		if served, err := api.ServerVersion(); err == nil {
			out["kubernetes"] = served.GitVersion
		}
	}
	return out
}
