package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/certs"
)

// api is a small client of the API server: the few calls made here do not
// justify a client library and its compile time.
type api struct {
	server string
	client *http.Client
}

// newAPI returns a client that is the cluster's administrator.
func (p *plan) newAPI() (*api, error) {
	pair, err := tls.LoadX509KeyPair(p.layout.certificate(certs.Admin), p.layout.key(certs.Admin))
	if err != nil {
		return nil, fmt.Errorf("read the administrator's certificate: %w", err)
	}
	ca, err := os.ReadFile(p.layout.certificate(certs.CA))
	if err != nil {
		return nil, fmt.Errorf("read the cluster's authority: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &api{server: p.apiServerURL(), client: &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{pair},
		}},
	}}, nil
}

// statusError is an answer other than success.
type statusError struct {
	code int
	body string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.body) }

// do sends body, unless nil, and decodes the answer into result, unless nil.
func (a *api) do(ctx context.Context, method, path string, body, result any) error {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.server+path, reader)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %w", method, path, &statusError{response.StatusCode, string(bytes.TrimSpace(data))})
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(data, result); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
