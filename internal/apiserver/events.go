package apiserver

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// Event is an event of a Darkroom or of one of its pods.
type Event struct {
	Type      string     `json:"type" doc:"Normal or Warning"`
	Reason    string     `json:"reason" doc:"Machine-readable reason"`
	Message   string     `json:"message"`
	Count     int32      `json:"count" doc:"Number of occurrences"`
	Reporter  string     `json:"reporter,omitempty" doc:"Component that reported the event"`
	FirstSeen *time.Time `json:"firstSeen,omitempty"`
	LastSeen  *time.Time `json:"lastSeen,omitempty"`
}

// EventList is a list of events, latest first.
type EventList struct {
	Items []Event `json:"items"`
}

// events uses the server's own token if the caller may list events in the namespace.
func (s *Server) events(ctx context.Context, in *PathInput) (*reply.JSON[EventList], error) {
	darkroom, err := s.readable(ctx, in.key())
	if err != nil {
		return nil, err
	}
	if err := s.auth.Access.Require(ctx,
		auth.Right{Verb: "list", Resource: "events", Namespace: in.Namespace}); err != nil {
		return nil, err
	}
	return s.eventsOf(ctx, &corev1.ObjectReference{
		Kind: v1alpha1.Kind, Namespace: in.Namespace,
		Name: in.Name, UID: darkroom.UID,
	})
}

func (s *Server) podEvents(ctx context.Context, in *PodInput) (*reply.JSON[EventList], error) {
	pod, err := s.podOf(ctx, in, auth.Right{Verb: "list", Resource: "events", Namespace: in.Namespace})
	if err != nil {
		return nil, err
	}
	return s.eventsOf(ctx, &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID})
}

func (s *Server) eventsOf(ctx context.Context, object *corev1.ObjectReference) (*reply.JSON[EventList], error) {
	leave, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	events := &corev1.EventList{}
	selector := fields.Set{
		"involvedObject.kind": object.Kind, "involvedObject.name": object.Name,
		"involvedObject.uid": string(object.UID),
	}
	if err := s.listRelated(ctx, object.Namespace, "events",
		metav1.ListOptions{FieldSelector: selector.String()}, events); err != nil {
		return nil, err
	}
	out := EventList{Items: []Event{}}
	for i := range events.Items {
		out.Items = append(out.Items, describeEvent(&events.Items[i]))
	}
	slices.SortStableFunc(out.Items, func(a, b Event) int {
		return ptr.Deref(b.LastSeen, time.Time{}).Compare(ptr.Deref(a.LastSeen, time.Time{}))
	})
	return reply.With(out), nil
}

// describeEvent supports core/v1 events, which have a count, and events.k8s.io events, which have a series.
func describeEvent(event *corev1.Event) Event {
	out := Event{
		Type:     event.Type,
		Reason:   event.Reason,
		Message:  event.Message,
		Count:    max(event.Count, 1),
		Reporter: cmp.Or(event.ReportingController, event.Source.Component),
		FirstSeen: cmp.Or(wire.Time(&event.FirstTimestamp), wire.Time(&metav1.Time{Time: event.EventTime.Time}),
			wire.Time(&event.CreationTimestamp)),
		LastSeen: wire.Time(&event.LastTimestamp),
	}
	if series := event.Series; series != nil {
		out.Count, out.LastSeen = series.Count, wire.Time(&metav1.Time{Time: series.LastObservedTime.Time})
	}
	out.LastSeen = cmp.Or(out.LastSeen, out.FirstSeen)
	return out
}
