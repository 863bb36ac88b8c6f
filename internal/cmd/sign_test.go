package cmd

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func runSign(stdin string, args ...string) (string, error) {
	command := newSign()
	var out bytes.Buffer
	command.SetArgs(args)
	command.SetIn(strings.NewReader(stdin))
	command.SetOut(&out)
	command.SetErr(&out)
	err := command.Execute()
	return out.String(), err
}

func TestURLsAreSignedWithTheFirstKey(t *testing.T) {
	const keys = "\nthe first key, 0123456789\nthe second key, 0123456789\n"
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	// Of gate/testdata/signatures.txt.
	const want = "https://a.example.com/a.jpg?s=14289c89fd5f9cd6b753350748fd2c7f6d27bf90d6eebe7decdff2e486fc0e7a&w=300\n"
	for _, args := range [][]string{{"--keys", file}, {"--keys", "-"}} {
		got, err := runSign(keys, append(args, "https://a.example.com/a.jpg?w=300", "https://a.example.com/a.jpg?w=300")...)
		if err != nil || got != want+want {
			t.Errorf("%v: %s %v", args, got, err)
		}
	}
	got, err := runSign(keys, "--keys", "-", "--expires", "1h", "/a.jpg")
	if err != nil || !strings.HasPrefix(got, "/a.jpg?expires=") {
		t.Errorf("%s %v", got, err)
	}
}

// TestURLsAreSignedForADarkroom uses the key that the Darkroom references, read with the caller's permissions.
func TestURLsAreSignedForADarkroom(t *testing.T) {
	group := v1alpha1.GroupVersion
	signed := func(key string) *v1alpha1.Darkroom {
		return darkrooms.New("photos", "team-a").Spec(func(s *v1alpha1.DarkroomSpec) {
			s.Gate = &v1alpha1.Gate{Signing: &v1alpha1.GateSigning{
				SecretRef: v1alpha1.SigningSecretRef{Name: "photos-signing", Key: key},
			}}
		}).Obj()
	}
	darkroomsOf := "/apis/" + group.String() + "/namespaces/team-a/darkrooms/"
	resource := func(name, kind string) []metav1.APIResource {
		return []metav1.APIResource{{Name: name, Namespaced: true, Kind: kind, Verbs: []string{"get"}}}
	}
	version := metav1.GroupVersionForDiscovery{GroupVersion: group.String(), Version: group.Version}
	t.Setenv("KUBECONFIG", kubeconfigServing(t, map[string]any{
		"/api":    metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}},
		"/api/v1": metav1.APIResourceList{GroupVersion: "v1", APIResources: resource("secrets", "Secret")},
		"/apis": metav1.APIGroupList{Groups: []metav1.APIGroup{{
			Name: group.Group, Versions: []metav1.GroupVersionForDiscovery{version},
		}}},
		"/apis/" + group.String(): metav1.APIResourceList{
			GroupVersion: group.String(), APIResources: resource("darkrooms", v1alpha1.Kind),
		},
		darkroomsOf + "photos":   signed(""),
		darkroomsOf + "other":    signed("others"),
		darkroomsOf + "unsigned": darkrooms.New("unsigned", "team-a").Obj(),
		"/api/v1/namespaces/team-a/secrets/photos-signing": corev1.Secret{
			TypeMeta: metav1.TypeMeta{Kind: "Secret", APIVersion: "v1"},
			Data:     map[string][]byte{"keys": []byte("the first key, 0123456789")},
		},
	}, http.NotFound))
	got, err := runSign("", "-n", "team-a", "photos", "https://a.example.com/a.jpg?w=300")
	const want = "https://a.example.com/a.jpg?s=14289c89fd5f9cd6b753350748fd2c7f6d27bf90d6eebe7decdff2e486fc0e7a&w=300\n"
	if err != nil || got != want {
		t.Errorf("%s %v", got, err)
	}
	for name, reason := range map[string]string{
		"other": "Secret photos-signing has no key others", "unsigned": "does not set spec.gate.signing", "hidden": "forbidden",
	} {
		if _, err := runSign("", name, "/a.jpg"); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %s", name, err, reason)
		}
	}
}

func TestAURLThatCannotBeSignedIsNamed(t *testing.T) {
	for reason, args := range map[string][]string{
		"specify a Darkroom and URLs": {"/a.jpg"},
		"16 characters":               {"--keys", "-", "/a.jpg"},
		"read keys":                   {"--keys", "missing", "/a.jpg"},
		"requires at least 1 arg":     {"--keys", "-"},
		"must be more than 0":         {"--keys", "-", "--expires", "-1h", "/a.jpg"},
		"URLs do not expire":          {"--keys", "-", "--expires", "0", "/a.jpg"},
	} {
		got, err := runSign("short-key", args...)
		if err == nil || !strings.Contains(err.Error(), reason) || strings.Contains(got, "short-key") {
			t.Errorf("%v: %v, want %s", args, err, reason)
		}
	}
	for arg, reason := range map[string]string{
		"https://a.example.com":                 "must be the URL of an image",
		"a.example.com/a.jpg?w=300":             "must be the URL of an image",
		"a.jpg":                                 "must be the URL of an image",
		"":                                      "must be the URL of an image",
		"https:a.jpg":                           "must be the URL of an image",
		"https://a.example.com/a.jpg?w=1;h=1":   "parse the parameters of",
		"https://a.example.com/a.jpg?preset=%":  "parse the parameters of",
		"https://a.example.com/a.jpg?a=1&w=%zz": "parse the parameters of",
	} {
		got, err := runSign("the first key, 0123456789", "--keys", "-", arg)
		if err == nil || !strings.Contains(err.Error(), reason) || strings.Contains(got, "s=") {
			t.Errorf("%s: %s, %v; want %s", arg, got, err, reason)
		}
	}
}
