// Package revision holds what the parts of internal/release have in common about Helm's
// releases: how one is copied, and what of it is kept in memory.
package revision

import (
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
)

// Copy copies the parts of a release that this operator changes. Everything below the
// top level except Info is shared and must not be changed.
func Copy(in *helmrelease.Release) *helmrelease.Release {
	out := *in
	info := *in.Info
	out.Info = &info
	return &out
}

// Summary returns the fields of a release that are needed to detect changes. It has no
// chart, no values and no hooks, only the first line of its notes, and the identity of its
// manifest in place of the manifest. Those are most of a release's memory, and are read again
// when something must be written.
func Summary(release *helmrelease.Release) *helmrelease.Release {
	out := Copy(release)
	out.Chart, out.Config, out.Hooks = nil, nil, nil
	out.Manifest = digest.Identity(release.Manifest)
	notes, _, _ := strings.Cut(release.Info.Notes, "\n")
	out.Info.Notes = strings.Clone(notes)
	return out
}
