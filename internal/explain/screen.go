package explain

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/darkroom-operator/darkroom-operator/internal/terminal"
)

// marks are the symbols for the states of hops.
var marks = map[State]string{OK: "✓", Failed: "✗", Unknown: "?", NotAsked: "·"}

// Screen prints an explanation for users.
func (x *Explanation) Screen(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s.\n", terminal.Line(x.URL), terminal.Line(x.Verdict))
	if x.Remedy != "" {
		fmt.Fprintf(&b, "  → %s.\n", terminal.Line(x.Remedy))
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i := range x.Hops {
		hop := &x.Hops[i]
		cells := []string{
			marks[hop.State] + " " + string(hop.Kind), terminal.Line(hop.Name), "", "",
			"", terminal.Line(hop.Detail),
		}
		if hop.Status != 0 {
			cells[2] = fmt.Sprint(hop.Status)
		}
		if hop.Milliseconds > 0 {
			cells[3] = fmt.Sprintf("%.0f ms", hop.Milliseconds)
		}
		if hop.Bytes > 0 {
			cells[4] = resource.NewQuantity(hop.Bytes, resource.DecimalSI).String() + "B"
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	w.Flush() //nolint:errcheck // a strings.Builder never fails
	_, err := io.WriteString(out, b.String())
	return err
}
