//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/signing"
)

// withSignature returns the path and query of the image, signed.
func withSignature(key string, width int) string {
	target := url.URL{Path: imagePath}
	if width > 0 {
		target.RawQuery = fmt.Sprintf("w=%d", width)
	}
	return signing.Sign(key, target, time.Time{}).String()
}

// Signing is enabled, its keys are rotated, and it is disabled again. Clients with signed URLs must not lose a request.
// Unsigned requests are rejected while signing is enabled.
func TestSignedURLs(t *testing.T) {
	t.Parallel()
	const first, second = "the first key, 0123456789", "the second key, 0123456789"
	darkroom := newGated(t, "signed", theSources.folderURL, v1alpha1.Gate{})
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Probe = &v1alpha1.Probe{Path: imagePath} })
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: darkroom.Namespace, Name: "signing"},
		StringData: map[string]string{"keys": first},
	}
	create(t, secret)
	waitSettled(t, darkroom)
	host := hostOf(darkroom)

	var key atomic.Value
	key.Store(first)
	load := startLoadBy(func() (string, string) { return ingressURL, host },
		func(ctx context.Context, url, host string, width int) error {
			status, body, err := through(ctx, url, host, withSignature(key.Load().(string), width))
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("%d %.200q", status, body)
			}
			return err
		})
	load.during(t, "signing is turned on", func() {
		change(t, darkroom, func(d *v1alpha1.Darkroom) {
			d.Spec.Gate.Signing = &v1alpha1.GateSigning{SecretRef: v1alpha1.SigningSecretRef{Name: "signing"}}
		})
		waitSettled(t, darkroom)
		waitStatus(t, host, http.StatusForbidden)
	})
	pod := onlyPod(t, darkroom).Name
	load.during(t, "keys are rotated", func() {
		change(t, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"keys": second + "\n" + first} })
		eventually(t, "the second key verifies", func(ctx context.Context) error {
			status, body, err := through(ctx, ingressURL, host, withSignature(second, 90))
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("%d %.200q", status, body)
			}
			return err
		})
		key.Store(second)
		change(t, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"keys": second} })
		eventually(t, "the first key is refused", func(ctx context.Context) error {
			status, _, err := through(ctx, ingressURL, host, withSignature(first, 91))
			if err == nil && status != http.StatusForbidden {
				err = fmt.Errorf("%d", status)
			}
			return err
		})
	})
	if now := onlyPod(t, darkroom).Name; now != pod {
		t.Errorf("a rotation has replaced pod %s by %s", pod, now)
	}
	for _, log := range []string{
		logOf(t, darkroom.Namespace, pod, "gate"), logOf(t, darkroom.Namespace, pod, "darkroom"),
		gateMetrics(t, darkroom),
	} {
		if strings.Contains(log, second) {
			t.Error("a key is in a log or a metric")
		}
	}
	load.during(t, "signing is turned off", func() {
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Gate.Signing = nil })
		waitSettled(t, darkroom)
		waitServing(t, darkroom)
	})
	load.end(t)
}

func logOf(t *testing.T, namespace, pod, container string) string {
	t.Helper()
	raw, err := clientset.CoreV1().Pods(namespace).GetLogs(pod,
		&corev1.PodLogOptions{Container: container}).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
