//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

// scraper knows no authority for the certificate, which the operator signs itself.
var scraper = &http.Client{
	Timeout:   requestPatience,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
}

// scrape asks for the operator's metrics with a token; an empty one means none.
func scrape(ctx context.Context, url, token string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := scraper.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// newAccount makes a ServiceAccount and returns its token.
func newAccount(ctx context.Context, name string) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: name}}
	if err := kube.Create(ctx, account); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("create ServiceAccount: %w", err)
	}
	return access.Token(ctx, admin, client.ObjectKeyFromObject(account))
}

// scraperToken is a token of a ServiceAccount that has the role which the project
// ships for scrapers.
var scraperToken = sync.OnceValues(func() (string, error) {
	const name = "e2e-scraper"
	ctx := context.Background()
	token, err := newAccount(ctx, name)
	if err != nil {
		return "", err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: metricsReader},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: operatorNamespace, Name: name}},
	}
	if err := kube.Create(ctx, binding); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("bind role %s: %w", metricsReader, err)
	}
	return token, poll(ctx, "the scraper is authorised", func(ctx context.Context) error {
		status, _, err := scrape(ctx, theOperator.metricsURL, token)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("metrics answer %d", status)
		}
		return err
	})
})

// metrics are those of the operator's metrics that tests look at.
type metrics struct {
	// helmReconciles is how often the Helm controller looked at a Darkroom.
	helmReconciles float64
	// writes is the number of PUT, PATCH and DELETE requests. POST is left out: the
	// reviews of who reads the metrics are such.
	writes float64
}

func readMetrics(t *testing.T) metrics {
	t.Helper()
	token, err := scraperToken()
	if err != nil {
		t.Fatal(err)
	}
	status, body, err := scrape(t.Context(), theOperator.metricsURL, token)
	if err != nil || status != http.StatusOK {
		t.Fatalf("read metrics: status %d: %v", status, err)
	}
	var m metrics
	for line := range strings.Lines(body) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "} ")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		switch {
		case strings.HasPrefix(name, "controller_runtime_reconcile_total{") && strings.Contains(name, `controller="darkroom-helm"`):
			m.helmReconciles += value
		case strings.HasPrefix(name, "rest_client_requests_total{") &&
			(strings.Contains(name, `method="PUT"`) || strings.Contains(name, `method="PATCH"`) || strings.Contains(name, `method="DELETE"`)):
			m.writes += value
		}
	}
	return m
}

func TestMetricsAreForThoseWhomKubernetesAuthorises(t *testing.T) {
	t.Parallel()
	stranger, err := newAccount(t.Context(), "e2e-stranger")
	if err != nil {
		t.Fatal(err)
	}
	authorised, err := scraperToken()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		who, token string
		// want is a status; 0 means any that refuses.
		want int
	}{
		{"stranger", "", http.StatusUnauthorized},
		// controller-runtime answers 500 where a review finds the token invalid.
		{"a forged token", "abc.def.ghi", 0},
		{"a stranger", stranger, http.StatusForbidden},
		{"a scraper", authorised, http.StatusOK},
	} {
		status, body, err := scrape(t.Context(), theOperator.metricsURL, test.token)
		if err != nil {
			t.Fatal(err)
		}
		if status != test.want && (test.want != 0 || status < http.StatusBadRequest) {
			t.Errorf("%s: status %d, want %d", test.who, status, test.want)
		}
		if has := strings.Contains(body, "controller_runtime_reconcile_total"); has != (test.want == http.StatusOK) {
			t.Errorf("%s: metrics are in the answer: %v", test.who, has)
		}
	}
	plain := strings.Replace(theOperator.metricsURL, "https:", "http:", 1)
	if status, body, err := scrape(t.Context(), plain, authorised); err == nil && (status == http.StatusOK || strings.Contains(body, "reconcile")) {
		t.Errorf("without TLS the answer is %d: %.200q", status, body)
	}
}

func TestTheOperatorIsHealthyAndReady(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/healthz", "/readyz"} {
		status, body, err := theOperator.probe(t.Context(), path)
		if err != nil || status != http.StatusOK {
			t.Errorf("%s: status %d, body %q: %v", path, status, body, err)
		}
	}
}
