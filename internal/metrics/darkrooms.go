package metrics

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

// Darkrooms reports each Darkroom, with its namespace and name as labels. It reads the
// caches during each scrape, without copies of what they hold, and writes text.
//
// It is not a collector: a registry checks and sorts each metric, which takes some
// microseconds, and half a second for 10,000 Darkrooms.
type Darkrooms struct {
	// Cache has Darkrooms and their Deployments.
	Cache client.Reader
	// Leads reports whether this process handles them; see Fleet.
	Leads func() bool
	// Installation is the name of the operator's installation. Darkrooms of others are
	// left out.
	Installation string
	// Probe returns the last probe of a Darkroom, and whether there was one; nil means
	// that none is probed.
	Probe func(types.NamespacedName) (probe.Sample, bool)
}

// Write writes the metrics of all Darkrooms in the text format of Prometheus. It writes
// nothing if the process does not lead, or if its cache is not filled yet. The error is
// that of the writer.
func (d *Darkrooms) Write(ctx context.Context, writer io.Writer) error {
	observed := d.observe(ctx)
	if len(observed) == 0 {
		return nil
	}
	out := &text{Writer: bufio.NewWriterSize(writer, bufferSize)}
	for _, family := range families {
		out.header(family.name, family.help)
		for i := range observed {
			family.write(out, family.name, &observed[i])
		}
	}
	return out.Flush()
}

// observation is what is known of one Darkroom. Its objects are those of the caches, and
// must not be changed.
type observation struct {
	*v1alpha1.Darkroom
	deployed                bool
	desired, updated, ready int32
	probed                  bool
	last                    probe.Sample
}

// observe returns the Darkrooms that this process handles.
func (d *Darkrooms) observe(ctx context.Context) []observation {
	if d.Leads == nil || !d.Leads() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	list := &v1alpha1.DarkroomList{}
	if err := d.Cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	observed := make([]observation, 0, len(list.Items))
	var deployment appsv1.Deployment // one for all: it is copied into
	for i := range list.Items {
		darkroom := &list.Items[i]
		if !handled(darkroom, d.Installation) {
			continue
		}
		o := observation{Darkroom: darkroom}
		key := client.ObjectKeyFromObject(darkroom)
		if err := d.Cache.Get(ctx, key, &deployment, client.UnsafeDisableDeepCopy); err == nil && metav1.IsControlledBy(&deployment, darkroom) {
			o.deployed = true
			o.desired = ptr.Deref(deployment.Spec.Replicas, 1)
			o.updated, o.ready = deployment.Status.UpdatedReplicas, deployment.Status.ReadyReplicas
		}
		if d.Probe != nil {
			o.last, o.probed = d.Probe(key)
		}
		observed = append(observed, o)
	}
	return observed
}

// families are the metrics of a Darkroom. All are gauges.
var families = []struct {
	name, help string
	write      func(out *text, name string, o *observation)
}{
	{
		"darkroom_info", "Always 1, with the version and the type of source of a Darkroom as labels.",
		func(out *text, name string, o *observation) {
			out.begin(name, o)
			out.label("version", cmp.Or(o.Status.Version, o.Spec.Version))
			out.label("source", string(cmp.Or(o.Spec.Source.Type, v1alpha1.WebFolder)))
			out.end(1)
		},
	},
	{
		"darkroom_status_condition", "Always 1, with a condition of a Darkroom and its present status as labels.",
		func(out *text, name string, o *observation) {
			for i := range o.Status.Conditions {
				out.begin(name, o)
				out.label("type", o.Status.Conditions[i].Type)
				out.label("status", string(o.Status.Conditions[i].Status))
				out.end(1)
			}
		},
	},
	{
		"darkroom_rollout_desired_replicas", "Pods that the Deployment of a Darkroom requests.",
		func(out *text, name string, o *observation) { out.sample(o.deployed, name, o, float64(o.desired)) },
	},
	{
		"darkroom_rollout_updated_replicas", "Pods with the present template of the Deployment of a Darkroom.",
		func(out *text, name string, o *observation) { out.sample(o.deployed, name, o, float64(o.updated)) },
	},
	{
		"darkroom_rollout_ready_replicas", "Ready pods of the Deployment of a Darkroom.",
		func(out *text, name string, o *observation) { out.sample(o.deployed, name, o, float64(o.ready)) },
	},
	{
		"darkroom_probe_success", "1 if the last probe of a Darkroom received the image, else 0.",
		func(out *text, name string, o *observation) {
			value := 0.0
			if o.last.Served {
				value = 1
			}
			out.sample(o.probed, name, o, value)
		},
	},
	{
		"darkroom_probe_duration_seconds", "Duration of the last probe of a Darkroom.",
		func(out *text, name string, o *observation) {
			out.sample(o.probed, name, o, o.last.Duration.Seconds())
		},
	},
}

// bufferSize is the number of bytes that are written at one time.
const bufferSize = 64 << 10

// text writes metrics in the text format of Prometheus. The buffer keeps the first error.
type text struct {
	*bufio.Writer
	number []byte
}

func (t *text) header(name, help string) {
	t.put("# HELP ", name, " ", help, "\n# TYPE ", name, " gauge\n")
}

// sample writes a metric that has the labels of the Darkroom only, if it is known.
func (t *text) sample(known bool, name string, o *observation, value float64) {
	if known {
		t.begin(name, o)
		t.end(value)
	}
}

// begin starts a metric of a Darkroom, whose names need no escapes.
func (t *text) begin(name string, o *observation) {
	t.put(name, `{namespace="`, o.Namespace, `",name="`, o.Name, `"`)
}

var escapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func (t *text) label(name, value string) {
	if strings.ContainsAny(value, "\\\n\"") {
		value = escapes.Replace(value)
	}
	t.put(",", name, `="`, value, `"`)
}

func (t *text) end(value float64) {
	t.number = strconv.AppendFloat(t.number[:0], value, 'g', -1, 64)
	t.put("} ")
	_, _ = t.Write(t.number)
	t.put("\n")
}

func (t *text) put(parts ...string) {
	for _, part := range parts {
		_, _ = t.WriteString(part)
	}
}
