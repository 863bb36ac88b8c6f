//go:build e2e

package olm

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// scorecardImage has the scorecard's own tests, and here also what unpacks the bundle for them.
const scorecardImage = "quay.io/operator-framework/scorecard-test:v1.33.0"

// passesTheScorecard runs all suites of the bundle's scorecard in pods, beside an operator
// for all namespaces. The test of suite darkroom has the permissions that it needs.
func passesTheScorecard(t *testing.T) {
	loadScorecard(t)
	namespace := newNamespace(t, "scorecard")
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "scorecard"}
	create(t, &corev1.ServiceAccount{ObjectMeta: meta},
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"}, Verbs: []string{"create", "get", "delete"},
		}}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: meta.Name}},
		})
	out, err := exec.CommandContext(t.Context(), filepath.Join(binaries, "tools", "operator-sdk"), "scorecard", filepath.Join(repository, "bundle"),
		"--namespace", namespace, "--service-account", meta.Name, "--untar-image", scorecardImage, "--pod-security", "restricted",
		"--wait-time", waitTimeout.String(), "--output", "json").Output()
	results := v1alpha3.TestList{}
	if decoding := json.Unmarshal(out, &results); decoding != nil {
		t.Fatalf("operator-sdk scorecard: %v: %v: %s: %s", err, decoding, out, podsOf(t.Context(), namespace))
	}
	suites := map[string]int{}
	for _, test := range results.Items {
		suites[test.Spec.Labels["suite"]]++
		for _, result := range test.Status.Results {
			if result.State != v1alpha3.PassState {
				t.Errorf("%q: %s is %s: %q: %s", test.Spec.Entrypoint, result.Name, result.State, result.Errors, result.Log)
			}
		}
		if len(test.Status.Results) == 0 {
			t.Errorf("%q has no result", test.Spec.Entrypoint)
		}
	}
	if suites["basic"] != 1 || suites["olm"] != 5 || suites["darkroom"] != 1 {
		t.Errorf("it ran %v tests (%v)", suites, err)
	}
	waitEmpty(t, namespace)
}

func loadScorecard(t *testing.T) {
	t.Helper()
	arguments, err := tools(t.Context(), "env", "tar", "gzip")
	if err != nil {
		t.Fatal(err)
	}
	// The container that unpacks has a command's words as its arguments; that of a test has a
	// command of its own.
	arguments = append(arguments, "--path", "/usr/bin/scorecard-test", "--entrypoint", "/bin/env",
		scorecardImage+"="+filepath.Join(binaries, "tools", "scorecard-test"))
	if err := load(t.Context(), arguments...); err != nil {
		t.Fatal(err)
	}
}
