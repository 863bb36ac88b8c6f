package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/client-go/kubernetes"
)

// statusWrite is a write of a Darkroom's status in the API server's metrics.
var statusWrite = regexp.MustCompile(`^apiserver_request_total\{.*resource="darkrooms".*subresource="status".*verb="[A-Z]+".*\} (\S+)$`)

// statusWrites counts the writes of the status of Darkrooms.
func (r *round) statusWrites(ctx context.Context) (total float64, err error) {
	clients, err := kubernetes.NewForConfig(r.cluster)
	if err != nil {
		return 0, err
	}
	raw, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("metrics of the API server: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		found := statusWrite.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			continue
		}
		count, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			return 0, fmt.Errorf("metrics of the API server: %w", err)
		}
		total += count
	}
	return total, nil
}
