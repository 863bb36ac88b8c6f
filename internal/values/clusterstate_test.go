package values

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestRefusedHostsAreLeftOut(t *testing.T) {
	translator, err := New(Options{BaseDomain: "example.net"})
	if err != nil {
		t.Fatal(err)
	}
	darkroom := photos().SubDomains("b", "a", "c").Obj()
	for _, test := range []struct {
		refused []string
		want    []any
	}{
		{nil, []any{"a.example.net", "b.example.net", "c.example.net"}},
		{[]string{"b.example.net"}, []any{"a.example.net", "c.example.net"}},
		{[]string{"a.example.net", "b.example.net", "c.example.net"}, []any{}},
	} {
		values, err := translator.ValuesIn(darkroom, ClusterState{RefusedHosts: test.refused})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, values["hosts"]); diff != "" {
			t.Errorf("without %v (-want +got):\n%s", test.refused, diff)
		}
	}
}

func TestAnotherVersionOfTheSecretMakesOtherPods(t *testing.T) {
	translator, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	template := v1alpha1.PodTemplate{Annotations: map[string]string{"example.com/note": "mine", annotationCredentials: "forged"}}
	annotations := func(darkroom *v1alpha1.Darkroom, version string) any {
		values, err := translator.ValuesIn(darkroom, ClusterState{CredentialsVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		return values["podAnnotations"]
	}
	reference := photos().S3("pictures", "eu-west-2").CredentialsSecret("keys").PodTemplate(template).Obj()
	want := map[string]any{"example.com/note": "mine", annotationCredentials: "2"}
	if diff := cmp.Diff(want, annotations(reference, "2")); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if reference.Spec.PodTemplate.Annotations[annotationCredentials] != "forged" {
		t.Error("the Darkroom was changed")
	}
	for why, darkroom := range map[string]*v1alpha1.Darkroom{
		"a source without credentials": photos().WebFolder("https://example.com").Obj(),
		"inline keys":                  photos().S3("pictures", "eu-west-2").InlineKeys("a", "s").Obj(),
	} {
		if got := annotations(darkroom, "2"); got != nil {
			t.Errorf("%s: annotations are %v", why, got)
		}
	}
}
