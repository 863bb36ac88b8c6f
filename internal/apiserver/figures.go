package apiserver

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/imageproxy"
)

const (
	// gateContainer is the container of the gate; metricsPort is the port of its metrics.
	gateContainer, metricsPort = "gate", "metrics"
	// maxGates limits the number of pods that are queried, and gatesAtOnce how many are queried concurrently.
	// maxMetrics limits the bytes that are read from each, and maxRelevant the bytes that are decoded.
	maxGates, gatesAtOnce, maxMetrics, maxRelevant = 50, 4, 1 << 20, 64 << 10
	// gateTimeout limits the time for the response of one gate.
	gateTimeout = 5 * time.Second
)

// Figures are the counters of the gates of a Darkroom. Clients compute rates from two responses; this server keeps no
// history.
type Figures struct {
	At    time.Time     `json:"at" doc:"Time of the requests to the gates"`
	Pods  int           `json:"pods" doc:"Number of pods that have a gate"`
	Gates []GateFigures `json:"gates" doc:"Number of gates that responded"`
}

// GateFigures are the counters of one gate since it was started.
type GateFigures struct {
	Pod       string   `json:"pod"`
	Requests  float64  `json:"requests"`
	Cached    float64  `json:"cached" doc:"Requests for images that were served from the cache"`
	Images    float64  `json:"images" doc:"Requests for images that the cache could have served"`
	Errors    float64  `json:"errors" doc:"Responses with a status of 500 and more"`
	Bytes     float64  `json:"bytes" doc:"Bytes of response bodies"`
	Saved     float64  `json:"saved" doc:"Bytes saved by sending smaller results in place of originals"`
	Durations []Bucket `json:"durations" doc:"Requests by duration, shortest first"`
}

// Bucket is one bucket of a histogram of request durations.
type Bucket struct {
	Seconds float64 `json:"seconds"`
	Count   float64 `json:"count"`
}

// figures reads the metrics of the gates through the pod proxy of the Kubernetes API, with the caller's token.
func (s *Server) figures(ctx context.Context, in *PathInput) (*reply.JSON[Figures], error) {
	pods, leave, err := s.podsOf(ctx, in)
	if err != nil {
		return nil, err
	}
	defer leave()
	out := Figures{At: time.Now().UTC(), Gates: []GateFigures{}}
	var (
		mu      sync.Mutex
		refusal error
		group   errgroup.Group
	)
	group.SetLimit(gatesAtOnce)
	for i := range pods[:min(len(pods), maxGates)] {
		pod := &pods[i]
		port := gatePort(pod)
		if port == 0 {
			continue
		}
		out.Pods++
		group.Go(func() error {
			counted, err := s.askGate(ctx, pod, port)
			mu.Lock()
			defer mu.Unlock()
			var refused *problem.Details
			switch {
			case err == nil:
				out.Gates = append(out.Gates, *counted)
			// Pods that are not ready are omitted. A missing permission applies to all pods.
			case errors.As(err, &refused) && refused.Status == http.StatusForbidden:
				refusal = err
			}
			return nil
		})
	}
	_ = group.Wait()
	if refusal != nil {
		return nil, refusal
	}
	slices.SortFunc(out.Gates, func(a, b GateFigures) int { return strings.Compare(a.Pod, b.Pod) })
	return reply.With(out), nil
}

// gatePort returns the metrics port of the gate in a pod; 0 if the pod has no gate.
func gatePort(pod *corev1.Pod) int32 {
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if container.Name == gateContainer && port.Name == metricsPort {
				return port.ContainerPort
			}
		}
	}
	return 0
}

// askGate reads the metrics of one gate. Tenants control the response, so its size is limited.
func (s *Server) askGate(ctx context.Context, pod *corev1.Pod, port int32) (*GateFigures, error) {
	ctx, cancel := context.WithTimeout(ctx, gateTimeout)
	defer cancel()
	target := s.auth.Clients.Core.Get().Namespace(pod.Namespace).Resource("pods").
		Name(fmt.Sprintf("%s:%d", pod.Name, port)).
		SubResource("proxy").Suffix("metrics").URL()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("create request for metrics: %w", err)
	}
	answer, err := s.auth.Clients.HTTP.Do(request)
	if err != nil {
		return nil, wire.FromKubernetes(err, wire.AsIs)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, imageproxy.MaxRefusal)) // an incomplete body is sufficient
		if refusal := imageproxy.Refusal(answer.StatusCode, body); refusal != nil {
			return nil, wire.FromKubernetes(refusal, wire.AsIs)
		}
		return nil, fmt.Errorf("read metrics of the gate: status %d", answer.StatusCode)
	}
	return countGate(pod.Name, io.LimitReader(answer.Body, maxMetrics))
}

const (
	familyRequests, familyDurations = "darkroom_gate_requests_total", "darkroom_gate_request_duration_seconds"
	familyBytes, familySaved        = "darkroom_gate_response_bytes_total", "darkroom_gate_saved_bytes_total"
)

// relevant returns the lines that Figures need. Decoding takes a hundred times the memory of a line.
func relevant(metrics io.Reader) (io.Reader, error) {
	var kept bytes.Buffer
	lines, hasTypes := bufio.NewScanner(metrics), false
	for lines.Scan() {
		line := lines.Bytes()
		metric, isType := bytes.CutPrefix(line, []byte("# TYPE "))
		hasTypes = hasTypes || isType
		if !slices.ContainsFunc([]string{familyRequests, familyDurations, familyBytes, familySaved},
			func(family string) bool {
				return bytes.HasPrefix(metric, []byte(family))
			}) {
			continue
		}
		if kept.Len()+len(line) > maxRelevant {
			return nil, errors.New("the gate has too many metrics")
		}
		kept.Write(line)
		kept.WriteByte('\n')
	}
	if err := lines.Err(); err != nil || !hasTypes {
		return nil, cmp.Or(err, errors.New("it has no metrics"))
	}
	return &kept, nil
}

// the gate has no metrics
func countGate(pod string, metrics io.Reader) (*GateFigures, error) {
	metrics, err := relevant(metrics)
	if err != nil {
		return nil, fmt.Errorf("read metrics of the gate: %w", err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(metrics)
	if err != nil {
		return nil, fmt.Errorf("read metrics of the gate: %w", err)
	}
	out := &GateFigures{Pod: pod, Durations: []Bucket{}}
	for _, metric := range families[familyRequests].GetMetric() {
		count := metric.GetCounter().GetValue()
		out.Requests += count
		switch labelOf(metric, "cache") {
		case "hit", "revalidated", "stale":
			out.Cached += count
			out.Images += count
		case "miss":
			out.Images += count
		}
		if labelOf(metric, "code") >= "500" {
			out.Errors += count
		}
	}
	for _, metric := range families[familyBytes].GetMetric() {
		out.Bytes += metric.GetCounter().GetValue()
	}
	for _, metric := range families[familySaved].GetMetric() {
		out.Saved += metric.GetCounter().GetValue()
	}
	for _, metric := range families[familyDurations].GetMetric() {
		for i, bucket := range metric.GetHistogram().GetBucket() {
			// The last bucket counts all requests; JSON has no number for its bound, +Inf.
			if i == len(metric.GetHistogram().GetBucket())-1 {
				break
			}
			if i == len(out.Durations) {
				out.Durations = append(out.Durations, Bucket{Seconds: bucket.GetUpperBound()})
			}
			out.Durations[i].Count += float64(bucket.GetCumulativeCount())
		}
	}
	// JSON cannot represent NaN and infinities, which a pod may send.
	if _, err := json.Marshal(out); err != nil {
		return nil, fmt.Errorf("read metrics of the gate: %w", err)
	}
	return out, nil
}

func labelOf(metric *dto.Metric, name string) string {
	for _, label := range metric.GetLabel() {
		if label.GetName() == name {
			return label.GetValue()
		}
	}
	return ""
}
