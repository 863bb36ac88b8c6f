//go:build e2e

package olm

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

const (
	v1Namespace        = "olmv1-system"
	catalogdService    = "catalogd-service"
	catalogdDeployment = "catalogd-controller-manager"
	controllerName     = "operator-controller-controller-manager"
	certificatesSecret = "certificates"
)

// startVersion1 installs catalogd and operator-controller by their own manifests, with
// images of the node and certificates of the test's authority. They pull the project's
// images from the registry at a host, as from a mirror.
func startVersion1(t *testing.T, authority *authority, mirror string) {
	t.Helper()
	module, err := moduleFolder(t.Context(), "github.com/operator-framework/operator-controller")
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	create(t, namespaceObject(v1Namespace))
	for _, part := range []string{"catalogd", "operator-controller"} {
		decoded, err := manifests.Decode([]byte(mustRun(t, "kubectl", "kustomize", filepath.Join(module, "config", "base", part))))
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, decoded...)
	}
	// The Service comes first: its address is in the certificate.
	for _, object := range objects {
		if object.GetKind() != "Service" || object.GetName() != catalogdService {
			continue
		}
		set(t, object, []any{
			map[string]any{"name": "https", "port": int64(443), "targetPort": int64(8443)},
			map[string]any{"name": "webhook", "port": int64(9443), "targetPort": int64(9443)},
		}, "spec", "ports")
		apply(t, object)
	}
	service := &corev1.Service{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: v1Namespace, Name: catalogdService}, service); err != nil {
		t.Fatal(err)
	}
	address := service.Spec.ClusterIP
	certificate, key := authority.issue(t, catalogdService+"."+v1Namespace+".svc", address)
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1Namespace, Name: certificatesSecret},
		Data:       map[string][]byte{"tls.crt": certificate, "tls.key": key, "olm-ca.crt": authority.bundle, "registries.conf": mirrorOf(mirror)},
	})
	var rest []*unstructured.Unstructured
	for _, object := range objects {
		switch {
		case object.GetKind() == "Service" && object.GetName() == catalogdService:
			continue
		case object.GetKind() == "MutatingWebhookConfiguration":
			trust(t, object, authority)
		case object.GetKind() == "Deployment" && object.GetName() == catalogdDeployment:
			programOf(t, object, catalogdImage, "/catalogd", "--external-address="+address, "--metrics-bind-address=:7443",
				"--tls-cert=/certificates/tls.crt", "--tls-key=/certificates/tls.key", "--pull-cas-dir=/authorities")
		case object.GetKind() == "Deployment":
			programOf(t, object, operatorControllerImage, "/operator-controller", "--catalogd-cas-dir=/authorities", "--pull-cas-dir=/authorities")
		}
		rest = append(rest, object)
	}
	apply(t, rest...)
	waitAvailable(t, v1Namespace, catalogdDeployment)
	waitAvailable(t, v1Namespace, controllerName)
}

// programOf has a Deployment run a program of the node, with the certificates.
func programOf(t *testing.T, deployment *unstructured.Unstructured, image, program string, args ...string) {
	t.Helper()
	spec, _, err := unstructured.NestedMap(deployment.Object, "spec", "template", "spec")
	if err != nil {
		t.Fatal(err)
	}
	container := spec["containers"].([]any)[0].(map[string]any)
	container["image"] = image
	container["command"] = []any{program}
	all := make([]any, 0, len(args))
	for _, arg := range args {
		all = append(all, arg)
	}
	container["args"] = all
	container["volumeMounts"] = append(container["volumeMounts"].([]any),
		map[string]any{"name": "certificates", "mountPath": "/certificates", "readOnly": true},
		map[string]any{"name": "authorities", "mountPath": "/authorities", "readOnly": true},
		map[string]any{"name": "registries", "mountPath": "/etc/containers", "readOnly": true})
	spec["containers"] = []any{container}
	spec["volumes"] = append(spec["volumes"].([]any),
		map[string]any{"name": "certificates", "secret": map[string]any{"secretName": certificatesSecret}},
		map[string]any{"name": "authorities", "secret": map[string]any{
			"secretName": certificatesSecret, "items": []any{map[string]any{"key": "olm-ca.crt", "path": "olm-ca.crt"}},
		}},
		map[string]any{"name": "registries", "secret": map[string]any{
			"secretName": certificatesSecret, "items": []any{map[string]any{"key": "registries.conf", "path": "registries.conf"}},
		}})
	set(t, deployment, spec, "spec", "template", "spec")
}

// mirrorOf is the configuration of a mirror of the project's images.
func mirrorOf(host string) []byte {
	return fmt.Appendf(nil, "[[registry]]\nprefix = %q\nlocation = %q\n", projectImages, host+strings.TrimPrefix(projectImages, "ghcr.io"))
}

// trust has a webhook's caller trust the authority.
func trust(t *testing.T, webhook *unstructured.Unstructured, authority *authority) {
	t.Helper()
	hooks, _, err := unstructured.NestedSlice(webhook.Object, "webhooks")
	if err != nil {
		t.Fatal(err)
	}
	for _, hook := range hooks {
		hook.(map[string]any)["clientConfig"].(map[string]any)["caBundle"] = base64.StdEncoding.EncodeToString(authority.bundle)
	}
	set(t, webhook, hooks, "webhooks")
}

func set(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}
