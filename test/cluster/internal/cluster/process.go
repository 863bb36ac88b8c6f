//go:build linux

package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
	testprogram "github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// program describes how a program is run. Its log is in the file NAME.log.
type program struct {
	name, path string
	args, env  []string
}

// process is a started program.
type process struct {
	program
	log  string
	cmd  *exec.Cmd
	done chan struct{}
}

// run starts the program. It ends with this process, even if this process is killed.
func (p program) run(logs string) (*process, error) {
	started := &process{program: p, log: filepath.Join(logs, p.name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(started.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", p.name, err)
	}
	defer log.Close()
	started.cmd = exec.Command(p.path, p.args...)
	started.cmd.Env = append(withoutProxies(os.Environ()), p.env...)
	started.cmd.Stdout, started.cmd.Stderr = log, log
	started.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // not affected by a terminal's Ctrl-C
	if err := child.Start(started.cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	go func() {
		_ = started.cmd.Wait() // the state of the process contains the result
		close(started.done)
	}()
	return started, nil
}

// stop sends a signal to end the program and kills it after the grace period.
func (p *process) stop(grace time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	select {
	case <-p.done:
	case <-time.After(grace):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// ended describes a program that ended unexpectedly, with the tail of its log.
func (p *process) ended() error {
	return fmt.Errorf("%s ended unexpectedly: %s\nlast lines of %s:\n%s", p.name, p.cmd.ProcessState, p.log,
		testprogram.Tail(p.log, 20))
}

// withoutProxies removes the settings of HTTP proxies: a cluster's programs connect only to each other, and no proxy
// could reach a pod.
func withoutProxies(env []string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}, strings.ToUpper(name))
	})
}

// group runs the programs of a cluster. During the start, a program that ends is an error; afterwards it is restarted.
type group struct {
	logs string
	// failed is called with the reason why the cluster cannot continue, and restarted after a restart.
	failed    func(error)
	restarted func(name string, why error)

	mu        sync.Mutex
	processes []*process
	steady    bool // the start is over
	stopping  bool
	watchers  sync.WaitGroup
}

// restartPause prevents a program that cannot start from using a whole processor.
const restartPause = time.Second

func (g *group) start(programs ...program) error {
	for _, each := range programs {
		p, err := g.run(each)
		if err != nil {
			return err
		}
		g.watchers.Go(func() { g.watch(p) })
	}
	return nil
}

// run starts a program in place of its earlier process. It returns nil if the group stops.
func (g *group) run(each program) (*process, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopping {
		return nil, nil
	}
	p, err := each.run(g.logs)
	if err == nil {
		g.processes = append(slices.DeleteFunc(g.processes, func(old *process) bool { return old.name == each.name }), p)
	}
	return p, err
}

func (g *group) watch(p *process) {
	for p != nil {
		<-p.done
		g.mu.Lock()
		stopping, steady := g.stopping, g.steady
		g.mu.Unlock()
		if stopping {
			return
		}
		why := p.ended()
		if !steady {
			g.failed(why)
			return
		}
		time.Sleep(restartPause)
		next, err := g.run(p.program)
		if err != nil {
			g.failed(err)
		}
		if next != nil {
			g.restarted(p.name, why)
		}
		p = next
	}
}

// markStarted ends the phase in which a program that ends is an error.
func (g *group) markStarted() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.steady = true
}

func (g *group) list() []Component {
	g.mu.Lock()
	defer g.mu.Unlock()
	var components []Component
	for _, p := range g.processes {
		components = append(components, Component{Name: p.name, PID: p.cmd.Process.Pid})
	}
	return components
}

func (g *group) stop(grace time.Duration) {
	g.mu.Lock()
	g.stopping = true
	processes := g.processes
	g.mu.Unlock()
	var wait sync.WaitGroup
	for _, p := range processes {
		wait.Go(func() { p.stop(grace) })
	}
	wait.Wait()
	g.watchers.Wait()
}
