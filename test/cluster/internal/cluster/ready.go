//go:build linux

package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

const pollInterval = 100 * time.Millisecond

// poll retries until it succeeds or the time limit of the start is reached.
func poll(ctx context.Context, what string, try func(context.Context) error) error {
	return wait.Limits{Timeout: startLimit, Period: pollInterval}.Until(ctx, what, try)
}

// kubectl runs a command as the cluster's administrator, and returns its output.
func (c *Cluster) kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.BinDir, "kubectl"), append([]string{
		"--kubeconfig=" + c.kubeconfig(admin), "--cache-dir=" + c.file("data/kubectl"),
	}, args...)...)
	cmd.Env = withoutProxies(cmd.Environ())
	cmd.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// waitForAPIServer also waits for the namespace of the objects that the node needs.
func (c *Cluster) waitForAPIServer(ctx context.Context) error {
	return poll(ctx, "the API server is ready", func(ctx context.Context) error {
		_, err := c.kubectl(ctx, "", "get", "--raw=/readyz")
		if err == nil {
			_, err = c.kubectl(ctx, "", "get", "--raw=/api/v1/namespaces/kube-system")
		}
		return err
	})
}

// waitForNode waits for everything that pods need.
func (c *Cluster) waitForNode(ctx context.Context) error {
	const state = `--output=jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}{.items[*].spec.taints[*].key}`
	waits := map[string]func(context.Context) error{
		// The taints are removed a moment after the condition changes; pods are not scheduled before.
		"the node is ready": func(ctx context.Context) error {
			got, err := c.kubectl(ctx, "", "get", "nodes", state)
			if err == nil && got != "True" {
				err = fmt.Errorf("the state of the node is %q", got)
			}
			return err
		},
		"the default ServiceAccount exists": func(ctx context.Context) error {
			_, err := c.kubectl(ctx, "", "get", "--namespace=default", "serviceaccount", "default")
			return err
		},
	}
	if c.Node == Real {
		waits["the cluster's DNS is ready"] = func(ctx context.Context) error {
			return wait.Responds(ctx, "http://"+c.local("coredns-ready")+"/ready", http.StatusOK)
		}
		waits["the ingress controller is ready"] = func(ctx context.Context) error {
			return wait.Responds(ctx, c.ingressURL(), http.StatusNotFound)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for what, try := range waits {
		group.Go(func() error { return poll(ctx, what, try) })
	}
	return group.Wait()
}
