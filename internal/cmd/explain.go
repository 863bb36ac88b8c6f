package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/explain"
)

func newExplain() *cobra.Command {
	s := &subject{}
	var status int
	command := &cobra.Command{
		Use:   "explain URL",
		Short: "Explains how the URL of an image is served, and which hop fails if it is not",
		Long: `Prints the Darkroom that serves the host of a URL, each hop from there to the source with status, time and bytes, the
hop that fails, and what to do. The image is requested from the Service of the Darkroom through the Kubernetes API, not from
the host of the URL. To also check what is in front of the Service, set --status to the HTTP status that the client received.

If you may list Darkrooms in all namespaces, all are considered, otherwise those in one namespace. Signatures and unknown
parameters of the URL are neither sent nor printed. The exit code is 0 if no hop failed, 2 if one did, and 1 after an error.`,
		Example: `  kubectl darkroom explain 'https://photos.example.com/cat.jpg?w=300'
  kubectl darkroom explain 'https://photos.example.com/cat.jpg' --status 404`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			explanation, err := s.explain(cmd.Context(), args[0], status)
			if err != nil {
				return err
			}
			if err := explanation.Screen(cmd.OutOrStdout()); err != nil {
				return err
			}
			if explanation.Blame != "" {
				return notReady
			}
			return nil
		},
	}
	s.addFlags(command.Flags())
	command.Flags().IntVar(&status, "status", 0, "HTTP status that the client received; 0 means unknown")
	return command
}

func (s *subject) explain(ctx context.Context, text string, status int) (*explain.Explanation, error) {
	parsed, err := explain.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the URL %w", err)
	}
	if status != 0 && (status < 100 || status > 599) {
		return nil, errors.New("--status must be an HTTP status from 100 to 599")
	}
	cluster, kubeconfig, namespace, err := s.connect()
	if err != nil {
		return nil, err
	}
	list := &v1alpha1.DarkroomList{}
	if err = cluster.List(ctx, list); apierrors.IsForbidden(err) {
		err = cluster.List(ctx, list, client.InNamespace(namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("list Darkrooms: %w", err)
	}
	httpClient, err := rest.HTTPClientFor(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("create HTTP client: %w", err)
	}
	httpClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	clientset, err := kubernetes.NewForConfigAndClient(kubeconfig, httpClient)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	all := make([]*v1alpha1.Darkroom, len(list.Items))
	domains := map[string]bool{}
	for i := range list.Items {
		all[i] = &list.Items[i]
		if domain := all[i].Status.BaseDomain; domain != "" {
			domains[domain] = true
		}
	}
	evidence := &explain.Evidence{
		URL: parsed, Seen: status, BaseDomains: slices.Sorted(maps.Keys(domains)),
		Claimants: explain.Claimants(all, parsed.Host, explain.HostsOf),
	}
	explain.Cluster{API: clientset.CoreV1().RESTClient(), HTTP: httpClient}.Collect(ctx, evidence)
	return explain.Decide(evidence), nil
}
