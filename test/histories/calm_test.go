package histories

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// isCalm checks for rejected requests that are repeated in quick succession.
func isCalm(w *world) error {
	for _, operator := range w.operators {
		if line, times := operator.traffic.hottest(5 * time.Second); times > 10 {
			return errors.New(w.describe(line, times))
		}
	}
	return nil
}

// statusWrite is a write of a Darkroom's status by an operator, with the resulting version of the Darkroom and the time
// since which all watches of the operator were open; zero if one was not.
type statusWrite struct {
	at      time.Time
	key     types.NamespacedName
	version string
	by      *traffic
	told    time.Time
}

// newsOnly checks for writes of an unchanged status. Concurrent changes by others, or a fault, can cause one.
func newsOnly(w *world) error {
	if w.faulty {
		return nil // a lost response is written again
	}
	events, _ := w.timeline.sorted()
	known := map[string]time.Time{}
	for _, e := range events {
		if _, isDarkroom := e.object.(*v1alpha1.Darkroom); isDarkroom {
			known[e.object.GetResourceVersion()] = e.at
		}
	}
	type writer struct {
		key types.NamespacedName
		by  *traffic
	}
	vain := map[writer]int{}
	for _, write := range w.timeline.statusWrites() {
		if at, isKnown := known[write.version]; !isKnown || !at.Before(write.at) {
			continue
		}
		by := writer{write.key, write.by}
		if vain[by]++; vain[by] > mostInVain {
			return fmt.Errorf("the status of %s was written %d times although it was stored already", write.key, vain[by])
		}
	}
	return nil
}

// mostInVain is the maximum number of writes of an unchanged status by a process from its start to its end.
const mostInVain = 1

// reportedOnce checks for duplicate events about the same version of a Darkroom.
func reportedOnce(w *world) error {
	events, err := w.events()
	if err != nil {
		return err
	}
	times := map[string]int{}
	for i := range events {
		event := &events[i]
		key := strings.Join([]string{
			string(event.Regarding.UID), event.Regarding.ResourceVersion, event.Reason, event.Note,
			event.ReportingInstance,
		}, " ")
		if times[key]++; times[key] > mostReports+w.started {
			return fmt.Errorf("%d equal events about %s: %s", times[key], event.Regarding.Name, event.Note)
		}
	}
	return nil
}

// mostReports is the maximum number of equal events in addition to one per process, because each process reports what
// it finds.
const mostReports = 1

// textsAreWhole checks for texts that were cut inside a character; the API server replaces such characters.
func textsAreWhole(w *world) error {
	for _, e := range w.timeline.all() {
		d, isDarkroom := e.object.(*v1alpha1.Darkroom)
		if !isDarkroom {
			continue
		}
		if text := encoded(d.Status); strings.ContainsRune(text, '\uFFFD') || strings.Contains(text, `\ufffd`) {
			return fmt.Errorf("the status of %s/%s contains an incomplete character", d.Namespace, d.Name)
		}
	}
	events, err := w.events()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(events, func(e eventsv1.Event) bool { return strings.ContainsRune(e.Note, '\uFFFD') })
	if at >= 0 {
		return fmt.Errorf("an event contains an incomplete character: %s", events[at].Reason)
	}
	return nil
}

// events returns the events of the history.
func (w *world) events() ([]eventsv1.Event, error) {
	var all []eventsv1.Event
	for _, namespace := range w.namespaces() {
		list := &eventsv1.EventList{}
		if err := w.kube.List(w.ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
	}
	return all, nil
}
