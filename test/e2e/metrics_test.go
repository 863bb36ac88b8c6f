//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
)

// scrape requests the operator's metrics with a token; empty means without one.
func scrape(ctx context.Context, token string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, metricsURL, nil)
	if err != nil {
		return 0, nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// The certificate is self-signed by the operator.
	scraper := &http.Client{
		Timeout:   images.Patience,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}
	response, err := scraper.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

func TestMetricsAreForThoseWhomKubernetesAuthorizes(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	scraper := client.ObjectKey{Namespace: namespace, Name: namespace + "-scraper"}
	must(t, access.NewAccount(t.Context(), kube, scraper, metricsReader))
	authorized, err := access.Token(t.Context(), admin, scraper)
	must(t, err)
	for _, test := range []struct {
		who, token string
		want       int
	}{
		{"the scraper", authorized, http.StatusOK}, // first, because it may take a moment until its permissions apply
		{"nobody", "", http.StatusUnauthorized},
		{"a stranger", newPerson(t, namespace, "stranger", viewing), http.StatusForbidden},
	} {
		eventually(t, fmt.Sprintf("%s gets %d", test.who, test.want), func(ctx context.Context) error {
			status, body, err := scrape(ctx, test.token)
			has := bytes.Contains(body, []byte("controller_runtime_reconcile_total"))
			if err == nil && (status != test.want || has != (test.want == http.StatusOK)) {
				err = fmt.Errorf("status %d: %.200q", status, body)
			}
			return err
		})
	}
}
