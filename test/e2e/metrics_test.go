//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
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
	return token, poll(ctx, "the scraper is authorized", func(ctx context.Context) error {
		status, _, err := scrape(ctx, theOperator.metricsURL, token)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("metrics answer %d", status)
		}
		return err
	})
})

func TestMetricsAreForThoseWhomKubernetesAuthorizes(t *testing.T) {
	t.Parallel()
	stranger, err := newAccount(t.Context(), "e2e-stranger")
	if err != nil {
		t.Fatal(err)
	}
	authorized, err := scraperToken()
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
		{"a scraper", authorized, http.StatusOK},
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
	if status, body, err := scrape(t.Context(), plain, authorized); err == nil && (status == http.StatusOK || strings.Contains(body, "reconcile")) {
		t.Errorf("without TLS the answer is %d: %.200q", status, body)
	}
}
