package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
)

// EventRefused is the reason of the event on a Darkroom that cannot be translated. The Darkroom has to be changed.
const EventRefused = "Refused"

// EventForeignRelease is the reason of the event on a Darkroom whose name is taken by a Helm release that does not
// belong to it.
const EventForeignRelease = "ForeignRelease"

// maxNoteLength is the API's limit for the note of an event, in bytes.
const maxNoteLength = 1024

// recorder records events on Darkrooms and logs them.
type recorder struct {
	events events.EventRecorder
}

// Event implements release.Recorder. It redacts the message, because errors of the API server may quote secrets.
func (r *recorder) Event(darkroom *v1alpha1.Darkroom, warning bool, reason, message string) {
	kind := corev1.EventTypeNormal
	if warning {
		kind = corev1.EventTypeWarning
	}
	message = redact.Cut(redact.Message(darkroom, message), maxNoteLength, "…")
	log := ctrl.Log.WithName("helm").WithValues("reason", reason, "namespace", darkroom.GetNamespace(),
		"darkroom", darkroom.GetName())
	if warning {
		log.Error(nil, message) // logr has no level for warnings
	} else {
		log.Info(message)
	}
	r.events.Eventf(darkroom, nil, kind, reason, "Reconcile", "%s", message)
}
