package metrics

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

// scrapeTimeout limits the time for reading the caches in a scrape.
const scrapeTimeout = 5 * time.Second

// Darkrooms reports totals, and metrics of each Darkroom with its namespace and name as labels. It reads the caches during
// each scrape, without copying objects, and writes text.
//
// It is not a collector, because a registry checks and sorts each metric. That takes a few microseconds per metric, which
// adds up to half a second for 10,000 Darkrooms.
type Darkrooms struct {
	// Cache reads Darkrooms, their Deployments and the Leases of hosts.
	Cache client.Reader
	// Leads reports whether this process is the leader. Standby processes cache the same Darkrooms, and report nothing so
	// that sums over all processes do not count Darkrooms twice.
	Leads func() bool
	// Installation is the name of the operator's installation. Darkrooms of other installations are counted but not
	// reported individually.
	Installation string
	// LeaseNamespace is the namespace of the Leases of hosts.
	LeaseNamespace string
	// Probe returns the last probe of a Darkroom, and false if there was none. nil means that probes are disabled.
	Probe func(types.NamespacedName) (probe.Sample, bool)
	// TotalsOnly omits the metrics of each Darkroom.
	TotalsOnly bool
}

// Write writes the metrics of Darkrooms in the text format of Prometheus. It writes nothing if the process is not the
// leader or its cache is not synchronized yet. It returns errors of the writer.
func (d *Darkrooms) Write(ctx context.Context, writer io.Writer) error {
	if d.Leads == nil || !d.Leads() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	list := &v1alpha1.DarkroomList{}
	if err := d.Cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	out := &text{Writer: bufio.NewWriterSize(writer, bufferSize)}
	count(list.Items, d.Installation).write(out)
	if d.TotalsOnly {
		return out.Flush()
	}
	observed := d.observe(ctx, list.Items)
	for _, family := range families {
		out.header(family.name, family.help)
		for i := range observed {
			family.write(out, &observed[i])
		}
	}
	d.writeHosts(ctx, out)
	return out.Flush()
}

// kind contains the labels of the number of Darkrooms.
type kind struct {
	phase  v1alpha1.Phase
	source v1alpha1.SourceType
}

// totals are numbers of Darkrooms.
type totals struct {
	kinds map[kind]int

	ready, conflicts, credentials, others int
}

// count counts Darkrooms in one pass. It does not modify them.
func count(darkrooms []v1alpha1.Darkroom, installation string) totals {
	t := totals{kinds: map[kind]int{}}
	for i := range darkrooms {
		status := &darkrooms[i].Status
		if !v1alpha1.MayBeHandledBy(installation, &darkrooms[i]) {
			t.others++
			continue
		}
		t.kinds[kind{
			cmp.Or(status.Phase, v1alpha1.PhasePending),
			cmp.Or(darkrooms[i].Spec.Source.Type, v1alpha1.WebFolder),
		}]++
		for j := range status.Conditions {
			switch condition := &status.Conditions[j]; {
			case condition.Type == v1alpha1.ConditionReady && condition.Status == metav1.ConditionTrue:
				t.ready++
			case condition.Type == v1alpha1.ConditionDomainsReady && condition.Reason == v1alpha1.ReasonDomainConflict:
				t.conflicts++
			case condition.Type == v1alpha1.ConditionCredentialsReady && condition.Reason != v1alpha1.ReasonSecretFound:
				t.credentials++
			}
		}
	}
	return t
}

func (t totals) write(out *text) {
	out.header(namespace+"_darkrooms", "Number of Darkrooms that the operator handles, by phase and type of source.")
	for kind, number := range t.kinds {
		out.sample(float64(number), "phase", string(kind.phase), "source_type", string(kind.source))
	}
	for _, total := range []struct {
		name, help string
		value      int
	}{
		{"darkrooms_ready", "Number of Darkrooms whose condition Ready is True, including idle ones.", t.ready},
		{"domain_conflicts", "Number of Darkrooms that want a host of another Darkroom.", t.conflicts},
		{"credentials_missing", "Number of Darkrooms with a missing referenced Secret or key.", t.credentials},
		{"other_installation_darkrooms", "Number of Darkrooms that another installation of the operator handles.", t.others},
	} {
		out.header(namespace+"_"+total.name, total.help)
		out.sample(float64(total.value))
	}
}

// observation is the state of one Darkroom during a scrape. Its objects are shared with the caches and must not be
// modified.
type observation struct {
	*v1alpha1.Darkroom
	deployed                bool
	desired, updated, ready int32
	probed                  bool
	last                    probe.Sample
}

// observe returns the Darkrooms that this process handles.
func (d *Darkrooms) observe(ctx context.Context, darkrooms []v1alpha1.Darkroom) []observation {
	observed := make([]observation, 0, len(darkrooms))
	var deployment appsv1.Deployment // reused for all Darkrooms
	for i := range darkrooms {
		darkroom := &darkrooms[i]
		if !v1alpha1.MayBeHandledBy(d.Installation, darkroom) {
			continue
		}
		o := observation{Darkroom: darkroom}
		key := client.ObjectKeyFromObject(darkroom)
		if err := d.Cache.Get(ctx, key, &deployment, client.UnsafeDisableDeepCopy); err == nil &&
			metav1.IsControlledBy(&deployment, darkroom) {
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
	write      func(out *text, o *observation)
}{
	{
		"darkroom_info", "Always 1, with the version and the type of source of a Darkroom as labels.",
		func(out *text, o *observation) {
			out.sample(1, "namespace", o.Namespace, "name", o.Name,
				"version", cmp.Or(o.Status.Version, o.Spec.Version), "source",
				string(cmp.Or(o.Spec.Source.Type, v1alpha1.WebFolder)))
		},
	},
	{
		"darkroom_status_condition", "Always 1, with a condition of a Darkroom and its current status as labels.",
		func(out *text, o *observation) {
			for i := range o.Status.Conditions {
				out.sample(1, "namespace", o.Namespace, "name", o.Name,
					"type", o.Status.Conditions[i].Type, "status", string(o.Status.Conditions[i].Status))
			}
		},
	},
	{
		"darkroom_rollout_desired_replicas", "Number of pods that the Deployment of a Darkroom requests.",
		func(out *text, o *observation) { out.sampleOf(o, o.deployed, float64(o.desired)) },
	},
	{
		"darkroom_rollout_updated_replicas", "Number of pods of a Darkroom with the current pod template.",
		func(out *text, o *observation) { out.sampleOf(o, o.deployed, float64(o.updated)) },
	},
	{
		"darkroom_rollout_ready_replicas", "Number of ready pods of a Darkroom.",
		func(out *text, o *observation) { out.sampleOf(o, o.deployed, float64(o.ready)) },
	},
	{
		"darkroom_probe_success", "1 if the last probe of a Darkroom received the image, else 0.",
		func(out *text, o *observation) {
			value := 0.0
			if o.last.Served {
				value = 1
			}
			out.sampleOf(o, o.probed, value)
		},
	},
	{
		"darkroom_probe_duration_seconds", "Duration of the last probe of a Darkroom in seconds.",
		func(out *text, o *observation) { out.sampleOf(o, o.probed, o.last.Duration.Seconds()) },
	},
}

// writeHosts writes the hosts that Darkrooms of this process hold according to their Leases. Shards cache each other's
// Leases, but not each other's Darkrooms.
func (d *Darkrooms) writeHosts(ctx context.Context, out *text) {
	leases := &coordinationv1.LeaseList{}
	err := d.Cache.List(ctx, leases, client.InNamespace(d.LeaseNamespace), client.UnsafeDisableDeepCopy)
	if err != nil {
		return
	}
	out.header("darkroom_host", "Always 1, with a host that a Darkroom holds as a label.")
	var darkroom v1alpha1.Darkroom // reused for all hosts
	for i := range leases.Items {
		holder := hosts.HolderOf(&leases.Items[i])
		err := d.Cache.Get(ctx, holder, &darkroom, client.UnsafeDisableDeepCopy)
		if err == nil && v1alpha1.MayBeHandledBy(d.Installation, &darkroom) {
			out.sample(1, "namespace", holder.Namespace, "name", holder.Name, "host", leases.Items[i].Name)
		}
	}
}

// bufferSize is the number of bytes in one write.
const bufferSize = 64 << 10

// text writes gauges in the text format of Prometheus. The buffer stores the first error.
type text struct {
	*bufio.Writer
	// name is the name of the metric that is being written.
	name   string
	number []byte
}

func (t *text) header(name, help string) {
	t.name = name
	t.put("# HELP ", name, " ", help, "\n# TYPE ", name, " gauge\n")
}

// sampleOf writes a sample with only the labels of the Darkroom, if the value is known.
func (t *text) sampleOf(o *observation, known bool, value float64) {
	if known {
		t.sample(value, "namespace", o.Namespace, "name", o.Name)
	}
}

var escapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// sample writes a sample with labels, given as alternating names and values.
func (t *text) sample(value float64, labels ...string) {
	t.put(t.name)
	start := "{"
	for i := 0; i+1 < len(labels); i += 2 {
		if strings.ContainsAny(labels[i+1], "\\\n\"") {
			labels[i+1] = escapes.Replace(labels[i+1])
		}
		t.put(start, labels[i], `="`, labels[i+1], `"`)
		start = ","
	}
	if len(labels) > 0 {
		t.put("}")
	}
	t.number = strconv.AppendFloat(t.number[:0], value, 'g', -1, 64)
	t.put(" ")
	_, _ = t.Write(t.number)
	t.put("\n")
}

func (t *text) put(parts ...string) {
	for _, part := range parts {
		_, _ = t.WriteString(part)
	}
}
