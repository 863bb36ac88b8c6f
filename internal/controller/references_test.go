package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func withSecret(darkroom *v1alpha1.Darkroom, secret string) *v1alpha1.Darkroom {
	darkroom.Spec.Source = v1alpha1.Source{
		Type: v1alpha1.S3, Bucket: "photos", Region: "eu-west-2",
		CredentialsSecretRef: &v1alpha1.CredentialsSecretRef{Name: secret},
	}
	return darkroom
}

func newSecret(namespace, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		StringData: map[string]string{"accessKey": "a", "secretKey": "s"},
	}
}

// podTemplateOf returns the pod template of a Darkroom. A change of the template rolls the pods.
func podTemplateOf(t *testing.T, namespace, name string) string {
	t.Helper()
	return encoded(mustGet(t, &appsv1.Deployment{}, namespace, name).Spec.Template)
}

func eventuallyRolled(t *testing.T, namespace, name, from string) {
	t.Helper()
	eventuallyIs(t, "the pods are rolled", &appsv1.Deployment{}, namespace, name, func(d *appsv1.Deployment) bool {
		return encoded(d.Spec.Template) != from
	})
}

func TestAChangeOfTheReferencedSecretRollsThePods(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	operator := startOperator(t, namespace)
	secret, other := newSecret(namespace, "keys"), newSecret(namespace, "others")
	create(t, secret)
	create(t, other)
	create(t, withSecret(webFolder(namespace, "photos"), "keys"))
	create(t, webFolder(namespace, "public"))
	for _, name := range []string{"photos", "public"} {
		eventually(t, "the release", installed(namespace, name))
		becomeReady(t, namespace, name)
	}
	eventually(t, "quiet", quiet(operator))
	photos, public := podTemplateOf(t, namespace, "photos"), podTemplateOf(t, namespace, "public")

	change(t, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"secretKey": "another"} })
	eventuallyRolled(t, namespace, "photos", photos)
	becomeReady(t, namespace, "photos")
	eventually(t, "the upgrade", installed(namespace, "photos"))
	// Until the Darkrooms are ready, their pods are listed at intervals.
	eventuallyStatus(t, webFolder(namespace, "photos"), "ready", isReady())
	eventuallyStatus(t, webFolder(namespace, "public"), "ready", isReady())
	eventually(t, "quiet", quiet(operator))

	photos = podTemplateOf(t, namespace, "photos")
	requests := len(operator.requests())
	change(t, other, func(s *corev1.Secret) { s.StringData = map[string]string{"secretKey": "another"} })
	remove(t, other)
	eventually(t, "quiet", quiet(operator))
	if after := len(operator.requests()); after != requests {
		t.Errorf("an unreferenced Secret caused %d requests, want none", after-requests)
	}
	if podTemplateOf(t, namespace, "photos") != photos || podTemplateOf(t, namespace, "public") != public {
		t.Error("an unreferenced Secret rolled pods")
	}
	for _, object := range []string{"photos", "public"} {
		if text := encoded(mustGet(t, &appsv1.Deployment{}, namespace, object)); strings.Contains(text, "another") {
			t.Error("the credential is in the Deployment")
		}
	}
}

func TestAChangeOfTheSecretOfAnAdditionalSourceRollsThePods(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	first, second := newSecret(namespace, "first"), newSecret(namespace, "second")
	create(t, first)
	darkroom := withSecret(webFolder(namespace, "photos"), "first")
	darkroom.Spec.Gate = &v1alpha1.Gate{}
	darkroom.Spec.AdditionalSources = []v1alpha1.AdditionalSource{
		{Name: "old", Fallback: true, Source: darkroom.Spec.Source},
	}
	darkroom.Spec.AdditionalSources[0].CredentialsSecretRef = &v1alpha1.CredentialsSecretRef{Name: "second"}
	create(t, darkroom)
	const ready = v1alpha1.ConditionCredentialsReady
	eventuallyStatus(t, darkroom, "the missing Secret is named",
		has(ready, metav1.ConditionFalse, v1alpha1.ReasonSecretMissing), explains(ready, "Secret second"))
	create(t, second)
	eventuallyStatus(t, darkroom, "both exist", has(ready, metav1.ConditionTrue, v1alpha1.ReasonSecretFound),
		explains(ready, "first, second"))
	for _, secret := range []*corev1.Secret{first, second} {
		eventually(t, "the release", installed(namespace, "photos"))
		template := podTemplateOf(t, namespace, "photos")
		change(t, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"secretKey": "another"} })
		eventuallyRolled(t, namespace, "photos", template)
	}
}

func TestAMissingSecretIsNamedAndHealsWhenItAppears(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	o := startOperator(t, namespace, withPeriod(100*time.Millisecond))
	darkroom := withSecret(webFolder(namespace, "photos"), "keys")
	create(t, darkroom)
	missing := func(status v1alpha1.DarkroomStatus) error {
		return errors.Join(
			says("Secret keys", `"accessKey" and "secretKey"`)(status), isNotReady(v1alpha1.ReasonSecretMissing)(status),
			has(v1alpha1.ConditionCredentialsReady, metav1.ConditionFalse, v1alpha1.ReasonSecretMissing)(status))
	}
	eventuallyStatus(t, darkroom, "the Secret is named", missing)
	waiting := podTemplateOf(t, namespace, "photos")
	// The Secret is read once, and then counts as missing until it appears in the caches.
	eventually(t, "rest", quiet(o))
	if reads := secretReads(o); reads != 1 {
		t.Errorf("%d reads of the Secret, want 1", reads)
	}

	secret := newSecret(namespace, "keys")
	create(t, secret)
	eventuallyRolled(t, namespace, "photos", waiting)
	becomeReady(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "healed", isReady(),
		has(v1alpha1.ConditionCredentialsReady, metav1.ConditionTrue, v1alpha1.ReasonSecretFound))

	// Running pods are not replaced by pods that cannot start.
	running := podTemplateOf(t, namespace, "photos")
	remove(t, secret)
	eventuallyStatus(t, darkroom, "the Secret is named again", missing)
	if podTemplateOf(t, namespace, "photos") != running {
		t.Error("the loss of the Secret rolled the pods")
	}
	replaced := newSecret(namespace, "keys")
	replaced.StringData["accessKey"] = "another"
	create(t, replaced)
	eventuallyRolled(t, namespace, "photos", running)

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source = webFolder(namespace, "photos").Spec.Source })
	eventuallyStatus(t, darkroom, "no word on credentials", lacks(v1alpha1.ConditionCredentialsReady))
}

func TestAMissingKeyIsNamed(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	create(t, newSecret(namespace, "keys"))
	darkroom := withSecret(webFolder(namespace, "photos"), "keys")
	darkroom.Spec.Source.CredentialsSecretRef.SecretKeyKey = "secret-id"
	install(t, darkroom)

	// No kubelet runs here. The test writes the status that a kubelet would report.
	deployment := mustGet(t, &appsv1.Deployment{}, namespace, "photos")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos-1", Labels: deployment.Spec.Selector.MatchLabels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "darkroom", Image: "darkroom"}}},
	}
	create(t, pod)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "darkroom", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "CreateContainerConfigError", Message: "couldn't find key secret-id in Secret " + namespace + "/keys",
		}}},
	}
	if err := kube.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	failToStart(t, namespace, "photos")
	eventuallyStatus(t, darkroom, "the key is named", says(`"secret-id"`, "Secret keys"),
		has(v1alpha1.ConditionCredentialsReady, metav1.ConditionFalse, v1alpha1.ReasonSecretKeyMissing))
}

func TestMissingCABundlesAreNamed(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	create(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "authorities"},
		Data:       map[string]string{"other.crt": "x"},
	})
	for name, test := range map[string]struct {
		ref  v1alpha1.CABundleRef
		says string
	}{
		"config-map": {
			ref: v1alpha1.CABundleRef{Name: "authorities"}, says: `ConfigMap authorities has no key "ca.crt"`,
		},
		"secret": {
			ref:  v1alpha1.CABundleRef{Kind: v1alpha1.CABundleSecret, Name: "authorities"},
			says: "Secret authorities does not exist in namespace " + namespace + ". Create it",
		},
	} {
		darkroom := webFolder(namespace, name)
		darkroom.Spec.Gate, darkroom.Spec.Source.CABundleRef = &v1alpha1.Gate{}, &test.ref // only the gate has CA bundles
		install(t, darkroom)
		// No kubelet runs here, so nothing tries to start the pod.
		failToStart(t, namespace, name)
		eventuallyStatus(t, darkroom, "the reference is named", says(test.says), isNotReady(v1alpha1.ReasonPodsFailing))
	}
}

// secretReads counts an operator's reads of the Secret keys from the API server.
func secretReads(o *operator) int {
	return len(slices.DeleteFunc(o.requests(), func(line string) bool {
		return !strings.HasPrefix(line, http.MethodGet) || !strings.HasSuffix(line, "/secrets/keys")
	}))
}

// relabel changes only the metadata of a Secret. The Secret gets a new resource version, as after a re-encryption.
func relabel(t *testing.T, namespace string) {
	t.Helper()
	change(t, mustGet(t, &corev1.Secret{}, namespace, "keys"),
		func(s *corev1.Secret) { s.Labels = map[string]string{"rewritten": "yes"} })
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
				change(t, mustGet(t, &corev1.Secret{}, namespace, "keys"),
					func(s *corev1.Secret) { s.Data["accessKey"] = []byte("b") })
			},
			rolls: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := newNamespace(t)
			first := startOperator(t, namespace)
			create(t, newSecret(namespace, "keys"))
			install(t, withSecret(webFolder(namespace, "photos"), "keys"))
			becomeReady(t, namespace, "photos")
			eventually(t, "rest", quiet(first))
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
