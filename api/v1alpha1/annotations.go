package v1alpha1

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations that users set on a Darkroom.
const (
	// AnnotationPaused suspends the reconciliation of the Darkroom if set to "true".
	AnnotationPaused = "deployments.example.com/paused"
	// AnnotationReconcilePeriod overrides the operator's resync period for one
	// Darkroom; a Go duration such as 30s.
	AnnotationReconcilePeriod = "deployments.example.com/reconcile-period"
	// AnnotationRequestedAt triggers an immediate reconcile when it is set to a new value, such as the current time.
	AnnotationRequestedAt = "deployments.example.com/requested-at"
)

// AnnotationInstallation names the installation of the operator that handles a Darkroom. The operator sets it if it is
// missing. Users can change it to move the Darkroom to another installation. On the Lease of a host, it names the
// installation that claimed the host.
const AnnotationInstallation = "deployments.example.com/installation"

// AnnotationRollout is set by the operator on each Deployment. It records who caused the last replacement of its pods.
const AnnotationRollout = "deployments.example.com/rollout"

// LabelDarkroom is set on every object that belongs to a Darkroom, including Helm's release Secrets. Its value is the
// name of the Darkroom. The operator's caches are limited to objects with this label.
const LabelDarkroom = "deployments.example.com/darkroom"

// LabelDarkroomUID is set on Helm's release Secrets and on the ControllerRevisions of revisions. Its value is the UID
// of the Darkroom. Helm clients keep labels when they rewrite a Secret, but drop owner references.
const LabelDarkroomUID = "deployments.example.com/darkroom-uid"

// LabelHost is set on the Lease of each host in the operator's namespace. The name of the Lease is the host, and its
// holder is the Darkroom that holds the host, as NAMESPACE/NAME.
const LabelHost = "deployments.example.com/host"

// AnnotationClaimedFor is set on the Lease of a host: the UID/GENERATION for which the Darkroom last claimed the host.
const AnnotationClaimedFor = "deployments.example.com/claimed-for"

// IsPaused reports whether the annotation AnnotationPaused suspends the reconciliation of a Darkroom. Deletions are
// never paused, because that would block the deletion of the namespace.
func IsPaused(darkroom metav1.Object) bool {
	return darkroom.GetAnnotations()[AnnotationPaused] == "true" && darkroom.GetDeletionTimestamp() == nil
}

// HandledBy returns the installation of the operator that handles a Darkroom; empty if none has claimed it. The
// annotation AnnotationInstallation decides. If a client such as `kubectl replace` removes the annotation, the
// installation in the status keeps the Darkroom, because such clients do not write the status.
func HandledBy(darkroom *Darkroom) string {
	return cmp.Or(darkroom.Annotations[AnnotationInstallation], darkroom.Status.Installation)
}

// MayBeHandledBy reports whether an installation of the operator handles a Darkroom or may claim it.
func MayBeHandledBy(installation string, darkroom *Darkroom) bool {
	claimed := HandledBy(darkroom)
	return claimed == "" || claimed == installation
}
