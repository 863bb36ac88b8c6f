package diagnosis

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/advice"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/terminal"
)

// shownEvents is the maximum number of events on the screen.
const shownEvents = 8

func lastSeen(event *corev1.Event) time.Time {
	return cmp.Or(event.LastTimestamp, metav1.Time(event.EventTime), event.CreationTimestamp).Time
}

// Ready reports whether the current generation of the Darkroom is ready.
func (e *Evidence) Ready() bool {
	return v1alpha1.IsConditionTrueNow(e.Darkroom, v1alpha1.ConditionReady)
}

// Screen prints the state of a Darkroom, the reasons, and what to do.
func (e *Evidence) Screen(out io.Writer, now time.Time) error {
	var b strings.Builder
	d := e.Darkroom
	fmt.Fprintf(&b, "%s\n", e.line(fmt.Sprintf("Darkroom %s/%s: %s", d.Namespace, d.Name,
		cmp.Or(string(d.Status.Phase), "no operator has seen it yet"))))
	if d.Status.Message != "" {
		fmt.Fprintf(&b, "  %s\n", e.line(d.Status.Message))
	}
	if advice := e.advice(); advice != "" {
		fmt.Fprintf(&b, "  → %s\n", advice)
	}
	if d.Status.ObservedGeneration != d.Generation {
		fmt.Fprintf(&b, "  The status describes generation %d; the operator has not handled %d yet.\n",
			d.Status.ObservedGeneration, d.Generation)
	}
	e.table(&b, "Conditions", func(row func(...any)) {
		for _, c := range d.Status.Conditions {
			row(c.Type, c.Status, c.Reason, age(now, c.LastTransitionTime.Time), c.Message)
		}
	})
	e.table(&b, "Pods", func(row func(...any)) {
		for i := range e.Pods {
			describePod(row, &e.Pods[i], now)
		}
	})
	e.table(&b, "Hosts", func(row func(...any)) {
		for _, host := range d.Status.Domains {
			row(host, "routed")
		}
	})
	e.table(&b, "Source", func(row func(...any)) {
		for source, field := range d.Spec.Sources() {
			row(cmp.Or(source.Type, v1alpha1.WebFolder), cmp.Or(source.BaseURL, source.Bucket, source.Host),
				strings.TrimPrefix(field, "source"))
		}
	})
	e.table(&b, "Events", func(row func(...any)) {
		for _, event := range e.Events[max(0, len(e.Events)-shownEvents):] {
			row(age(now, lastSeen(&event)), event.Type, event.Reason,
				event.InvolvedObject.Kind+" "+event.InvolvedObject.Name, event.Message)
		}
	})
	if len(e.Unread) > 0 {
		fmt.Fprintf(&b, "\nYou may not read: %s\n", strings.Join(e.Unread, ", "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// line returns a text without the credentials of the Darkroom, on one line. The redaction comes first, because
// credentials may contain line breaks.
func (e *Evidence) line(text any) string {
	return terminal.Line(redact.Message(e.Darkroom, fmt.Sprint(text)))
}

// advice returns what to do about a Darkroom that is not ready; empty if there is no advice.
func (e *Evidence) advice() string {
	if e.Ready() {
		return ""
	}
	if ready := v1alpha1.FindCondition(e.Darkroom.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		return advice.OfReason(ready.Reason)
	}
	return advice.OfPhase(cmp.Or(e.Darkroom.Status.Phase, v1alpha1.PhasePending))
}

// table writes a heading and rows, or nothing if there are no rows.
func (e *Evidence) table(b *strings.Builder, heading string, rows func(row func(...any))) {
	var written int
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	rows(func(cells ...any) {
		if written == 0 {
			fmt.Fprintf(b, "\n%s\n", heading)
		}
		written++
		texts := make([]string, len(cells))
		for i, cell := range cells {
			texts[i] = e.line(cell)
		}
		fmt.Fprintln(w, "  "+strings.TrimSpace(strings.Join(texts, "\t")))
	})
	w.Flush() //nolint:errcheck // a builder does not fail
}

func age(now, then time.Time) string {
	if then.IsZero() {
		return "?"
	}
	return duration.HumanDuration(now.Sub(then))
}

func describePod(row func(...any), pod *corev1.Pod, now time.Time) {
	state, ready := string(pod.Status.Phase), 0
	var restarts int32
	for _, container := range pod.Status.ContainerStatuses {
		restarts += container.RestartCount
		if container.Ready {
			ready++
		}
		if waiting := container.State.Waiting; waiting != nil && waiting.Reason != "" {
			state = waiting.Reason
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			state = condition.Reason + ": " + condition.Message
		}
	}
	if pod.DeletionTimestamp != nil {
		state = "Terminating"
	}
	row(pod.Name, fmt.Sprintf("%d/%d ready", ready, len(pod.Spec.Containers)), fmt.Sprintf("%d restarts", restarts),
		age(now, pod.CreationTimestamp.Time), state)
}
