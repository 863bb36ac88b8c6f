package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/kubernetes"
)

// profilerAddress is where the operator serves its profiles.
const profilerAddress = "127.0.0.1:16060"

// profiled reports whether profiles are requested and the subject serves them.
func (r *round) profiled() bool {
	return r.profiles != "" && r.subject.name == operatorName
}

// profile writes one of the operator's profiles to a file, if profiles are requested.
// The returned channel receives the result.
func (r *round) profile(file, path string) <-chan error {
	done := make(chan error, 1)
	if !r.profiled() {
		done <- nil
		return done
	}
	go func() {
		done <- download(filepath.Join(r.profiles, file), "http://"+profilerAddress+"/debug/pprof/"+path)
	}()
	return done
}

func download(file, url string) error {
	response, err := http.Get(url)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, response.Body); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	log.Printf("wrote %s", file)
	return out.Close()
}

// requestKind is the verb and the resource of a request in the API server's metrics.
var requestKind = regexp.MustCompile(`^apiserver_request_total\{.*code="(\d+)".*resource="(\w+)".*subresource="(\w*)".*verb="([A-Z]+)".*\} (\S+)$`)

// requestKinds counts what the API server was asked, the bench's own requests among
// them.
func (r *round) requestKinds(ctx context.Context) (map[string]float64, error) {
	clients, err := kubernetes.NewForConfig(r.cluster)
	if err != nil {
		return nil, err
	}
	raw, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("metrics of the API server: %w", err)
	}
	kinds := map[string]float64{}
	for line := range strings.Lines(string(raw)) {
		found := requestKind.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil || found[4] == "WATCH" {
			continue
		}
		count, err := strconv.ParseFloat(found[5], 64)
		if err != nil {
			return nil, fmt.Errorf("metrics of the API server: %w", err)
		}
		kinds[strings.TrimSuffix(strings.Join([]string{found[4], found[2], found[3], found[1]}, " "), " ")] += count
	}
	return kinds, nil
}

// statusWritesOf adds up the writes of a Darkroom's status.
func statusWritesOf(kinds map[string]float64) float64 {
	total := 0.0
	for kind, count := range kinds {
		if strings.Contains(kind, " darkrooms status ") {
			total += count
		}
	}
	return total
}

// printRequests writes how many requests of each kind there were for each Darkroom, if
// profiles are wanted.
func (r *round) printRequests(before, after map[string]float64) {
	if !r.profiled() {
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(after)) {
		if each := (after[kind] - before[kind]) / float64(r.n); each >= 0.01 {
			log.Printf("%6.2f  %s", each, kind)
		}
	}
}
