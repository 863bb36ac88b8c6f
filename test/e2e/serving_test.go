//go:build e2e

package e2e

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestASampleIsServedThroughAnIngressAndAGatewayWithoutItsMetrics(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"ingress": ingressURL, "gateway": gatewayURL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join(repository, "config", "samples", "darkroom-webfolder.yaml"))
			must(t, err)
			darkroom := &v1alpha1.Darkroom{}
			must(t, yaml.UnmarshalStrict(raw, darkroom))
			darkroom.Namespace = newNamespace(t)
			darkroom.Spec.Source.BaseURL = theSources.folderURL + "/"
			darkroom.Spec.Probe.Path = imagePath
			darkroom.Spec.SubDomains = []string{"ajatprabha." + name}
			darkroom.Spec.Metrics = &v1alpha1.Metrics{Enabled: true}
			if url == gatewayURL {
				requireGateways(t)
				routedBy("public")(&darkroom.Spec)
			}
			create(t, darkroom)
			t.Logf("ready after %.1fs", waitReady(t, darkroom).Seconds())
			waitServingThrough(t, url, darkroom)
			want := []string{hostOf(darkroom)}
			if !slices.Equal(darkroom.Status.Domains, want) || darkroom.Status.Version != "v0.4.2" {
				t.Errorf("status.domains are %q, want %q, and status.version is %q", darkroom.Status.Domains,
					want, darkroom.Status.Version)
			}
			if url == gatewayURL {
				waitStatus(t, hostOf(darkroom), http.StatusNotFound) // through the Ingress
			}

			inside, err := clientset.CoreV1().Services(darkroom.Namespace).
				ProxyGet("http", darkroom.Name, "http", "/metrics", nil).DoRaw(t.Context())
			if err != nil || !bytes.Contains(inside, []byte("# TYPE")) {
				t.Fatalf("the pod itself has no metrics to hide: %v: %.200q", err, inside)
			}
			for _, path := range []string{"/metrics", "/metrics?a=b", "/%6detrics"} {
				status, outside, err := through(t.Context(), url, hostOf(darkroom), path)
				must(t, err)
				if status < http.StatusBadRequest || bytes.Contains(outside, []byte("# TYPE")) {
					t.Errorf("%s: got status %d: %.200q", path, status, outside)
				}
			}
		})
	}
}
