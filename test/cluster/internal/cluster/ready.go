package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// pollInterval is short, because users wait for a cluster to start.
const pollInterval = 50 * time.Millisecond

// poll calls try until it returns nil. If ctx ends first, the error contains
// what, the cause, and the last error of try.
func poll(ctx context.Context, what string, try func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last: %w)", what, context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

func (p *plan) waitForAPIServer(ctx context.Context, a *api) error {
	return poll(ctx, "the API server", func(ctx context.Context) error {
		return a.do(ctx, http.MethodGet, "/readyz", nil, nil)
	})
}

func (p *plan) waitForNode(ctx context.Context, a *api) error {
	return poll(ctx, "the node to be ready", func(ctx context.Context) error {
		var list struct {
			Items []struct {
				Spec struct {
					Taints []struct{ Key string }
				}
				Status struct {
					Conditions []struct{ Type, Status, Message string }
				}
			}
		}
		if err := a.do(ctx, http.MethodGet, "/api/v1/nodes", nil, &list); err != nil {
			return err
		}
		message := "no node has registered"
		for _, node := range list.Items {
			for _, condition := range node.Status.Conditions {
				if condition.Type != "Ready" {
					continue
				}
				// The taint goes a moment after the condition; pods are not
				// scheduled before.
				if condition.Status == "True" && len(node.Spec.Taints) == 0 {
					return nil
				}
				message = condition.Message
			}
		}
		return errors.New(message)
	})
}

func (p *plan) waitForSystemNamespace(ctx context.Context, a *api) error {
	return poll(ctx, "the namespace "+systemNamespace, func(ctx context.Context) error {
		return a.do(ctx, http.MethodGet, "/api/v1/namespaces/"+systemNamespace, nil, nil)
	})
}

func (p *plan) waitForServiceAccount(ctx context.Context, a *api) error {
	return poll(ctx, "the default ServiceAccount", func(ctx context.Context) error {
		return a.do(ctx, http.MethodGet, "/api/v1/namespaces/default/serviceaccounts/default", nil, nil)
	})
}

// waitForIngress waits until the ingress controller answers anything.
func (p *plan) waitForIngress(ctx context.Context) error {
	return poll(ctx, "the ingress controller", func(ctx context.Context) error {
		_, err := answerOf(ctx, p.ingressURL())
		return err
	})
}

// answerOf returns the status that a URL answers with.
func answerOf(ctx context.Context, url string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// waitForAll waits for everything a test relies on, at once.
func (p *plan) waitForAll(ctx context.Context, a *api) error {
	waits := []func() error{
		func() error { return p.waitForNode(ctx, a) },
		func() error { return p.waitForServiceAccount(ctx, a) },
	}
	if p.options.Node == Real {
		waits = append(waits,
			func() error { return p.waitForDNS(ctx) },
			func() error { return p.waitForIngress(ctx) })
	}
	results := make(chan error, len(waits))
	for _, wait := range waits {
		go func() { results <- wait() }()
	}
	var errs []error
	for range waits {
		errs = append(errs, <-results)
	}
	return errors.Join(errs...)
}
