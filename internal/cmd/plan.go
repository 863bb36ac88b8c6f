package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/plan"
)

// planChanges is the exit code of plan --exit-code if something would change.
const planChanges = exitCode(2)

// planOptions are the flags of plan.
type planOptions struct {
	connection   connection
	namespace    string
	all          bool
	selector     string
	output       string
	exitCode     bool
	flagsFrom    string
	installation string
	translation  translation
}

func newPlan() *cobra.Command {
	options := &planOptions{}
	command := &cobra.Command{
		Use:   "plan",
		Short: "Prints what an operator of this version would change in the cluster",
		Long: `Renders each Darkroom in the cluster with the chart of this version and the flags of an operator, and
prints the differences from the deployed objects: changes that replace pods and the fields that cause
them, other changes, Darkrooms that would be rejected, fields that the CRD of this version drops, and
hosts that move.

Nothing is changed: all requests are dry runs. You need the operator's permissions to read and patch the
objects of Darkrooms, and to read the Secrets that they reference. No data of a Secret is printed.

--flags-from reads the flags of a running operator, including the images set by OLM or Helm; flags on the
command line take precedence. The exit code is 0, or 1 after an error. With --exit-code it is 2 if
something would change.`,
		Example: `  # before an upgrade, with the new version
  darkroom-operator plan --flags-from darkroom-system/deployment/darkroom-operator-controller-manager
  # in a pull request: fail if anything would change
  darkroom-operator plan -o markdown --exit-code
  # preview another ingress class for the Darkrooms of one team
  darkroom-operator plan -n team-a --ingress-class nginx`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return options.run(cmd.Context(), cmd.Flags(), cmd.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&options.namespace, "namespace", "n", "", "namespace of the Darkrooms; empty means all")
	flags.BoolVarP(&options.all, "all-namespaces", "A", false, "select Darkrooms in all namespaces (default)")
	flags.StringVarP(&options.selector, "selector", "l", "", "label selector of the Darkrooms")
	flags.StringVarP(&options.output, "output", "o", plan.Formats[0], "format: "+strings.Join(plan.Formats, ", "))
	flags.BoolVar(&options.exitCode, "exit-code", false, "return exit code 2 if something would change")
	flags.StringVar(&options.flagsFrom, "flags-from", "",
		"operator whose flags and images are used, as NAMESPACE/deployment/NAME")
	flags.StringVar(&options.installation, "installation", "",
		"name of the operator's installation; Darkrooms of other installations are omitted")
	options.connection.addFlags(flags)
	options.translation.addFlags(flags)
	options.translation.addImages(flags)
	return command
}

func (o *planOptions) run(ctx context.Context, flags *pflag.FlagSet, out io.Writer) error {
	selector, err := labels.Parse(o.selector)
	switch {
	case err != nil:
		return fmt.Errorf("--selector=%s: must be a label selector such as team=shop: %w", o.selector, err)
	case !slices.Contains(plan.Formats, o.output):
		return fmt.Errorf("--output=%s: must be one of %s", o.output, strings.Join(plan.Formats, ", "))
	case o.all && o.namespace != "":
		return errors.New("--all-namespaces and --namespace are mutually exclusive")
	}
	cluster, kubeconfig, _, err := o.connection.connect("darkroom-operator-plan")
	if err != nil {
		return err
	}
	planner, err := o.planner(ctx, cluster, flags)
	if err != nil {
		return err
	}
	served, err := discover(ctx, kubeconfig)
	if err != nil {
		return err
	}
	planner.Capabilities, planner.Kinds = served.Capabilities(), served.Managed()
	made, err := planner.Make(ctx, o.namespace, selector)
	if err != nil {
		return err
	}
	if err := made.Write(out, o.output); err != nil {
		return err
	}
	if o.exitCode && made.Changes() {
		return planChanges
	}
	return nil
}

// planner returns a planner with the settings of an operator.
func (o *planOptions) planner(ctx context.Context, cluster client.Client, flags *pflag.FlagSet) (*plan.Planner, error) {
	deployed := &managerOptions{controllers: controller.Options{Installation: o.installation}, translation: o.translation}
	if o.flagsFrom != "" {
		var err error
		if deployed, err = readManager(ctx, cluster, o.flagsFrom, flags); err != nil {
			return nil, fmt.Errorf("--flags-from=%s: %w", o.flagsFrom, err)
		}
	} else {
		deployed.translation.resolve(os.Getenv)
	}
	shard, err := labels.Parse(deployed.selector)
	if err != nil {
		return nil, fmt.Errorf("--selector=%s of the operator: %w", deployed.selector, err)
	}
	chrt, err := charts.Darkroom()
	if err != nil {
		return nil, err
	}
	if deployed.controllers.Installation == "" {
		if deployed.controllers.Installation, err = onlyInstallation(ctx, cluster); err != nil {
			return nil, err
		}
	}
	return &plan.Planner{
		Client: cluster, Chart: chrt, Values: deployed.translation.options,
		Installation: deployed.controllers.Installation, Namespaces: deployed.controllers.Namespaces, Selector: shard,
		LeaseNamespace: deployed.controllers.LeaseNamespace,
	}, nil
}

// onlyInstallation returns the installation that handles Darkrooms of the cluster.
func onlyInstallation(ctx context.Context, cluster client.Client) (string, error) {
	list := &v1alpha1.DarkroomList{}
	if err := cluster.List(ctx, list); err != nil {
		return "", fmt.Errorf("list Darkrooms: %w", err)
	}
	var found []string
	for i := range list.Items {
		if name := v1alpha1.HandledBy(&list.Items[i]); name != "" && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return controller.DefaultInstallation, nil
	case 1:
		return found[0], nil
	}
	slices.Sort(found)
	return "", fmt.Errorf("several installations handle Darkrooms (%s): choose one with --installation or --flags-from",
		strings.Join(found, ", "))
}
