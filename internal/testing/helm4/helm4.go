// Package helm4 renders charts with Helm 4, which users and Flux use. The operator and most tests use Helm 3.
package helm4

import (
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

// Release identifies a release and the cluster for which it is rendered.
type Release struct {
	Name, Namespace string
	// KubeVersion is a version such as v1.30.0; empty means the version of Helm's libraries.
	KubeVersion string
	// APIVersions are the API versions that the cluster serves in addition to the built-in ones.
	APIVersions []string
}

// Render returns the rendered templates of the chart in a directory, by name. The values are validated against the
// chart's schema.
func Render(directory string, release Release, values map[string]any) (map[string]string, error) {
	chart, err := loader.Load(directory)
	if err != nil {
		return nil, err
	}
	capabilities := common.DefaultCapabilities.Copy()
	if release.KubeVersion != "" {
		version, err := common.ParseKubeVersion(release.KubeVersion)
		if err != nil {
			return nil, err
		}
		capabilities.KubeVersion = *version
	}
	capabilities.APIVersions = append(slices.Clone(capabilities.APIVersions), release.APIVersions...)
	options := common.ReleaseOptions{Name: release.Name, Namespace: release.Namespace, Revision: 1, IsInstall: true}
	toRender, err := util.ToRenderValues(chart, values, options, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, toRender)
}

// Documents returns the YAML documents in rendered templates, sorted, without Helm's comments with the names of the
// templates.
func Documents(templates map[string]string) []string {
	var documents []string
	for name, text := range templates {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq("\n"+text, "\n---") {
			document = strings.TrimSpace(document)
			if first, rest, _ := strings.Cut(document, "\n"); strings.HasPrefix(first, "# Source: ") {
				document = strings.TrimSpace(rest)
			}
			if document != "" {
				documents = append(documents, document)
			}
		}
	}
	slices.Sort(documents)
	return documents
}
