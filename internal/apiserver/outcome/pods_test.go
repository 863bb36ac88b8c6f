package outcome

import (
	"fmt"
	"strings"
	"testing"
)

func TestPodsAreReplacedIfTheirTemplateChanges(t *testing.T) {
	const service = "kind: Service\nspec: {type: ClusterIP}\n"
	deployment := func(replicas int, image string) string {
		return fmt.Sprintf("kind: Deployment\nspec:\n  replicas: %d\n  template: {spec: {image: %q}}\n", replicas, image)
	}
	manifest := func(documents ...string) string { return "---\n" + strings.Join(documents, "---\n") }
	before := manifest(service, deployment(1, "a"))
	for name, c := range map[string]struct {
		before, wanted string
		newSecrets     bool
		want           string
	}{
		"nothing changes":                {before: before, wanted: before, want: podsKeep},
		"another order":                  {before: before, wanted: manifest(deployment(1, "a"), service), want: podsKeep},
		"other replicas":                 {before: before, wanted: manifest(service, deployment(2, "a")), want: podsKeep},
		"another Service":                {before: before, wanted: manifest(deployment(1, "a")), want: podsKeep},
		"another image":                  {before: before, wanted: manifest(service, deployment(1, "b")), want: podsRoll},
		"the Deployment goes":            {before: before, wanted: manifest(service), want: podsRoll},
		"secrets were sent":              {before: before, wanted: before, newSecrets: true, want: PodsUnknown},
		"and the template, too":          {before: before, wanted: manifest(deployment(1, "b")), newSecrets: true, want: podsRoll},
		"the manifest is not valid YAML": {before: before, wanted: "kind: [", want: ""},
		"the stored one is not":          {before: "kind: [", wanted: before, want: ""},
	} {
		got, err := (&Change{NewSecrets: c.newSecrets}).Pods(c.before, c.wanted)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: pods are %q, %v; want %q", name, got, err, c.want)
		}
	}
}
