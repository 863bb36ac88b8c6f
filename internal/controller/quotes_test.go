package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
)

// quoting is an API server that rejects the first write of each kind and quotes a text in its message.
type quoting struct {
	status  int
	quote   string
	refused sync.Map // kinds of writes rejected so far
}

func (q *quoting) wrap(s *settings) {
	s.kubeconfig.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			resource := resourceIn(request.URL.Path)
			// A server that rejects an event receives only the event.
			if request.Method == http.MethodGet || resource == "events" {
				return next.RoundTrip(request)
			}
			if _, wasRefused := q.refused.LoadOrStore(request.Method+" "+resource, nil); wasRefused {
				return next.RoundTrip(request)
			}
			answer := metav1.Status{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(q.status),
				Message: "admission webhook denied the request: " + q.quote, Reason: map[int]metav1.StatusReason{
					http.StatusForbidden:           metav1.StatusReasonForbidden,
					http.StatusInternalServerError: metav1.StatusReasonInternalError,
				}[q.status],
			}
			return &http.Response{
				StatusCode: q.status, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
				Body: io.NopCloser(strings.NewReader(encoded(answer))),
			}, nil
		})
	})
}

// resourceIn returns the resource and subresource in the path of a request.
func resourceIn(path string) string {
	_, named, _ := strings.Cut(path, "/namespaces/")
	parts := strings.Split(named, "/")
	switch {
	case len(parts) > 3:
		return parts[1] + "/" + parts[3]
	case len(parts) > 1:
		return parts[1]
	}
	return path
}

// A policy or webhook may quote the whole object that it rejects, no matter what the operator writes.
func TestWhateverIsRefusedInWordsThatQuoteACredential(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusInternalServerError} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			secret := fmt.Sprintf("CANARY2SECRET2KEY%d", status)
			namespace := newNamespace(t)
			darkroom := webFolder(namespace, "photos")
			darkroom.Spec.Source = v1alpha1.Source{
				Type: v1alpha1.S3, Bucket: "b", Region: "r",
				AccessKey: "AKIAEXAMPLE", SecretKey: secret,
			}
			quote, err := json.Marshal(darkroom)
			if err != nil {
				t.Fatal(err)
			}
			api := &quoting{status: status, quote: string(quote)}
			seen := watched[*v1alpha1.Darkroom](t, &v1alpha1.DarkroomList{}, namespace)
			startOperator(t, namespace, api.wrap)
			live(t, darkroom)

			for _, refused := range []string{
				"PATCH darkrooms", "PATCH darkrooms/status", "PATCH deployments", "POST secrets",
				"PATCH secrets", "POST controllerrevisions", "DELETE deployments", "DELETE secrets",
			} {
				if _, wasRefused := api.refused.Load(refused); !wasRefused {
					t.Errorf("no %s was rejected", refused)
				}
			}
			for line := range strings.Lines(theLog.String()) {
				if strings.Contains(line, secret) {
					t.Errorf("a credential is logged: %s", line)
				}
			}
			for _, version := range seen() {
				if text := encoded(version.Status); strings.Contains(text, secret) {
					t.Errorf("a credential is in the status: %s", text)
				}
			}
			for _, event := range events(t, namespace, "") {
				if strings.Contains(event.Note, secret) {
					t.Errorf("a credential is in an event: %s", event.Note)
				}
			}
		})
	}
}

// The error of a request names the holder and its namespace, which other tenants must not learn.
func TestAHolderThatCannotBeReadIsNotNamed(t *testing.T) {
	t.Parallel()
	first, second := twoTenants(t)
	leases, shared := newNamespace(t), "shared-"+second
	startOperator(t, first, withLeasesIn(leases))
	startOperator(t, second, withLeasesIn(leases), beforeEach(func(request *http.Request) error {
		if strings.Contains(request.URL.Path, "/namespaces/"+first+"/") {
			return errors.New("connection refused")
		}
		return nil
	}))
	install(t, with(webFolder(first, "holder"), shared))
	eventually(t, "the Lease", holds(leases, hostIn(shared), first+"/holder"))
	seen := watched[*v1alpha1.Darkroom](t, &v1alpha1.DarkroomList{}, second)
	create(t, with(webFolder(second, "waiting"), shared))

	eventually(t, "an event", func(context.Context) error {
		failed := events(t, second, release.EventFailed)
		if len(failed) == 0 {
			return errors.New("got none")
		}
		for _, event := range failed {
			if strings.Contains(event.Note, first) {
				t.Fatalf("an event names the holder: %s", event.Note)
			}
		}
		return nil
	})
	for _, version := range seen() {
		if text := encoded(version.Status); strings.Contains(text, first) {
			t.Errorf("the status names the holder: %s", text)
		}
	}
}

// live installs, upgrades, repairs and deletes a Darkroom. Frequent changes of the Darkroom make the operator retry at
// once after failures.
func live(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	create(t, darkroom)
	touching, stop := context.WithCancel(t.Context())
	subject := darkroom.DeepCopy()
	var touched sync.WaitGroup
	touched.Go(func() {
		for n := 0; touching.Err() == nil; n++ {
			touch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, v1alpha1.AnnotationRequestedAt, n)
			_ = kube.Patch(touching, subject, client.RawPatch("application/merge-patch+json", touch)) // the Darkroom may be gone
			time.Sleep(250 * time.Millisecond)
		}
	})
	defer touched.Wait()
	defer stop()
	eventually(t, "the release", installed(darkroom.Namespace, darkroom.Name))
	becomeReady(t, darkroom.Namespace, darkroom.Name)
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	deleted := mustGet(t, &appsv1.Deployment{}, darkroom.Namespace, darkroom.Name)
	remove(t, deleted)
	eventuallyIs(t, "the repair", &appsv1.Deployment{}, darkroom.Namespace, darkroom.Name,
		func(d *appsv1.Deployment) bool { return d.UID != deleted.UID })
	becomeReady(t, darkroom.Namespace, darkroom.Name)
	remove(t, darkroom)
	eventually(t, "it is gone", gone(darkroom))
}
