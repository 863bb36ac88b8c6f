package cmd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// groupsOf serves the discovery API of a cluster that has the given API groups in version v1.
func groupsOf(t *testing.T, names ...string) *rest.Config {
	t.Helper()
	groups := make([]string, len(names))
	for i, name := range names {
		groups[i] = fmt.Sprintf(`{"name":%q,"versions":[{"groupVersion":"%s/v1","version":"v1"}]}`, name, name)
	}
	body := fmt.Sprintf(`{"kind":"APIGroupList","apiVersion":"v1","groups":[%s]}`, strings.Join(groups, ","))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func TestPreviewsKnowTheAPIVersionsOfTheCluster(t *testing.T) {
	for name, test := range map[string]struct {
		groups []string
		user   bool
	}{
		"Kubernetes": {[]string{"apps"}, true},
		"OpenShift":  {[]string{"apps", "security.openshift.io", "route.openshift.io"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			served, err := servedVersions(groupsOf(t, test.groups...))
			if err != nil {
				t.Fatal(err)
			}
			options := &apiServerOptions{}
			options.translation.options.BaseDomains = []string{"img.example.net"}
			preview, err := options.translation.preview(served)
			if err != nil {
				t.Fatal(err)
			}
			manifest, err := preview.manifest(t.Context(), darkrooms.New("photos", "team-a").Obj())
			if err != nil {
				t.Fatal(err)
			}
			// OpenShift assigns the user ID.
			if user := strings.Contains(manifest, "runAsUser"); user != test.user {
				t.Errorf("the manifest sets a user: %t", user)
			}
		})
	}
}

func TestAClusterThatDoesNotAnswerDiscovery(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if served, err := servedVersions(&rest.Config{Host: server.URL}); err == nil {
		t.Errorf("the cluster serves %v", served)
	}
}

func TestAnAPIServerThatIsTurnedOffServesItsHealthOnly(t *testing.T) {
	for path, want := range map[string]int{
		"/readyz": http.StatusOK, "/healthz": http.StatusOK,
		"/": http.StatusNotFound, "/darkrooms": http.StatusNotFound, "/metrics": http.StatusNotFound,
	} {
		answer := httptest.NewRecorder()
		healthOnly().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if answer.Code != want {
			t.Errorf("%s: status %d, want %d", path, answer.Code, want)
		}
	}
}

func TestAnAPIServerThatIsTurnedOffNeedsNoCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "/does/not/exist")
	t.Setenv(envAPIServer, "false")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	command := newRoot()
	command.SetArgs([]string{"apiserver", "--bind-address=127.0.0.1:0"})
	if err := command.ExecuteContext(ctx); err != nil {
		t.Error(err)
	}
}
