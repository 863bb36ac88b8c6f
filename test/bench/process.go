package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
)

// process is a running subject.
type process struct {
	pid     int
	metrics string
	stop    func()
}

// fleet are the processes that share the Darkrooms, one for each shard.
type fleet []*process

// start runs a subject, once for each shard, and waits until all serve metrics.
func (s *settings) start(subject subject) (fleet, error) {
	var started fleet
	for shard := range s.shards {
		process, err := s.startShard(subject, shard)
		if err != nil {
			started.stop()
			return nil, err
		}
		started = append(started, process)
		if !subject.shards {
			break
		}
	}
	return started, nil
}

func (s *settings) startShard(subject subject, shard int) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	command := subject.command(address, s.resyncPeriod(), shard)
	command.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
	command.Stderr = os.Stderr
	if err := child.Start(command); err != nil {
		return nil, err
	}
	p := &process{pid: command.Process.Pid, metrics: "http://" + address + "/metrics"}
	p.stop = func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err = p.usage(); err == nil {
			return p, nil
		}
		if time.Now().After(deadline) {
			p.stop()
			return nil, fmt.Errorf("it does not serve metrics: %w", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (f fleet) stop() {
	for _, process := range f {
		process.stop()
	}
}

// usage is what a process has used since its start.
type usage struct {
	cpu              time.Duration
	requests, writes float64
	// looks are the Darkrooms that a controller has handled, each as often as it has.
	looks float64
	rss   float64 // MiB
}

// usage adds up what all processes have used; of their memory it is the most.
func (f fleet) usage() (usage, error) {
	var all usage
	for _, process := range f {
		one, err := process.usage()
		if err != nil {
			return all, err
		}
		all.cpu += one.cpu
		all.requests += one.requests
		all.writes += one.writes
		all.looks += one.looks
		all.rss = max(all.rss, one.rss)
	}
	return all, nil
}

// clockTick is the unit of times in /proc on Linux.
const clockTick = 10 * time.Millisecond

func (p *process) usage() (usage, error) {
	var u usage
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return u, err
	}
	// Fields after the name, which is in parentheses: state is the first of them.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, field := range fields[11:13] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return u, err
		}
		u.cpu += time.Duration(ticks) * clockTick
	}
	pages, err := strconv.Atoi(fields[21])
	if err != nil {
		return u, err
	}
	u.rss = float64(pages*os.Getpagesize()) / (1 << 20)

	response, err := http.Get(p.metrics)
	if err != nil {
		return u, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(body)) {
		name, labels, _ := strings.Cut(line, "{")
		if name != "rest_client_requests_total" && name != "controller_runtime_reconcile_total" {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]), 64)
		switch {
		case err != nil:
			return u, err
		case name == "rest_client_requests_total":
			u.requests += value
			if !strings.Contains(labels, `method="GET"`) {
				u.writes += value
			}
		case strings.Contains(labels, `controller="darkroom-helm"`), strings.Contains(labels, `controller="`+floorCommand+`"`):
			u.looks += value
		}
	}
	return u, nil
}
