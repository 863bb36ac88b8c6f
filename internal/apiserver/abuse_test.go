package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

// counting counts the requests to a path that a server sends with its own identity.
func counting(path string, count *atomic.Int64) func(*apiserver.Options) {
	return intercept(func(request *http.Request) error {
		if strings.Contains(request.URL.Path, path) {
			count.Add(1)
		}
		return nil
	})
}

// countingPreviews counts the Darkrooms that a server renders.
func countingPreviews(count *atomic.Int64) func(*apiserver.Options) {
	return func(o *apiserver.Options) {
		o.Preview = func(context.Context, *v1alpha1.Darkroom) (string, error) {
			count.Add(1)
			return "kind: List\n", nil
		}
	}
}

// withHosts returns a Darkroom with many sub-domains.
func withHosts(n int) string {
	hosts := make([]string, n)
	for i := range hosts {
		hosts[i] = fmt.Sprintf(`"h%d"`, i)
	}
	return `{"source":{"baseUrl":"https://example.com"},"subDomains":[` + strings.Join(hosts, ",") + `]}`
}

func TestPreviewsStayWithinTheLimitsOfTheCluster(t *testing.T) {
	t.Parallel()
	var rendered atomic.Int64
	s, namespace := start(t, countingPreviews(&rendered)), newNamespace(t)
	token := newUserWho(t, namespace, "viewer", canView).token
	for name, c := range map[string]struct {
		body      string
		locations []string
	}{
		"ten thousand hosts":    {withHosts(10_000), []string{"body.subDomains"}},
		"one host too many":     {withHosts(65), []string{"body.subDomains"}},
		"ninety thousand hosts": {withHosts(90_000), []string{"body"}},
		"a body that is deep": {`{"podTemplate":{"affinity":` + strings.Repeat("[", 5000) +
			strings.Repeat("]", 5000) + `}}`, []string{"body"}},
		"annotations": {`{"source":{"baseUrl":"https://example.com"},"subDomains":["a"],"podTemplate":{"annotations":{"a":"` +
			strings.Repeat("x", 300<<10) + `"}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.on(t).want(http.StatusUnprocessableEntity, token, "POST", path(namespace, "photos")+"/review", c.body)
			wantLocations(t, got, c.locations...)
		})
	}
	if n := rendered.Load(); n != 0 {
		t.Errorf("%d were rendered", n)
	}
	s.want(http.StatusOK, token, "POST", path(namespace, "photos")+"/review", withHosts(64))
	if n := rendered.Load(); n != 1 {
		t.Errorf("a valid one was rendered %d times", n)
	}
}

// TestOneCallerCannotRenderForAll checks each caller's share of the concurrent renderings, and that a rendering stops
// when the caller disconnects.
func TestOneCallerCannotRenderForAll(t *testing.T) {
	t.Parallel()
	var rendering, most atomic.Int64
	ended := make(chan error, 1)
	s, namespace := start(t, func(o *apiserver.Options) {
		o.Preview = func(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
			if darkroom.Name != "slow" {
				return "kind: List\n", nil
			}
			most.Store(max(most.Load(), rendering.Add(1)))
			<-ctx.Done()
			rendering.Add(-1)
			select {
			case ended <- ctx.Err():
			default:
			}
			return "", ctx.Err()
		}
	}), newNamespace(t)
	greedy, modest := newUserWho(t, namespace, "viewer", canView).token, newEditor(t, namespace).token
	ctx, goAway := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for range 10 {
		asking.Go(func() {
			answer, err := s.send(ctx, greedy, http.MethodPost, path(namespace, "slow")+"/review",
				strings.NewReader(withHosts(1)))
			if err == nil {
				answer.Body.Close()
			}
		})
	}
	some := func(want bool) {
		t.Helper()
		eventually(t, fmt.Sprintf("something was rendered: %t", want), func() error {
			if n := rendering.Load(); n > 0 != want {
				return fmt.Errorf("%d were rendered", n)
			}
			return nil
		})
	}
	some(true)
	s.want(http.StatusOK, modest, "POST", path(namespace, "quick")+"/review", withHosts(1))
	goAway()
	asking.Wait()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("rendering ended with %v", err)
	}
	some(false)
	if n := most.Load(); n != 1 {
		t.Errorf("%d were rendered at the same time for one caller", n)
	}
}

func TestQuestionsToTheClusterAreBudgeted(t *testing.T) {
	t.Parallel()
	var questions, lists atomic.Int64
	namespace := newNamespace(t)
	s := start(t, counting("subjectaccessreviews", &questions), counting("/namespaces/"+namespace+"/events", &lists),
		func(o *apiserver.Options) {
			o.QuestionsPerSecond, o.QuestionBurst, o.AccessTTL = 0.001, 20, time.Hour
		})
	greedy, modest := newUserWho(t, namespace, "viewer", canView).token, newEditor(t, namespace).token
	ask := func(i int) string { return fmt.Sprintf("/access?namespace=random-%d", i) }
	// One request causes several access reviews.
	for i := range 5 {
		s.call(greedy, "GET", ask(i), "")
	}
	for i := range 45 {
		s.limited(greedy, "GET", ask(5+i))
	}
	if n := questions.Load(); n > 20 {
		t.Errorf("%d access reviews were sent", n)
	}
	// Other callers have their own budget and their own results.
	s.want(http.StatusOK, modest, "GET", "/access?namespace="+namespace, "")
	s.want(http.StatusOK, modest, "GET", "/darkrooms?namespace="+namespace, "")
	asked := questions.Load()
	s.want(http.StatusOK, modest, "GET", "/access?namespace="+namespace, "")
	if again := questions.Load(); again != asked {
		t.Errorf("%d access reviews were sent again", again-asked)
	}
	// Lists that the server reads for a caller also use the caller's budget.
	s.want(http.StatusCreated, modest, "POST", "/darkrooms", webFolder(namespace, "photos"))
	last := 0
	for range 20 {
		last = s.raw(modest, "GET", path(namespace, "photos")+"/events", "").status
	}
	if n := lists.Load(); last != http.StatusTooManyRequests || n == 0 || n > 18 {
		t.Errorf("the last response has status %d; the cluster received %d requests for lists", last, n)
	}
}

func TestSelectorsAreBounded(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	token := newUserWho(t, namespace, "viewer", canView).token
	for n, status := range map[int]int{16: http.StatusOK, 17: http.StatusBadRequest} {
		var terms []string
		for i := range n {
			terms = append(terms, fmt.Sprint("!b", i))
		}
		s.want(status, token, "GET", "/darkrooms?labelSelector="+strings.Join(terms, ","), "")
	}
}

func TestRenderingHasARate(t *testing.T) {
	t.Parallel()
	s, namespace := start(t, countingPreviews(&atomic.Int64{})), newNamespace(t)
	greedy, modest := newUserWho(t, namespace, "viewer", canView).token, newEditor(t, namespace).token
	// Ten at once, and two per second.
	began := time.Now()
	for range 13 {
		s.want(http.StatusOK, greedy, "POST", path(namespace, "photos")+"/review", withHosts(1))
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("thirteen were rendered in %s", took)
	}
	s.want(http.StatusOK, modest, "POST", path(namespace, "photos")+"/review", withHosts(1))
}
