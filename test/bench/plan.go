package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/plan"
)

// plan measures the plan of a changed default, which affects each Darkroom.
func (r *round) plan(ctx context.Context) error {
	if r.subject.name != operatorName {
		return nil // it does not have this command
	}
	const class = "planned"
	command := exec.CommandContext(ctx, r.operator, "plan", "--output=json", "--ingress-class="+class)
	command.Env, command.Stderr = append(os.Environ(), "KUBECONFIG="+r.kubeconfig), os.Stderr
	start := time.Now()
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	r.figures[planTime] = time.Since(start).Seconds()
	if used, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.figures[planRSS] = float64(used.Maxrss) / 1024
	}
	made := &plan.Plan{}
	if err := json.Unmarshal(out, made); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	named := 0
	for _, darkroom := range made.Darkrooms {
		if slices.ContainsFunc(darkroom.Fields,
			func(f plan.Field) bool { return f.Path == "spec.ingressClassName" && f.To == class }) {
			named++
		}
	}
	if all := r.n + r.trials; named < all {
		return fmt.Errorf("the plan names %d Darkrooms, and %d would change", named, all)
	}
	return nil
}
