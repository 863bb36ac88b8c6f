//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

const (
	// startLimit is the time limit for a start.
	startLimit = 4 * time.Minute
	// stopGrace is the grace period for a program to end.
	stopGrace = time.Second
)

// supervisor owns the programs of a cluster.
type supervisor struct {
	*Cluster
	group   *group
	events  *os.File
	started time.Time
}

// Supervise runs a cluster until ctx ends, or until a program ends during the start. Start has started this process.
func Supervise(ctx context.Context, c *Cluster) (err error) {
	for fd := eventsFD; fd <= lockFD; fd++ {
		syscall.CloseOnExec(fd)
	}
	s := &supervisor{Cluster: c, events: os.NewFile(eventsFD, "events"), started: time.Now()}
	defer func() {
		if err != nil {
			s.report(failed + err.Error())
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.group = &group{logs: c.file("logs"), failed: cancel, restarted: s.afterRestart}
	if err := c.prepare(); err != nil {
		return err
	}
	defer func() {
		s.step("stopping")
		s.group.stop(stopGrace)
		if c.Node == Real {
			err = errors.Join(err, killAll(), undoChanges())
		}
	}()
	if err := s.start(ctx); err != nil {
		// If a program has ended, later errors are only consequences.
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	s.group.markStarted()
	if err := s.describe(); err != nil {
		return err
	}
	s.report(ready)

	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// start starts the programs in the order of their dependencies.
func (s *supervisor) start(running context.Context) error {
	ctx, cancel := context.WithTimeoutCause(running, startLimit,
		fmt.Errorf("not ready after %s; the logs are in %s", startLimit, s.file("logs")))
	defer cancel()
	if s.Node == Real {
		s.step("preparing this machine")
		// Pods reach the API server through this forwarder, which must outlive the start.
		if err := s.prepareMachine(running); err != nil {
			return err
		}
		// containerd needs no API server, so it starts at the same time.
		containerd, err := s.containerd()
		if err != nil {
			return err
		}
		if err := s.group.start(containerd); err != nil {
			return err
		}
	}
	s.step("starting etcd and kube-apiserver")
	if err := s.group.start(s.etcd(), s.apiServer()); err != nil {
		return err
	}
	if err := s.waitForAPIServer(ctx); err != nil {
		return err
	}
	s.step("the API server is ready; starting controllers and the node")
	if err := s.group.start(s.controllerManager(), s.scheduler()); err != nil {
		return err
	}
	nodePrograms, err := s.node(ctx)
	if err != nil {
		return err
	}
	if err := s.group.start(nodePrograms...); err != nil {
		return err
	}
	return s.waitForNode(ctx)
}

// report writes a line to the log and to Start. Start may have returned already, but the log contains the line.
func (s *supervisor) report(line string) {
	fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format("15:04:05.000"), line)
	fmt.Fprintln(s.events, line)
}

// step reports progress, with the seconds since the start.
func (s *supervisor) step(what string) {
	s.report(fmt.Sprintf("%5.1fs  %s", time.Since(s.started).Seconds(), what))
}

// describe writes cluster.json.
func (s *supervisor) describe() error {
	state := State{
		Node: s.Node, Kubeconfig: s.kubeconfig(admin),
		Components: s.group.list(), ReadyAfter: time.Since(s.started).Round(time.Millisecond).String(),
	}
	if s.Node == Real {
		state.NodeIP, state.Ingress = nodeIP, s.ingressURL()
	}
	return state.save(s.file("cluster.json"))
}

func (s *supervisor) afterRestart(name string, why error) {
	s.step(fmt.Sprintf("restarted %s; %s", name, why))
	if err := s.describe(); err != nil {
		s.step(err.Error())
	}
}
