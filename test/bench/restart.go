package main

import (
	"context"
	"fmt"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// restart measures how long a restarted subject is busy with Darkrooms that are all up to date.
func (r *round) restart(ctx context.Context) error {
	// Listing many Darkrooms takes a while before the first one is reconciled.
	used, took, err := r.replace(ctx, r.subject, time.Minute+time.Duration(r.n)*10*time.Millisecond)
	if err != nil {
		return err
	}
	all := float64(r.n + r.trials)
	r.figures[restart] = took.Seconds()
	r.figures[restartRequests] = used.requests / all
	r.figures[restartWrites] = used.writes / all
	r.figures[restartCPU] = used.cpu.Seconds() * 1000 / all
	return nil
}

// defaults measures a restart after which every Darkroom is upgraded, because a default of the operator has changed.
func (r *round) defaults(ctx context.Context) error {
	if r.subject.name != operatorName {
		return nil // it does not have this default
	}
	const class = "changed"
	used, took, err := r.replace(ctx, r.operatorSubject("--ingress-class="+class),
		time.Minute+time.Duration(r.n)*time.Second)
	if err != nil {
		return err
	}
	all := float64(r.n + r.trials)
	r.figures[defaultsTime] = took.Seconds()
	r.figures[defaultsRequests] = used.requests / all
	r.figures[defaultsCPU] = used.cpu.Seconds() * 1000 / all
	r.figures[defaultsRSS] = used.peak
	ingresses := &networkingv1.IngressList{}
	if err := r.kube.List(ctx, ingresses, client.InNamespace(namespace)); err != nil {
		return err
	}
	for i := range ingresses.Items {
		if got := ingresses.Items[i].Spec.IngressClassName; got == nil || *got != class {
			return fmt.Errorf("Ingress %s was not upgraded", ingresses.Items[i].Name)
		}
	}
	return nil
}

// replace stops the running subject, starts another one, and waits with a timeout until it has reconciled every
// Darkroom and is idle. It returns the resource usage and the duration.
func (r *round) replace(
	ctx context.Context, subject subject, limit time.Duration,
) (used usage, took time.Duration, err error) {
	start := time.Now()
	r.process.stop()
	if err := r.start(ctx, subject, atRest); err != nil {
		return used, 0, err
	}
	end := time.Now()
	all, deadline := float64(r.n+r.trials), end.Add(limit)
	// With many Darkrooms, the subject's metrics take longer to read, and its pauses are longer.
	interval := max(100*time.Millisecond, time.Duration(r.n)*50*time.Microsecond)
	for used.looks < all && time.Now().Before(deadline) || time.Since(end) < max(3*time.Second, 20*interval) {
		now, err := r.process.usage()
		if err != nil {
			return used, 0, err
		}
		if now.requests != used.requests || now.looks != used.looks {
			used, end = now, time.Now()
		}
		if err := sleep(ctx, interval); err != nil {
			return used, 0, err
		}
	}
	if used.looks < all {
		err = fmt.Errorf("only %.0f of %.0f Darkrooms were reconciled after a restart", used.looks, all)
	}
	return used, end.Sub(start), err
}
