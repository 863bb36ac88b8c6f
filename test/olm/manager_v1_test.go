//go:build e2e

package olm

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
)

const (
	v1Namespace     = "olmv1-system"
	catalogdService = "catalogd-service"
)

// version1 is a kustomization of the manifests in a folder: they run programs of the node, with a certificate and the
// mirror in registries.conf.
const version1 = `
resources: [%[1]s/catalogd, %[1]s/operator-controller]
patches:
- target: {kind: Deployment}
  patch: |
    - {op: add, path: /spec/template/spec/containers/0/volumeMounts/-, value: {name: certificates, mountPath: /certificates}}
    - {op: add, path: /spec/template/spec/containers/0/volumeMounts/-, value: {name: authorities, mountPath: /authorities}}
    - {op: add, path: /spec/template/spec/containers/0/volumeMounts/-, value: {name: registries, mountPath: /etc/containers}}
    - {op: add, path: /spec/template/spec/volumes/-, value: {name: certificates, secret: {secretName: certificates}}}
    - op: add
      path: /spec/template/spec/volumes/-
      value: {name: authorities, secret: {secretName: certificates, items: [{key: olm-ca.crt, path: olm-ca.crt}]}}
    - op: add
      path: /spec/template/spec/volumes/-
      value: {name: registries, secret: {secretName: certificates, items: [{key: registries.conf, path: registries.conf}]}}
- target: {kind: Deployment, name: catalogd-controller-manager}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/image, value: "%[2]s"}
    - {op: replace, path: /spec/template/spec/containers/0/command, value: [/catalogd]}
    - op: replace
      path: /spec/template/spec/containers/0/args
      value:
      - --external-address=catalogd-service.olmv1-system.svc
      - --metrics-bind-address=:7443
      - --tls-cert=/certificates/tls.crt
      - --tls-key=/certificates/tls.key
- target: {kind: Deployment, name: operator-controller-controller-manager}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/image, value: "%[3]s"}
    - {op: replace, path: /spec/template/spec/containers/0/args, value: [--catalogd-cas-dir=/authorities]}
- target: {kind: Service, name: catalogd-service}
  patch: |
    - {op: replace, path: /spec/ports/0, value: {name: https, port: 443, targetPort: 8443}}
- target: {kind: MutatingWebhookConfiguration}
  patch: |
    - {op: add, path: /webhooks/0/clientConfig/caBundle, value: %[4]s}
`

// startVersion1 installs catalogd and operator-controller by their own manifests, with
// images of the node and a certificate. They pull the project's
// images from the registry at a host, as from a mirror.
func startVersion1(t *testing.T, mirror string) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(catalogdService+"."+v1Namespace+".svc", nil, nil)
	must(t, err)
	registries := fmt.Sprintf(`
[[registry]]
prefix = %[1]q
location = %[2]q
insecure = true
[[registry]]
location = %[3]q
insecure = true
`, projectImages, mirror+strings.TrimPrefix(projectImages, "ghcr.io"), mirror)
	create(t, namespaceObject(v1Namespace), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1Namespace, Name: "certificates"},
		Data: map[string][]byte{
			"tls.crt": certificate, "tls.key": key, "olm-ca.crt": certificate,
			"registries.conf": []byte(registries),
		},
	})
	folder := t.TempDir()
	base, err := filepath.Rel(folder,
		filepath.Join(moduleFolder(t, "github.com/operator-framework/operator-controller"), "config", "base"))
	must(t, err)
	text := fmt.Sprintf(version1, base, catalogdImage, operatorControllerImage,
		base64.StdEncoding.EncodeToString(certificate))
	must(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600))
	apply(t, decode(t, mustRun(t, "kubectl", "kustomize", folder))...)
	waitAvailable(t, v1Namespace, "catalogd-controller-manager")
	waitAvailable(t, v1Namespace, "operator-controller-controller-manager")
}
