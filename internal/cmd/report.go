package cmd

import (
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
)

func newReport() *cobra.Command {
	s := &subject{}
	var file string
	command := &cobra.Command{
		Use:   "report NAME",
		Short: "Writes the data for a bug report, without credentials",
		Long: `Writes a Darkroom with its objects, pods and events as YAML. Credentials, the values of variables and the data
of Secrets are omitted, but names of hosts, buckets and images are not. Review the report before you publish it.`,
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
	command.Flags().StringVarP(&file, "output", "o", "", "output file; empty means standard output")
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
