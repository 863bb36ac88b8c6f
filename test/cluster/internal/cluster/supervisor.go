package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// startLimit is how long a cluster may take to become ready. Warm it takes
// seconds; a busy machine that has never run the programs takes longer.
const startLimit = 4 * time.Minute

// stopGrace is how long a program may take to end when asked.
const stopGrace = time.Second

// Supervise runs the cluster in dir until ctx ends. It reports to pipe.
func Supervise(ctx context.Context, dir string, pipe io.Writer) (err error) {
	s := &supervisor{reporter: reporter{pipe: pipe, log: os.Stderr, started: time.Now()}}
	defer func() {
		if err != nil {
			s.report(failedEvent, "%s", err)
		}
	}()
	o, err := loadOptions(Layout{dir}.options())
	if err != nil {
		return err
	}
	lock, err := acquire(Layout{dir}.lock())
	if errors.Is(err, errLocked) {
		return fmt.Errorf("a cluster runs in %s already", dir)
	}
	if err != nil {
		return err
	}
	defer lock.release()
	if o.Node == Real {
		unlock, err := lockMachine(dir)
		if err != nil {
			return err
		}
		defer unlock()
	}
	return s.run(ctx, o)
}

type supervisor struct {
	reporter
	plan  *plan
	group *group
}

// run starts the cluster, keeps it until ctx ends, and stops it.
func (s *supervisor) run(ctx context.Context, o Options) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.group = &group{failed: cancel, restarted: s.afterRestart}
	s.plan, err = newPlan(o)
	if err != nil {
		return err
	}
	defer func() {
		s.report(stepEvent, "stopping")
		s.group.stop(stopGrace)
		if o.Node == Real {
			err = errors.Join(err, stopRealNode())
		}
		s.report(stepEvent, "stopped")
	}()

	if o.Node == Real {
		s.step("preparing this machine")
		if err := s.plan.prepareRealNode(ctx); err != nil {
			return err
		}
	}
	if err := s.start(ctx); err != nil {
		// If a program has ended, the later error is only a consequence.
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	s.group.markStarted()
	if err := s.describe(); err != nil {
		return err
	}
	s.report(readyEvent, "after %s", time.Since(s.started).Round(time.Millisecond))

	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// start starts everything and returns when it can be used.
func (s *supervisor) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit,
		fmt.Errorf("not ready after %s; the logs are in %s", startLimit, s.plan.layout.Logs()))
	defer cancel()
	p := s.plan
	client, err := p.newAPI()
	if err != nil {
		return err
	}
	s.step("starting etcd and kube-apiserver")
	if err := s.group.start(p.etcd(), p.apiServer()); err != nil {
		return err
	}
	if p.options.Node == Real {
		// containerd needs no API server; its start is free while that starts.
		spec, err := p.containerd()
		if err != nil {
			return err
		}
		if err := s.group.start(spec); err != nil {
			return err
		}
	}
	if err := p.waitForAPIServer(ctx, client); err != nil {
		return err
	}
	s.step("the API server is ready; starting controllers and the node")
	if err := s.group.start(p.controllerManager(), p.scheduler()); err != nil {
		return err
	}
	if err := p.bootstrap(ctx, client); err != nil {
		return err
	}
	if err := s.startNode(ctx); err != nil {
		return err
	}
	if err := p.waitForAll(ctx, client); err != nil {
		return err
	}
	s.step("the node and the default ServiceAccount are ready")
	return nil
}

func (s *supervisor) startNode(ctx context.Context) error {
	if s.plan.options.Node == Simulated {
		return s.group.start(s.plan.kwok())
	}
	specs, err := s.plan.realNodeSpecs(ctx)
	if err != nil {
		return err
	}
	return s.group.start(append(specs, s.plan.ingress())...)
}

// describe writes cluster.json.
func (s *supervisor) describe() error {
	p := s.plan
	state := State{
		Node:       p.options.Node,
		Kubeconfig: p.layout.Kubeconfig(), BinDir: p.options.BinDir,
		Supervisor: readPID(p.layout.supervisorPID()),
		Components: s.group.list(),
		ReadyAfter: time.Since(s.started).Round(time.Millisecond).String(),
	}
	if p.options.Node == Real {
		state.NodeIP, state.Ingress = p.nodeIP(), p.ingressURL()
		for i := range state.Components {
			state.Components[i].PID = hostPID(state.Components[i].PID)
		}
	}
	return state.save(p.layout.State())
}

func (s *supervisor) afterRestart(name string, why error) {
	s.report(stepEvent, "%s was started again; %s", name, why)
	if err := s.describe(); err != nil {
		s.report(stepEvent, "%s", err)
	}
}

// readPID reads a process id from a file; 0 if there is none.
func readPID(path string) int {
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	return pid
}
