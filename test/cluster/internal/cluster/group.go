package cluster

import (
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

// group is the set of programs a supervisor runs. While the cluster starts, a
// program that ends is a failure; afterwards it is started again.
type group struct {
	// failed is called with why a program ended during the start.
	failed func(error)
	// restarted is called after a program was started again.
	restarted func(name string, why error)

	mu        sync.Mutex
	processes []*process.Process
	steady    bool // the start is over
	stopping  bool
	watchers  sync.WaitGroup
}

// restartPause keeps a program that cannot run from taking a whole core.
const restartPause = time.Second

func (g *group) start(specs ...process.Spec) error {
	for _, spec := range specs {
		p, err := process.Start(spec)
		if err != nil {
			return err
		}
		g.mu.Lock()
		g.processes = append(g.processes, p)
		g.mu.Unlock()
		g.watchers.Go(func() { g.watch(p) })
	}
	return nil
}

// watch follows one program through its restarts.
func (g *group) watch(p *process.Process) {
	for {
		<-p.Done()
		g.mu.Lock()
		stopping, steady := g.stopping, g.steady
		g.mu.Unlock()
		if stopping {
			return
		}
		why := p.Ended()
		if !steady {
			g.failed(why)
			return
		}
		time.Sleep(restartPause)
		next, err := g.replace(p)
		if err != nil {
			g.failed(err)
			return
		}
		if next == nil {
			return
		}
		g.restarted(p.Name, why)
		p = next
	}
}

// replace starts the program of p again, unless the group is stopping.
func (g *group) replace(p *process.Process) (*process.Process, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopping {
		return nil, nil
	}
	next, err := process.Start(p.Spec)
	if err != nil {
		return nil, err
	}
	for i := range g.processes {
		if g.processes[i] == p {
			g.processes[i] = next
		}
	}
	return next, nil
}

// markStarted marks the end of the start. From now on programs that exit are restarted.
func (g *group) markStarted() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.steady = true
}

// list describes the programs.
func (g *group) list() []Component {
	g.mu.Lock()
	defer g.mu.Unlock()
	var components []Component
	for _, p := range g.processes {
		components = append(components, Component{Name: p.Name, PID: p.PID(), Log: p.LogPath()})
	}
	return components
}

// stop ends all programs at once. Stopping them in order would only take time,
// because their data is discarded.
func (g *group) stop(grace time.Duration) {
	g.mu.Lock()
	g.stopping = true
	processes := g.processes
	g.mu.Unlock()
	var wait sync.WaitGroup
	for _, p := range processes {
		// An error means that it is gone already.
		wait.Go(func() { _ = p.Stop(grace) })
	}
	wait.Wait()
	g.watchers.Wait()
}
