package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/procfs"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// process is a running subject.
type process struct {
	pid        int
	metrics    string
	controller string
	stop       func()
}

// atRest is a resync period that prevents resyncs during other measurements.
const atRest = time.Hour

// start runs a subject as the process of the round, and waits until it serves metrics.
func (r *round) start(ctx context.Context, subject subject, period time.Duration) error {
	address, err := program.FreeAddress()
	if err != nil {
		return err
	}
	command := subject.command(address, period)
	command.Env = append(os.Environ(), "KUBECONFIG="+r.kubeconfig)
	command.Stderr = os.Stderr
	if err := child.Start(command); err != nil {
		return err
	}
	r.process = &process{
		pid: command.Process.Pid, metrics: "http://" + address + "/metrics",
		controller: subject.controller, stop: func() {
			_ = command.Process.Signal(syscall.SIGTERM)
			_ = command.Wait()
		},
	}
	return wait.Limits{Timeout: time.Minute, Period: 100 * time.Millisecond}.Until(ctx, "it serves metrics",
		func(context.Context) error {
			_, err := r.process.usage()
			return err
		})
}

// usage is the resource usage of a process since its start.
type usage struct {
	cpu              time.Duration
	requests, writes float64
	// looks is the number of reconciles of Darkrooms by the subject's controller, including retries. reconciles is the
	// number of reconciles by all its controllers.
	looks, reconciles float64
	// rss is the resident memory and peak its maximum, both in MiB.
	rss, peak float64
}

func (p *process) usage() (u usage, err error) {
	proc, err := procfs.NewProc(p.pid)
	if err != nil {
		return u, err
	}
	stat, err := proc.Stat()
	if err != nil {
		return u, err
	}
	status, err := proc.NewStatus()
	if err != nil {
		return u, err
	}
	u.cpu = seconds(stat.CPUTime())
	u.rss, u.peak = float64(stat.ResidentMemory())/(1<<20), float64(status.VmHWM)/(1<<20)

	response, err := http.Get(p.metrics)
	if err != nil {
		return u, err
	}
	defer func() { _ = response.Body.Close() }()
	families, err := parseMetrics(response.Body)
	if err != nil {
		return u, err
	}
	u.requests = sum(families["rest_client_requests_total"], nil)
	u.writes = u.requests - sum(families["rest_client_requests_total"], labels{"method": http.MethodGet})
	u.reconciles = sum(families["controller_runtime_reconcile_total"], nil)
	u.looks = sum(families["controller_runtime_reconcile_total"], labels{"controller": p.controller})
	return u, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// serversCPU returns the CPU time of the API server and etcd, which are child processes.
func serversCPU() (time.Duration, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return 0, err
	}
	var total float64
	for _, each := range all {
		stat, err := each.Stat()
		if err == nil && stat.PPID == os.Getpid() && slices.Contains([]string{"kube-apiserver", "etcd"}, stat.Comm) {
			total += stat.CPUTime()
		}
	}
	return seconds(total), nil
}

// statusWrites returns the number of writes to the status of Darkrooms, from the API server's metrics.
func (r *round) statusWrites(ctx context.Context) (float64, error) {
	metrics, err := r.clients.RESTClient().Get().AbsPath("/metrics").Stream(ctx)
	if err != nil {
		return 0, fmt.Errorf("metrics of the API server: %w", err)
	}
	defer func() { _ = metrics.Close() }()
	families, err := parseMetrics(metrics)
	return sum(families["apiserver_request_total"], labels{"resource": "darkrooms", "subresource": "status"}), err
}

func parseMetrics(text io.Reader) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	return parser.TextToMetricFamilies(text)
}

type labels map[string]string

// sum adds up the counters of a family that have some labels.
func sum(family *dto.MetricFamily, with labels) (total float64) {
	for _, metric := range family.GetMetric() {
		matching := 0
		for _, label := range metric.GetLabel() {
			if value, named := with[label.GetName()]; named && value == label.GetValue() {
				matching++
			}
		}
		if matching == len(with) {
			total += metric.GetCounter().GetValue()
		}
	}
	return total
}
