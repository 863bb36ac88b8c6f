package controller_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// secretReads counts an operator's reads of the Secret keys past the caches.
func secretReads(o *operator) int {
	return len(slices.DeleteFunc(o.requests(), func(line string) bool {
		return !strings.HasPrefix(line, http.MethodGet) || !strings.HasSuffix(line, "/secrets/keys")
	}))
}

// relabel changes nothing but the metadata of a Secret, which gets another version, as it
// does when it is encrypted with another key.
func relabel(t *testing.T, namespace string) {
	t.Helper()
	change(t, mustGet(t, &corev1.Secret{}, namespace, "keys"), func(s *corev1.Secret) { s.Labels = map[string]string{"rewritten": "yes"} })
}

// credentialed installs the Darkroom photos, which references the Secret keys.
func credentialed(t *testing.T) (*operator, string) {
	t.Helper()
	namespace := newNamespace(t)
	o := startOperator(t, namespace)
	create(t, newSecret(namespace, "keys"))
	install(t, withSecret(webFolder(namespace, "photos"), "keys"))
	becomeReady(t, namespace, "photos")
	eventually(t, "rest", quiet(o))
	return o, namespace
}

func TestARestartRollsNoPodsOfARewrittenSecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		running, stopped func(t *testing.T, namespace string)
		rolls            bool
	}{
		"nothing was rewritten":           {},
		"rewritten while an operator ran": {running: relabel},
		"rewritten while none ran":        {stopped: relabel},
		"changed while none ran": {
			stopped: func(t *testing.T, namespace string) {
				change(t, mustGet(t, &corev1.Secret{}, namespace, "keys"), func(s *corev1.Secret) { s.Data["accessKey"] = []byte("b") })
			},
			rolls: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, namespace := credentialed(t)
			pods := podTemplateOf(t, namespace, "photos")
			if c.running != nil {
				before := secretReads(first)
				c.running(t, namespace)
				eventually(t, "a read of the Secret", func(context.Context) error {
					if reads := secretReads(first); reads <= before {
						return fmt.Errorf("%d reads", reads)
					}
					return nil
				})
				eventually(t, "rest", quiet(first))
			}
			first.kill()
			if c.stopped != nil {
				c.stopped(t, namespace)
			}

			second := startOperator(t, namespace)
			if c.rolls {
				eventuallyRolled(t, namespace, "photos", pods)
				return
			}
			eventually(t, "rest", quiet(second))
			if podTemplateOf(t, namespace, "photos") != pods {
				t.Error("the pods were rolled")
			}
			if writes := second.writes(); writes > 0 {
				t.Errorf("%d writes, want none", writes)
			}
			if now := secretReads(second); now > 1 {
				t.Errorf("%d reads of the Secret, want at most 1", now)
			}
		})
	}
}
