package apiserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reach"
)

// withSources turns on the check of sources, also of those on this machine.
func withSources(o *apiserver.Options) {
	o.Sources = reach.New(reach.Options{
		Refuses: func(netip.Addr) bool { return false },
		Proxy:   func(*http.Request) (*url.URL, error) { return nil, nil },
	})
}

// newSource starts a web folder with one image, and counts requests.
func newSource(t *testing.T) (address string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/images/cat.jpg" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func ofFolder(address, probe string) string {
	return fmt.Sprintf(`{"source":{"baseUrl":"%s/images"},"subDomains":["a"]%s}`, address, probe)
}

func TestReviewOfTheSource(t *testing.T) {
	t.Parallel()
	s, namespace := start(t, withSources), newNamespace(t)
	address, asked := newSource(t)
	token := newEditor(t, namespace).token
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	host := strings.TrimPrefix(address, "http://")
	for name, c := range map[string]struct {
		darkroom, body string
		want           apiserver.SourceOutcome
	}{
		"an answer":          {"new", ofFolder(address, ""), apiserver.SourceOutcome{State: reach.Reachable, Reason: reach.Answered, Host: host}},
		"an existing one":    {"photos", ofFolder(address, ""), apiserver.SourceOutcome{State: reach.Reachable, Reason: reach.Answered, Host: host}},
		"an image":           {"new", ofFolder(address, `,"probe":{"path":"/cat.jpg"}`), apiserver.SourceOutcome{State: reach.Reachable, Reason: reach.ImageServed, Host: host}},
		"a missing image":    {"new", ofFolder(address, `,"probe":{"path":"/dog.jpg"}`), apiserver.SourceOutcome{State: reach.Unreachable, Reason: reach.HTTPStatus, Host: host, Status: 404}},
		"an unknown name":    {"new", ofFolder("http://nothing.invalid", ""), apiserver.SourceOutcome{State: reach.Unreachable, Reason: reach.NameNotFound, Host: "nothing.invalid"}},
		"an invalid version": {"new", strings.Replace(ofFolder(address, ""), "{", `{"image":{"repository":"a b"},`, 1), apiserver.SourceOutcome{}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want.State == "" {
				s.on(t).want(http.StatusUnprocessableEntity, token, "POST", path(namespace, c.darkroom)+"/review", c.body)
				return
			}
			if got := s.on(t).reviewed(token, namespace, c.darkroom, c.body).Source; got != c.want {
				t.Errorf("the source is %+v, want %+v", got, c.want)
			}
		})
	}
	if n := asked.Load(); n != 4 {
		t.Errorf("the source got %d requests", n)
	}
}

func TestSourcesAreCheckedForThoseWhoMayWrite(t *testing.T) {
	t.Parallel()
	s, namespace := start(t, withSources), newNamespace(t)
	address, asked := newSource(t)
	s.want(http.StatusCreated, newEditor(t, namespace).token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	viewer := newViewer(t, namespace).token
	for _, name := range []string{"new", "photos"} {
		if got := s.reviewed(viewer, namespace, name, ofFolder(address, "")).Source; got.State != reach.NotChecked || got.Reason != "notAccepted" {
			t.Errorf("%s: the source is %+v", name, got)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the source got %d requests", n)
	}
}

func TestSourcesAtRefusedAddressesAreNotChecked(t *testing.T) {
	t.Parallel()
	s, namespace := start(t, func(o *apiserver.Options) { o.Sources = reach.New(reach.Options{}) }), newNamespace(t)
	address, asked := newSource(t)
	token := newEditor(t, namespace).token
	port := address[strings.LastIndex(address, ":"):]
	for _, host := range []string{"127.0.0.1" + port, "localhost" + port, "[::ffff:127.0.0.1]" + port, "169.254.169.254"} {
		if got := s.reviewed(token, namespace, "new", ofFolder("http://"+host, "")).Source; got.Reason != reach.Address {
			t.Errorf("%s: the source is %+v", host, got)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the source got %d requests", n)
	}
}

func TestSourcesAreNotCheckedElsewhere(t *testing.T) {
	t.Parallel()
	address, asked := newSource(t)
	for name, c := range map[string]struct {
		change func(*apiserver.Options)
		want   reach.Reason
	}{
		"turned off":          {func(o *apiserver.Options) { o.Sources = nil }, "off"},
		"outside the cluster": {func(o *apiserver.Options) { o.OutsideCluster = true }, "outsideCluster"},
		"with a kubeconfig": {func(o *apiserver.Options) {
			o.Auth, o.BindAddress, o.Cluster = apiserver.AuthKubeconfig, "127.0.0.1:0", cluster
		}, "outsideCluster"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, namespace := start(t, withSources, c.change), newNamespace(t)
			got := s.reviewed(newEditor(t, namespace).token, namespace, "new", ofFolder(address, "")).Source
			if got.State != reach.NotChecked || got.Reason != c.want {
				t.Errorf("the source is %+v, want %s", got, c.want)
			}
		})
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the source got %d requests", n)
	}
}

func TestChecksOfSourcesAreBudgeted(t *testing.T) {
	t.Parallel()
	s, namespace := start(t, withSources), newNamespace(t)
	address, asked := newSource(t)
	greedy := newEditor(t, namespace).token
	left, began := 0, time.Now()
	for range 10 {
		if got := s.reviewed(greedy, namespace, "new", ofFolder(address, "")).Source; got.Reason == "limit" {
			left++
		}
	}
	// Five at once, and one each second, in which a busy machine makes few requests.
	most := 5 + 1 + int(time.Since(began).Seconds())
	if n := int(asked.Load()); n > most || n+left != 10 {
		t.Errorf("%d checks were left out, and %d sent; at most %d are allowed", left, n, most)
	}
	modest := newUser(t, namespace, "modest")
	modest.may(namespace, canEdit)
	if got := s.reviewed(modest.token, namespace, "new", ofFolder(address, "")).Source; got.State != reach.Reachable {
		t.Errorf("for another caller the source is %+v", got)
	}
}
