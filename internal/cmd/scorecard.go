package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/scorecard"
)

// envScorecardNamespace is set by operator-sdk in the pods of tests.
const envScorecardNamespace = "SCORECARD_NAMESPACE"

func newScorecard() *cobra.Command {
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "scorecard",
		Short: "Checks in a cluster that a Darkroom serves an image, for operator-sdk scorecard",
		Long: `Creates a Darkroom in the namespace of ` + envScorecardNamespace + `, waits until it serves an
image of this process, and deletes it. The result is written in the format of
operator-sdk scorecard, which runs the command as a test of the bundle.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runScorecard(cmd.Context(), timeout, cmd.OutOrStdout())
		},
	}
	command.Flags().DurationVar(&timeout, "timeout", 90*time.Second, "maximum time until the image is served")
	return command
}

func runScorecard(ctx context.Context, timeout time.Duration, out io.Writer) error {
	namespace := os.Getenv(envScorecardNamespace)
	if namespace == "" {
		return errors.New(envScorecardNamespace + " is not set: run operator-sdk scorecard")
	}
	kubeconfig, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	kube, err := client.New(kubeconfig, client.Options{Scheme: controller.NewScheme()})
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	listener, err := listenTowards(ctx, kubeconfig.Host)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	status := scorecard.Test{Client: kube, Namespace: namespace, Listener: listener}.Run(ctx)
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(status)
}

// listenTowards listens at the local address of a connection to the host of the cluster: the
// address of this pod.
func listenTowards(ctx context.Context, target string) (net.Listener, error) {
	_, host, found := strings.Cut(target, "://")
	if !found {
		host = target
	}
	// UDP: nothing is sent.
	connection, err := (&net.Dialer{}).DialContext(ctx, "udp", strings.TrimSuffix(host, "/"))
	if err != nil {
		return nil, fmt.Errorf("find the address of this pod: %w", err)
	}
	address := connection.LocalAddr().(*net.UDPAddr).IP.String()
	if err := connection.Close(); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for requests of the Darkroom: %w", err)
	}
	return listener, nil
}
