package docs

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"image"
	"image/jpeg"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/util/cert"
)

const (
	// exampleHost is the host of the images in the documents.
	exampleHost = "example.com"
	// sampleHost is the host of the images in the web folder sample.
	sampleHost = "raw.githubusercontent.com"
)

// served are the paths of the image, of both hosts.
var served = []string{"/images/cat.jpg", "/kubernetes/kubernetes/master/logo/logo.png"}

// aliases adds the addresses of the hosts to every pod, because the cluster's DNS resolves only Services.
const aliases = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata:
  name: addresses-of-images
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [JSONPatch{op: "add", path: "/spec/hostAliases",
        value: [{"ip": dyn("%s"), "hostnames": dyn(["` + exampleHost + `", "` + sampleHost + `"])}]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: addresses-of-images
spec:
  policyName: addresses-of-images
`

// serveExample provides https://example.com/images/cat.jpg and the image of the sample to the pods of the cluster until
// the test ends. It loads a stand-in image of Darkroom that trusts the certificate.
func (e *environment) serveExample(t *testing.T) error {
	t.Helper()
	ctx := t.Context()
	nodeIP, err := e.kubectl(ctx, "get", "nodes",
		`--output=jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}`)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(nodeIP, "443"))
	if err != nil {
		return fmt.Errorf("serve images: %w", err)
	}
	authority, key, err := cert.GenerateSelfSignedCertKey(exampleHost, nil, []string{sampleHost})
	if err != nil {
		return err
	}
	certificate, err := tls.X509KeyPair(authority, key)
	if err != nil {
		return err
	}
	var cat bytes.Buffer
	if err := jpeg.Encode(&cat, image.NewGray(image.Rect(0, 0, 1200, 800)), nil); err != nil {
		return err
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(served, r.URL.Path) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "image/jpeg")
		_, _ = w.Write(cat.Bytes()) // the caller may be gone
	}))
	server.Listener.Close()
	server.Listener = listener
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)

	authorities := filepath.Join(e.checkout, "bin", "example.pem")
	if err := os.WriteFile(authorities, authority, 0o600); err != nil {
		return err
	}
	if _, err := e.command(ctx, "", filepath.Join(e.bin, "cluster"), "load", "--workdir", "/app",
		"--file", "/etc/ssl/certs/ca-certificates.crt="+authorities,
		"docker.io/gojektech/darkroom:v0.4.2="+filepath.Join(e.bin, "darkroom")); err != nil {
		return err
	}
	if _, err := e.command(ctx, fmt.Sprintf(aliases, nodeIP), "kubectl", "apply", "--filename=-"); err != nil {
		return err
	}
	return until(ctx, "pods have the addresses", func(ctx context.Context) error {
		names, err := e.kubectl(ctx, "run", "probe", "--image=probe", "--dry-run=server",
			"--output=jsonpath={.spec.hostAliases}")
		if err == nil && names == "" {
			err = fmt.Errorf("pods do not get the address of %s yet", exampleHost)
		}
		return err
	})
}
