package controller_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// secretReads counts reads of the Secret keys past the caches.
type secretReads struct{ atomic.Int64 }

func (r *secretReads) option() operatorOption {
	return withTransport(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/secrets/keys") {
				r.Add(1)
			}
			return next.RoundTrip(request)
		})
	})
}

// eventuallyRead waits until the operator has read the Secret keys at least as often.
func (r *secretReads) eventuallyRead(t *testing.T, least int64) {
	t.Helper()
	eventually(t, "a read of the Secret", func(context.Context) error {
		if reads := r.Load(); reads < least {
			return fmt.Errorf("%d reads", reads)
		}
		return nil
	})
}

// relabel changes nothing but the metadata of a Secret, which gets another version, as it
// does when it is encrypted with another key.
func relabel(t *testing.T, namespace, value string) {
	t.Helper()
	change(t, mustGet(t, &corev1.Secret{}, namespace, "keys"), func(s *corev1.Secret) {
		s.Labels = map[string]string{"rewritten": value}
	})
}

// credentialed installs the Darkroom photos, which references the Secret keys.
func credentialed(t *testing.T, options ...operatorOption) (*operator, string) {
	t.Helper()
	namespace := newNamespace(t)
	o := startOperator(t, namespace, options...)
	create(t, newSecret(namespace, "keys"))
	create(t, withSecret(webFolder(namespace, "photos"), "keys"))
	eventually(t, "the release", installed(namespace, "photos"))
	becomeReady(t, namespace, "photos")
	eventually(t, "quiet", quiet(o))
	return o, namespace
}

func TestARestartRollsNoPodsOfARewrittenSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		running, stopped func(t *testing.T, namespace string)
		mostReads        int64
		rolls            bool
	}{
		"nothing was rewritten": {mostReads: 1},
		"rewritten while an operator ran": {
			running:   func(t *testing.T, namespace string) { relabel(t, namespace, "running") },
			mostReads: 1,
		},
		"rewritten while none ran": {
			stopped:   func(t *testing.T, namespace string) { relabel(t, namespace, "stopped") },
			mostReads: 1,
		},
		"changed while none ran": {
			stopped: func(t *testing.T, namespace string) {
				change(t, mustGet(t, &corev1.Secret{}, namespace, "keys"), func(s *corev1.Secret) { s.Data["accessKey"] = []byte("b") })
			},
			mostReads: 1,
			rolls:     true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reads := &secretReads{}
			first, namespace := credentialed(t, reads.option())
			pods := podTemplateOf(t, namespace, "photos")
			if c.running != nil {
				before := reads.Load()
				c.running(t, namespace)
				reads.eventuallyRead(t, before+1)
				eventually(t, "quiet", quiet(first))
			}
			first.kill()
			if c.stopped != nil {
				c.stopped(t, namespace)
			}

			again := &secretReads{}
			second := startOperator(t, namespace, again.option())
			if c.rolls {
				eventuallyRolled(t, namespace, "photos", pods)
				return
			}
			eventually(t, "rest", quiet(second))
			if podTemplateOf(t, namespace, "photos") != pods {
				t.Error("the pods were rolled")
			}
			if writes := second.requests.writes.Load(); writes > 0 {
				t.Errorf("%d writes, want none", writes)
			}
			if now := again.Load(); now > c.mostReads {
				t.Errorf("%d reads of the Secret, want at most %d", now, c.mostReads)
			}
		})
	}
}

// A Secret that is missing is asked for once, and then missing until the caches show it.
func TestAMissingSecretIsAskedForOnce(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	reads := &secretReads{}
	startOperator(t, namespace, reads.option(), withPeriod(100*time.Millisecond))
	darkroom := withSecret(webFolder(namespace, "photos"), "keys")
	create(t, darkroom)
	eventually(t, "the release", installed(namespace, "photos"))
	time.Sleep(time.Second)
	if now := reads.Load(); now != 1 {
		t.Errorf("%d reads of the Secret, want 1", now)
	}
	waiting := podTemplateOf(t, namespace, "photos")
	create(t, newSecret(namespace, "keys"))
	eventuallyRolled(t, namespace, "photos", waiting)
}
