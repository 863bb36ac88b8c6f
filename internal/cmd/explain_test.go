package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// kubeconfigOf returns the kubeconfig of a user who may list the Darkrooms of the namespace team-a and use the proxy of
// its Services.
func kubeconfigOf(t *testing.T, image http.HandlerFunc) string {
	t.Helper()
	group := v1alpha1.GroupVersion
	darkroom := darkrooms.New("photos", "team-a").Status(func(s *v1alpha1.DarkroomStatus) {
		s.Domains, s.BaseDomain, s.Replicas, s.ReadyReplicas = []string{"photos.example.com"}, "example.com", 1, 1
	}).Condition(v1alpha1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue,
		Reason: v1alpha1.ReasonAllReplicasReady, ObservedGeneration: 1,
	}).Obj()
	served := metav1.APIGroup{
		Name:     group.Group,
		Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: group.String(), Version: group.Version}},
	}
	objects := map[string]any{
		"/api": metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}},
		"/apis": metav1.APIGroupList{
			TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"},
			Groups:   []metav1.APIGroup{served},
		},
		"/apis/" + group.String(): metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group.String(),
			APIResources: []metav1.APIResource{{
				Name: "darkrooms", SingularName: "darkroom", Namespaced: true,
				Kind: v1alpha1.Kind, Verbs: []string{"list"},
			}},
		},
		"/apis/" + group.String() + "/namespaces/team-a/darkrooms": v1alpha1.DarkroomList{
			TypeMeta: metav1.TypeMeta{Kind: "DarkroomList", APIVersion: group.String()}, Items: []v1alpha1.Darkroom{*darkroom},
		},
	}
	return kubeconfigServing(t, objects, image)
}

// kubeconfigServing returns the kubeconfig of a user who may read the given objects, by their paths, and images.
func kubeconfigServing(t *testing.T, objects map[string]any, image http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/services/http:photos:http/proxy/") {
			image(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		object, found := objects[r.URL.Path]
		if !found {
			w.WriteHeader(http.StatusForbidden)
			object = metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure",
				Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: "forbidden",
			}
		}
		if err := json.NewEncoder(w).Encode(object); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(
		`{"kind":"Config","apiVersion":"v1","current-context":"c","clusters":[{"name":"c","cluster":{"server":%q}}],`+
			`"contexts":[{"name":"c","context":{"cluster":"c","namespace":"team-a"}}]}`, server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestExplainNamesTheHopToBlame runs the command as a user of one namespace. The command exits with the matching code.
func TestExplainNamesTheHopToBlame(t *testing.T) {
	kubeconfig := kubeconfigOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "w=300" || !strings.HasSuffix(r.URL.Path, "/cat.jpg") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "image/jpeg")
		fmt.Fprint(w, "an image")
	})
	for name, c := range map[string]struct {
		args []string
		want []string
		err  error
	}{
		"served": {
			args: []string{"https://photos.example.com/cat.jpg?w=300&s=kanarienvogel"},
			want: []string{
				"https://photos.example.com/cat.jpg?w=300\n", "Darkroom team-a/photos serves this image.",
				"✓ darkroom", "200", "8B",
			},
		},
		"missing": {
			args: []string{"photos.example.com/dog.jpg"},
			want: []string{"✗ source", "  → Check that source.baseUrl"}, err: notReady,
		},
		"default page": {
			args: []string{"https://photos.example.com/cat.jpg?w=300", "--status=404"},
			want: []string{"✗ route"}, err: notReady,
		},
		"misspelled": {
			args: []string{"https://fotos.example.com/cat.jpg"},
			want: []string{"base domain example.com"}, err: notReady,
		},
		"no URL": {args: []string{"ftp://kanarienvogel"}, err: errors.New("the URL must begin with http:// or https://")},
		"no status": {
			args: []string{"https://photos.example.com/", "--status=4"},
			err:  errors.New("--status must be an HTTP status from 100 to 599"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			command := newExplain()
			var out bytes.Buffer
			command.SetOut(&out)
			command.SilenceErrors, command.SilenceUsage = true, true
			command.SetArgs(append(c.args, "--kubeconfig", kubeconfig))
			err := command.ExecuteContext(t.Context())
			if fmt.Sprint(err) != fmt.Sprint(c.err) || strings.Contains(out.String(), "kanarienvogel") {
				t.Errorf("%v, want %v\n%s", err, c.err, out.String())
			}
			for _, part := range c.want {
				if !strings.Contains(out.String(), part) {
					t.Errorf("no %q in\n%s", part, out.String())
				}
			}
		})
	}
}
