package status

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// Pods do not report a file that they cannot mount.
func TestAFileThatPodsCannotMountIsNamed(t *testing.T) {
	ofConfigMap := photos().Obj()
	ofConfigMap.Spec.Source.CABundleRef = &v1alpha1.CABundleRef{Name: "file", Key: "key"}
	ofSecret := photos().Obj()
	ofSecret.Spec.Gate = &v1alpha1.Gate{
		Signing: &v1alpha1.GateSigning{SecretRef: v1alpha1.SigningSecretRef{Name: "file", Key: "key"}},
	}
	meta := metav1.ObjectMeta{Namespace: "team-a", Name: "file"}
	for name, test := range map[string]struct {
		darkroom *v1alpha1.Darkroom
		file     client.Object
		want     string // empty if the pods can mount the file
	}{
		"no file is mounted": {photos().Obj(), nil, ""},
		"no ConfigMap":       {ofConfigMap, nil, "ConfigMap file does not exist"},
		"a Secret of the same name": {
			ofConfigMap, &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"key": nil}},
			"ConfigMap file does not exist",
		},
		"a ConfigMap without the key": {
			ofConfigMap,
			&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"other": ""}}, `ConfigMap file has no key "key"`,
		},
		"a ConfigMap with the key": {
			ofConfigMap,
			&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"key": ""}}, "",
		},
		"a ConfigMap with the key in binaryData": {
			ofConfigMap,
			&corev1.ConfigMap{ObjectMeta: meta, BinaryData: map[string][]byte{"key": {1}}}, "",
		},
		"no Secret": {ofSecret, nil, "Secret file does not exist"},
		"a ConfigMap of the same name": {
			ofSecret, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"key": ""}},
			"Secret file does not exist",
		},
		"a Secret without the key": {ofSecret, &corev1.Secret{ObjectMeta: meta}, `Secret file has no key "key"`},
		"a Secret with the key": {
			ofSecret, &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"key": nil}},
			"",
		},
		"a Secret with the key in another namespace": {
			ofSecret,
			&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "file"},
				Data:       map[string][]byte{"key": nil},
			}, "Secret file does not exist",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			if test.file != nil {
				objects = append(objects, test.file)
			}
			o := Observation{Darkroom: test.darkroom}
			_, err := newBench(t, objects...).problem(t.Context(), &o, nil)
			expect.NoError(t, err)
			found := o.Problem != nil
			if found != (test.want != "") || found && !strings.HasPrefix(o.Problem.Message, test.want) {
				t.Errorf("got problem %+v, want %q", o.Problem, test.want)
			}
		})
	}
	t.Run("it cannot be read", func(t *testing.T) {
		b, failure := newBench(t), errors.New("not now")
		b.Uncached = interceptor.NewClient(fake.NewFakeClient(), interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, types.NamespacedName, client.Object, ...client.GetOption) error {
				return failure
			},
		})
		o := Observation{Darkroom: ofSecret}
		if _, err := b.problem(t.Context(), &o, nil); !errors.Is(err, failure) || o.Problem != nil {
			t.Errorf("got error %v and problem %+v", err, o.Problem)
		}
	})
}
