package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// EventRefused is the reason of the event on a Darkroom that cannot be translated until it
// is changed.
const EventRefused = "Refused"

// EventForeignRelease is the reason of the event on a Darkroom whose name is that of a Helm
// release that does not belong to it.
const EventForeignRelease = "ForeignRelease"

// maxNoteLength is the API's limit for the note of an event, in bytes.
const maxNoteLength = 1024

// recorder records events on Darkrooms and logs them.
type recorder struct {
	events events.EventRecorder
}

// Event implements release.Recorder.
func (r *recorder) Event(darkroom client.Object, warning bool, reason, message string) {
	kind := corev1.EventTypeNormal
	if warning {
		kind = corev1.EventTypeWarning
	}
	message = cut(message, maxNoteLength, "…")
	log := ctrl.Log.WithName("helm").WithValues("reason", reason, "namespace", darkroom.GetNamespace(), "darkroom", darkroom.GetName())
	if warning {
		log.Error(nil, message) // the level between is not one of logr
	} else {
		log.Info(message)
	}
	r.events.Eventf(darkroom, nil, kind, reason, "Reconcile", "%s", message)
}
