package controller_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
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

func TestARewriteOfTheReferencedSecretRollsNoPods(t *testing.T) {
	t.Parallel()
	for name, rewrite := range map[string]func(t *testing.T, namespace string){
		"a label": func(t *testing.T, namespace string) { relabel(t, namespace, "once") },
		"a key unused": func(t *testing.T, namespace string) {
			change(t, mustGet(t, &corev1.Secret{}, namespace, "keys"), func(s *corev1.Secret) { s.Data["other"] = []byte("x") })
		},
		"the same data in a new Secret": func(t *testing.T, namespace string) {
			if err := kube.Delete(t.Context(), newSecret(namespace, "keys")); err != nil {
				t.Fatal(err)
			}
			create(t, newSecret(namespace, "keys"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reads := &secretReads{}
			o, namespace := credentialed(t, reads.option())
			pods := podTemplateOf(t, namespace, "photos")
			before := reads.Load()
			rewrite(t, namespace)
			reads.eventuallyRead(t, before+1)
			eventually(t, "quiet", quiet(o))
			if podTemplateOf(t, namespace, "photos") != pods {
				t.Error("the pods were rolled")
			}

			change(t, mustGet(t, &corev1.Secret{}, namespace, "keys"), func(s *corev1.Secret) { s.Data["secretKey"] = []byte("another") })
			eventuallyRolled(t, namespace, "photos", pods)
		})
	}
}

func TestARewriteOfASharedSecretIsReadOnce(t *testing.T) {
	t.Parallel()
	reads := &secretReads{}
	o, namespace := credentialed(t, reads.option())
	const more = 6
	for i := range more {
		name := fmt.Sprintf("more-%d", i)
		create(t, withSecret(webFolder(namespace, name), "keys"))
		eventually(t, "the release", installed(namespace, name))
	}
	eventually(t, "quiet", quiet(o))

	before, written := reads.Load(), o.requests.writes.Load()
	relabel(t, namespace, "once")
	reads.eventuallyRead(t, before+1)
	eventually(t, "quiet", quiet(o))
	// Two workers may begin at one time.
	if now := reads.Load() - before; now > 2 {
		t.Errorf("%d reads of one Secret", now)
	}
	if now := o.requests.writes.Load(); now != written {
		t.Errorf("%d writes", now-written)
	}
}

func TestARestartRollsNoPodsOfARewrittenSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		running, stopped func(t *testing.T, namespace string)
		mostReads        int64
		rolls            bool
	}{
		"nothing was rewritten": {},
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

// Earlier releases of the operator compared versions of the Secret alone, and put the
// same on the pods.
func TestPodsOfAnEarlierOperatorAreNotRolled(t *testing.T) {
	t.Parallel()
	first, namespace := credentialed(t)
	pods := podTemplateOf(t, namespace, "photos")
	first.kill()
	state := mustGet(t, &corev1.Secret{}, namespace, "photos-credentials-state")
	if err := kube.Delete(t.Context(), state); err != nil {
		t.Fatal(err)
	}

	reads := &secretReads{}
	second := startOperator(t, namespace, reads.option())
	eventually(t, "the state", func(ctx context.Context) error {
		_, err := get(ctx, &corev1.Secret{}, namespace, state.Name)
		return err
	})
	eventually(t, "rest", quiet(second))
	relabel(t, namespace, "later")
	reads.eventuallyRead(t, 2)
	eventually(t, "rest", quiet(second))
	if podTemplateOf(t, namespace, "photos") != pods {
		t.Error("the pods were rolled")
	}
}

func TestNoDigestOfCredentialsIsPublic(t *testing.T) {
	t.Parallel()
	o, namespace := credentialed(t)
	state := mustGet(t, &corev1.Secret{}, namespace, "photos-credentials-state")
	darkroom := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos")
	if !metav1.IsControlledBy(state, darkroom) {
		t.Error("the state does not belong to the Darkroom")
	}
	digest := string(state.Data["digest"])
	if digest == "" {
		t.Fatal("no digest is stored")
	}
	deployment := mustGet(t, &appsv1.Deployment{}, namespace, "photos")
	for _, object := range []client.Object{deployment, darkroom, &corev1.Secret{ObjectMeta: state.ObjectMeta}} {
		if strings.Contains(encoded(object), digest[:8]) {
			t.Errorf("%T shows the digest", object)
		}
	}

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source = webFolder(namespace, "photos").Spec.Source })
	eventually(t, "the state is gone", func(ctx context.Context) error {
		if _, err := get(ctx, &corev1.Secret{}, namespace, state.Name); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there (%w)", err)
		}
		return nil
	})
	eventually(t, "rest", quiet(o))
}

func TestAForeignSecretIsNotTakenForTheState(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	foreign := newSecret(namespace, "photos-credentials-state")
	create(t, foreign)
	create(t, newSecret(namespace, "keys"))
	darkroom := withSecret(webFolder(namespace, "photos"), "keys")
	create(t, darkroom)
	eventuallyStatus(t, darkroom, "the Secret is named", func(status v1alpha1.DarkroomStatus) error {
		if !strings.Contains(encoded(status.Conditions), "photos-credentials-state exists and does not belong") {
			return fmt.Errorf("conditions are %+v", status.Conditions)
		}
		return nil
	})
	if now := mustGet(t, &corev1.Secret{}, namespace, foreign.Name); now.ResourceVersion != foreign.ResourceVersion {
		t.Error("the Secret was written")
	}
}
