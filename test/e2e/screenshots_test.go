//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
)

// fleet are the Darkrooms in the screenshots of the documents, each with one of the scenes in test/standins/sources. No
// other test uses their hosts, and their sources have names.
var fleet = []struct {
	namespace, name, scene string
	replicas               int32
}{
	{"editorial", "blog", "lavender", 2},
	{"editorial", "press", "night", 1},
	{"photos", "gallery", "sunset", 1},
	{"photos", "travel", "coast", 2},
	{"photos", "weddings", "dunes", 1},
	{"shop", "avatars", "forest", 1},
	{"shop", "catalog", "alps", 2},
	{"shop", "outlet", "savanna", 1},
}

// TestScreenshotsOfAFleet runs web/e2e/screenshots.mjs, which takes the screenshots of the
// documents into bin/screenshots; `make screenshots` copies them.
func TestScreenshotsOfAFleet(t *testing.T) {
	if os.Getenv("SCREENSHOTS") == "" || os.Getenv("LOAD") != "" {
		t.Skip("make screenshots takes them; an existing cluster may have namespaces of these names")
	}
	t.Parallel()
	server := startAPIServer(t, "--cluster-name", "production")
	for _, name := range []string{"photos", "editorial", "shop"} {
		ownNamespace(t, restricted(name, ""))
	}
	folder, bucket := startNamedSources(t)
	alice := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "photos", Name: "alice"}
	rules := slices.Concat(keepingSecrets, editing)
	token := newPerson(t, alice.Namespace, alice.Name, rules)
	for _, other := range []string{"editorial", "shop"} {
		permit(t, metav1.ObjectMeta{Namespace: other, Name: alice.Name}, alice, rules)
	}
	var darkrooms []*v1alpha1.Darkroom
	for _, of := range fleet {
		darkroom := newDarkroom(of.namespace, of.name).SubDomains(of.name).Replicas(of.replicas).Source(folder).Obj()
		path := "/images"
		if of.namespace != "shop" {
			path = "/uploads"
			darkroom.Spec.Source = bucket
			darkroom.Spec.Source.PathPrefix = path
		}
		darkroom.Spec.Probe = &v1alpha1.Probe{Path: path + "/" + of.scene + ".jpg"}
		must(t, kube.Create(t.Context(), darkroom, client.FieldOwner("kubectl-create")))
		darkrooms = append(darkrooms, darkroom)
	}
	for _, darkroom := range darkrooms {
		waitSettled(t, darkroom)
	}
	runSteps(t, "screenshots.mjs", []string{strings.TrimPrefix(server.URL, "http://")},
		"URL="+strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "TOKEN="+token,
		"COLLEAGUE="+newPerson(t, alice.Namespace, "bob", editing),
		"SCREENSHOTS="+filepath.Join(binaries, "screenshots"))
}

// startNamedSources starts a web folder and an S3 service, and returns them as sources with realistic names. The
// service has the bucket photos, and also responds to requests for the bucket photo, which does not exist.
func startNamedSources(t *testing.T) (folder, bucket v1alpha1.Source) {
	t.Helper()
	const host = "minio.storage.svc"
	namespace := ownNamespace(t, restricted("storage", ""))
	assets := images.SourcePod(namespace, "assets", "webfolder", 8080)
	pods := []*corev1.Pod{assets}
	for _, name := range []string{"photos", "photo"} {
		pod := images.SourcePod(namespace, "minio-"+name, "s3", 9000,
			"--bucket", "photos", "--host", host, "--region", region, "--access-key", accessKey, "--secret-key", secretKey)
		// The Service has the name of the bucket, which appears below its host.
		pod.Labels["app"], pod.Spec.Hostname, pod.Spec.Subdomain = "minio", name, "minio"
		pods = append(pods, pod)
	}
	for name, port := range map[string]int32{"assets": 8080, "minio": 9000} {
		create(t, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: corev1.ServiceSpec{
				ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": name},
				Ports: []corev1.ServicePort{{Port: port}},
			},
		})
	}
	for _, pod := range pods {
		create(t, pod)
	}
	for _, pod := range pods {
		eventually(t, "pod "+pod.Name+" is ready", func(ctx context.Context) error {
			err := kube.Get(ctx, client.ObjectKeyFromObject(pod), pod)
			if err == nil && !images.IsReady(pod) {
				err = fmt.Errorf("it is %s", pod.Status.Phase)
			}
			return err
		})
	}
	return v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: "http://assets.storage.svc:8080"}, v1alpha1.Source{
		Type: v1alpha1.S3, Bucket: "photos", Region: region, Endpoint: "http://" + host + ":9000",
		AccessKey: accessKey, SecretKey: secretKey,
	}
}
