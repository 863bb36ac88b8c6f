package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
)

// process is a running subject.
type process struct {
	pid        int
	metrics    string
	controller string
	stop       func()
}

// startAtRest is start without resyncs, which would be measured too.
func (s *settings) startAtRest(subject subject) (*process, error) {
	return s.start(subject, time.Hour)
}

// start runs a subject, and waits until it serves metrics.
func (s *settings) start(subject subject, period time.Duration) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	command := subject.command(address, period)
	command.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
	command.Stderr = os.Stderr
	if err := child.Start(command); err != nil {
		return nil, err
	}
	p := &process{pid: command.Process.Pid, metrics: "http://" + address + "/metrics", controller: subject.controller}
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

// usage is the resource usage of a process since its start.
type usage struct {
	cpu              time.Duration
	requests, writes float64
	// looks is the number of Darkrooms reconciled by the subject's controller, counting
	// repetitions; reconciles are those of all its controllers.
	looks, reconciles float64
	// rss is the resident memory and peak the most that it was, both in MiB.
	rss, peak float64
}

// clockTick is the unit of times in /proc on Linux.
const clockTick = 10 * time.Millisecond

func (p *process) usage() (usage, error) {
	var u usage
	fields, err := statOf(p.pid)
	if err != nil {
		return u, err
	}
	if u.cpu, err = cpuOf(fields); err != nil {
		return u, err
	}
	pages, err := strconv.Atoi(fields[21])
	if err != nil {
		return u, err
	}
	u.rss = float64(pages*os.Getpagesize()) / (1 << 20)
	if u.peak, err = peakOf(p.pid); err != nil {
		return u, err
	}

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
		default:
			u.reconciles += value
			if strings.Contains(labels, `controller="`+p.controller+`"`) {
				u.looks += value
			}
		}
	}
	return u, nil
}

// peakOf returns the most memory that a process has had resident, in MiB.
func peakOf(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	peak, err := strconv.ParseFloat(kilobytes, 64)
	if err != nil {
		return 0, fmt.Errorf("VmHWM of process %d: %w", pid, err)
	}
	return peak / 1024, nil
}

// statOf returns the fields of a process in /proc, from its state on. The name before it is
// in parentheses and may contain spaces.
func statOf(pid int) ([]string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])), nil
}

// cpuOf returns the CPU time of a process, by its fields.
func cpuOf(fields []string) (time.Duration, error) {
	var total time.Duration
	for _, field := range fields[11:13] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		total += time.Duration(ticks) * clockTick
	}
	return total, nil
}

// serversCPU returns the CPU time that the API server and etcd have used: of all processes
// that this one started.
func serversCPU() (time.Duration, error) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	var total time.Duration
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return 0, err
		}
		name, err := os.ReadFile(filepath.Join(folder, "comm"))
		if err != nil || !slices.Contains([]string{"kube-apiserver", "etcd"}, strings.TrimSpace(string(name))) {
			continue // another one, or ended meanwhile
		}
		fields, err := statOf(pid)
		if err != nil || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		used, err := cpuOf(fields)
		if err != nil {
			return 0, err
		}
		total += used
	}
	return total, nil
}
