package cmd

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/advice"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/terminal"
)

// notReady is the exit code of status for a Darkroom that is not ready.
const notReady = exitCode(2)

// shownEvents is the maximum number of events on the screen.
const shownEvents = 8

func newStatus() *cobra.Command {
	s := &subject{}
	command := &cobra.Command{
		Use:   "status NAME",
		Short: "Shows on one screen why a Darkroom is not ready, and what to do",
		Long: `Shows the state of a Darkroom with its conditions, pods, hosts, source and latest events, and what to do
about it. The exit code is 0 if it is ready, 2 if it is not, and 1 after an error.`,
		Example: `  kubectl darkroom status photos
  kubectl darkroom status photos -n team-a || kubectl darkroom report photos -n team-a > report.yaml`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, _, err := s.gather(cmd.Context(), args[0], false)
			if err != nil {
				return err
			}
			if err := e.writeStatus(cmd.OutOrStdout(), time.Now()); err != nil {
				return err
			}
			if !e.ready() {
				return notReady
			}
			return nil
		},
	}
	s.addFlags(command.Flags())
	return command
}

// ready reports whether the current generation of the Darkroom is ready.
func (e *evidence) ready() bool {
	return v1alpha1.IsConditionTrueNow(e.darkroom, v1alpha1.ConditionReady)
}

// writeStatus prints the state of a Darkroom, the reasons, and what to do.
func (e *evidence) writeStatus(out io.Writer, now time.Time) error {
	var b strings.Builder
	d := e.darkroom
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
	if installation, at := v1alpha1.HandledBy(d), statusWritten(d); installation != "" && !at.IsZero() {
		fmt.Fprintf(&b, "  Handled by the installation %s. The status was last written %s ago.\n", e.line(installation), age(now, at))
	}
	e.table(&b, "Conditions", func(row func(...any)) {
		for _, c := range d.Status.Conditions {
			message := c.Message
			if message == d.Status.Message {
				message = "" // it is in the second line
			}
			row(c.Type, c.Status, c.Reason, age(now, c.LastTransitionTime.Time), message)
		}
	})
	e.table(&b, "Pods", func(row func(...any)) {
		for i := range e.pods {
			describePod(row, &e.pods[i], now)
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
		for _, event := range e.events[max(0, len(e.events)-shownEvents):] {
			row(age(now, lastSeen(&event)), event.Type, event.Reason,
				event.InvolvedObject.Kind+" "+event.InvolvedObject.Name, event.Message)
		}
	})
	if len(e.unread) > 0 {
		fmt.Fprintf(&b, "\nYou may not read: %s\n", strings.Join(e.unread, ", "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// statusWritten returns when the status of a Darkroom last changed; zero if it has none.
func statusWritten(d *v1alpha1.Darkroom) (at time.Time) {
	for _, entry := range d.ManagedFields {
		if entry.Subresource == "status" && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}

// line returns a text without the credentials of the Darkroom, on one line. The redaction comes first, because
// credentials may contain line breaks.
func (e *evidence) line(text any) string {
	return terminal.Line(redact.Message(e.darkroom, fmt.Sprint(text)))
}

// advice returns what to do about a Darkroom that is not ready; empty if there is no advice, or if the message
// contains it.
func (e *evidence) advice() string {
	if e.ready() {
		return ""
	}
	if ready := v1alpha1.FindCondition(e.darkroom.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		if advice.IsInMessage(ready.Reason) {
			return ""
		}
		return advice.OfReason(ready.Reason)
	}
	return advice.OfPhase(cmp.Or(e.darkroom.Status.Phase, v1alpha1.PhasePending))
}

// table writes a heading and rows, or nothing if there are no rows.
func (e *evidence) table(b *strings.Builder, heading string, rows func(row func(...any))) {
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
	w.Flush() //nolint:errcheck // a strings.Builder never fails
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
