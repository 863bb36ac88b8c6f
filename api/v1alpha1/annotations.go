package v1alpha1

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations that users set on a Darkroom.
const (
	// AnnotationPaused set to "true" suspends reconciliation of the Darkroom.
	AnnotationPaused = "deployments.example.com/paused"
	// AnnotationReconcilePeriod overrides the operator's resync period for one
	// Darkroom; a Go duration such as 30s.
	AnnotationReconcilePeriod = "deployments.example.com/reconcile-period"
	// AnnotationRequestedAt set to a new value, such as the current time, reconciles the
	// Darkroom at once instead of at the next retry or resync.
	AnnotationRequestedAt = "deployments.example.com/requested-at"
)

// AnnotationInstallation names the installation of the operator that handles a Darkroom. The
// operator sets it on a Darkroom that has none; change it to move the Darkroom to another
// installation. On the Lease of a host it names the installation that claimed the host.
const AnnotationInstallation = "deployments.example.com/installation"

// AnnotationRollout is set by the operator on each Deployment. It shows whose change replaced its pods last.
const AnnotationRollout = "deployments.example.com/rollout"

// LabelDarkroom is on every object that belongs to a Darkroom, Helm's release
// Secrets included; its value is the Darkroom's name. The operator's caches are
// limited to objects with this label.
const LabelDarkroom = "deployments.example.com/darkroom"

// LabelDarkroomUID is on Helm's release Secrets and the ControllerRevisions of revisions in addition to LabelDarkroom;
// its value is the Darkroom's UID. Helm clients keep labels when they rewrite a Secret, but drop owner
// references.
const LabelDarkroomUID = "deployments.example.com/darkroom-uid"

// LabelHost is on the Lease of each host, in the namespace of the operator. The name of the Lease is the host, and its
// holder the Darkroom that has the host, as NAMESPACE/NAME.
const LabelHost = "deployments.example.com/host"

// AnnotationClaimedFor is on the Lease of a host: UID/GENERATION of the Darkroom when it last claimed the host.
const AnnotationClaimedFor = "deployments.example.com/claimed-for"

// IsPaused reports whether the annotation AnnotationPaused forbids changes to a Darkroom.
// A deletion is never paused, because it would block the deletion of the namespace.
func IsPaused(darkroom metav1.Object) bool {
	return darkroom.GetAnnotations()[AnnotationPaused] == "true" && darkroom.GetDeletionTimestamp() == nil
}

// HandledBy returns the installation of the operator that handles a Darkroom; empty if none has claimed it.
// The annotation AnnotationInstallation claims and moves it. If a client such as `kubectl replace` removes the
// annotation, the installation in the status keeps the Darkroom, because such clients do not write the status.
func HandledBy(darkroom *Darkroom) string {
	return cmp.Or(darkroom.Annotations[AnnotationInstallation], darkroom.Status.Installation)
}

// MayBeHandledBy reports whether an installation of the operator handles a Darkroom, or may claim it.
func MayBeHandledBy(installation string, darkroom *Darkroom) bool {
	claimed := HandledBy(darkroom)
	return claimed == "" || claimed == installation
}
