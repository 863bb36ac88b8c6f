package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

const (
	// abusers is the number of concurrent requests of the abusive caller, and abuseRate
	// their maximum number per second.
	abusers   = 20
	abuseRate = 150
	// modestRate is how many lists per second other callers request: fewer than the limit.
	modestRate = 15
	// worst is how much slower others may become, at the 99th percentile.
	worst = 2
	// noise is the tolerance for the noise of shared machines.
	noise = 20 * time.Millisecond
	// signInGoal is how long a caller with a new, valid token may wait during a flood of
	// invalid ones.
	signInGoal = 20 * time.Second
)

// abuse is one way to use up resources that all callers share.
type abuse struct {
	name string
	// send makes the n-th request.
	send func(n int64) (*http.Request, error)
}

// abuses returns the abuses to measure. The first one is harmless: it is the baseline for
// the cost of so many requests to other callers on this machine.
func abuses(url, token string) []abuse {
	get := func(path, token string) (*http.Request, error) {
		request, err := http.NewRequest(http.MethodGet, url+path, nil)
		if err == nil {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		return request, err
	}
	hosts := make([]string, 10_000)
	for i := range hosts {
		hosts[i] = fmt.Sprintf(`"h%d"`, i)
	}
	preview := func(n int) string {
		return `{"source":{"baseUrl":"https://example.com"},"subDomains":[` + strings.Join(hosts[:n], ",") + `]}`
	}
	tooMany, asManyAsGo := preview(len(hosts)), preview(64)
	return []abuse{
		{"harmless requests", func(int64) (*http.Request, error) { return get("/healthz", token) }},
		{"previews of 10,000 and 64 hosts", func(n int64) (*http.Request, error) {
			body := tooMany
			if n%2 == 0 {
				body = asManyAsGo
			}
			request, err := http.NewRequest(http.MethodPost, url+"/darkrooms/team-00/abuse/review", strings.NewReader(body))
			if err == nil {
				request.Header.Set("Authorization", "Bearer "+token)
				request.Header.Set("Content-Type", "application/json")
			}
			return request, err
		}},
		{"rights in random namespaces", func(n int64) (*http.Request, error) {
			return get(fmt.Sprintf("/access?namespace=random-%d", n), token)
		}},
		{"junk tokens", func(n int64) (*http.Request, error) { return get("/session", fmt.Sprint("junk-", n)) }},
	}
}

// abused has the measurements during one kind of abuse.
type abused struct {
	name  string
	lists []time.Duration
	sent  int64
	// signIn is how long a request with a token that is new to the server took.
	signIn time.Duration
}

// measureAbuse abuses a server in all ways, each for some time, and measures the impact on
// other callers. The first token belongs to the abusive caller; each way uses one of the
// others.
func measureAbuse(ctx context.Context, url string, tokens []string, each time.Duration) ([]abused, error) {
	var out []abused
	for i, way := range abuses(url, tokens[0]) {
		log.Printf("abuse: %s, for %s", way.name, each)
		modest := tokens[1+i]
		result := abused{name: way.name}
		sent, stop := way.start(ctx, each)
		began := time.Now()
		if err := list(ctx, url, modest); err != nil {
			stop()
			return nil, fmt.Errorf("sign in during %s: %w", way.name, err)
		}
		result.signIn = time.Since(began)
		var err error
		result.lists, err = listFor(ctx, url, modest, each)
		stop()
		if err != nil {
			return nil, fmt.Errorf("during %s: %w", way.name, err)
		}
		result.sent = sent.Load()
		out = append(out, result)
	}
	return out, nil
}

// start sends requests until stop is called or the time is over.
func (a *abuse) start(ctx context.Context, each time.Duration) (sent *atomic.Int64, stop func()) {
	ctx, cancel := context.WithTimeout(ctx, each+signInGoal)
	limit := rate.NewLimiter(abuseRate, abuseRate)
	sent = &atomic.Int64{}
	var sending sync.WaitGroup
	for range abusers {
		sending.Go(func() {
			for limit.Wait(ctx) == nil {
				request, err := a.send(sent.Add(1))
				if err != nil {
					log.Print(err)
					return
				}
				// The response is ignored, even if it is incomplete.
				if answer, err := http.DefaultClient.Do(request.WithContext(ctx)); err == nil {
					_, _ = io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
				}
			}
		})
	}
	return sent, func() {
		cancel()
		sending.Wait()
	}
}

// listFor asks for lists for some time, and returns how long each took, sorted.
func listFor(ctx context.Context, url, token string, d time.Duration) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	limit := rate.NewLimiter(modestRate, 1)
	var took []time.Duration
	for limit.Wait(ctx) == nil {
		began := time.Now()
		err := list(ctx, url, token)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took, nil
}

// memoryLimit returns the limit of the Deployment that is shipped, in bytes.
func memoryLimit(root string) (int64, error) {
	raw, err := os.ReadFile(filepath.Join(root, "config", "apiserver", "deployment.yaml"))
	if err != nil {
		return 0, err
	}
	deployment := appsv1.Deployment{}
	if err := yaml.Unmarshal(raw, &deployment); err != nil {
		return 0, err
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if limit := container.Resources.Limits.Memory(); limit.Cmp(resource.Quantity{}) > 0 {
			return limit.Value(), nil
		}
	}
	return 0, errors.New("the Deployment of the API server has no memory limit")
}

// measureHarm measures one server that has the limits it is shipped with.
func measureHarm(ctx context.Context, operator string, c *cluster, tokens []string) (met bool, err error) {
	limit, err := memoryLimit(".")
	if err != nil {
		return false, err
	}
	server, err := startServer(ctx, operator, c)
	if err != nil {
		return false, err
	}
	defer server.stop()
	results, err := measureAbuse(ctx, server.url, tokens, eachAbuse)
	if err != nil {
		return false, err
	}
	peak, err := server.memory()
	if err != nil {
		return false, err
	}
	t := newTable(fmt.Sprintf("%d Darkrooms; one caller sends at most %d requests a second, others ask for %d lists", allDarkrooms, abuseRate, modestRate))
	floor := at(results[0].lists, 99)
	for i, result := range results {
		what := fmt.Sprintf("list of others (%d) during %s (%d)", len(result.lists), result.name, result.sent)
		goal, fine := "", true
		if i > 0 {
			most := worst*floor + noise
			goal, fine = "p99 < "+ms(most), at(result.lists, 99) < most
		}
		t.row(what, ms(at(result.lists, 50)), ms(at(result.lists, 99)), goal, fine)
		t.row("a new token meanwhile", "", ms(result.signIn), "< "+ms(signInGoal), result.signIn < signInGoal)
	}
	t.row("memory of the API server, at most", "", mib(peak), "< "+mib(limit), peak < limit)
	return t.print(), nil
}
