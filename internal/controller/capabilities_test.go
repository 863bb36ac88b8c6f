package controller

import (
	"regexp"
	"strings"
	"testing"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
)

// The operator discovers only chartResources. The operator would treat any other API that the chart looks up as
// missing.
func TestTheChartAsksForNothingElse(t *testing.T) {
	chrt, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, template := range chrt.Templates {
		for _, match := range regexp.MustCompile(`Capabilities\.(\S+)(?: "([^"]*)")?`).FindAllSubmatch(template.Data, -1) {
			found++
			known := strings.HasPrefix(string(match[1]), "KubeVersion.")
			for _, resource := range chartResources {
				known = known || string(match[1]) == "APIVersions.Has" && string(match[2]) == resource.GroupVersion().String()
			}
			if !known {
				t.Errorf("%s looks up %s, which is not in chartResources", template.Name, match[0])
			}
		}
	}
	if found == 0 {
		t.Error("the chart looks up nothing, so the operator need not discover it")
	}
}
