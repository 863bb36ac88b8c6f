package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// scrapeTimeout bounds the count in a scrape; ten thousand Darkrooms take a few
// milliseconds.
const scrapeTimeout = 5 * time.Second

var (
	darkroomsDesc = prometheus.NewDesc(namespace+"_darkrooms",
		"Darkrooms that the operator handles, by phase and type of source.", []string{"phase", "source_type"}, nil)
	readyDesc = prometheus.NewDesc(namespace+"_darkrooms_ready",
		"Darkrooms whose condition Ready is True, including idle ones.", nil, nil)
	conflictsDesc = prometheus.NewDesc(namespace+"_domain_conflicts",
		"Darkrooms that claim a host of another Darkroom.", nil, nil)
	credentialsDesc = prometheus.NewDesc(namespace+"_credentials_missing",
		"Darkrooms whose referenced Secret or a key of it is missing.", nil, nil)
	othersDesc = prometheus.NewDesc(namespace+"_other_installation_darkrooms",
		"Darkrooms that another installation of the operator handles.", nil, nil)
	unhandledDesc = prometheus.NewDesc(namespace+"_unhandled_darkrooms",
		"Darkrooms of other installations that have not reported on the last change.", nil, nil)
)

// Fleet counts Darkrooms when it is scraped, from the cache and without a copy.
type Fleet struct {
	// Darkrooms lists them from a cache.
	Darkrooms client.Reader
	// Leads reports whether this process is the leader. A standby process has the same
	// Darkrooms in its cache, and sums over all processes would count them twice.
	Leads func() bool
	// Installation is the name of the operator's installation. Darkrooms of others are only
	// counted.
	Installation string
}

// Describe implements prometheus.Collector.
func (*Fleet) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{darkroomsDesc, readyDesc, conflictsDesc, credentialsDesc, othersDesc, unhandledDesc} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector. It reports nothing if the process is not the
// leader or its cache is not synchronized yet.
func (f *Fleet) Collect(metrics chan<- prometheus.Metric) {
	if !f.Leads() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	list := &v1alpha1.DarkroomList{}
	if err := f.Darkrooms.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	tally := count(list.Items, f.Installation)
	gauge := func(desc *prometheus.Desc, value int, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	}
	for kind, number := range tally.kinds {
		gauge(darkroomsDesc, number, string(kind.phase), string(kind.source))
	}
	gauge(readyDesc, tally.ready)
	gauge(conflictsDesc, tally.conflicts)
	gauge(credentialsDesc, tally.credentials)
	gauge(othersDesc, tally.others)
	gauge(unhandledDesc, tally.unhandled)
}

type kind struct {
	phase  v1alpha1.Phase
	source v1alpha1.SourceType
}

type tally struct {
	kinds                         map[kind]int
	ready, conflicts, credentials int
	others, unhandled             int
}

// count counts Darkrooms in one pass, without changing them.
func count(darkrooms []v1alpha1.Darkroom, installation string) tally {
	t := tally{kinds: map[kind]int{}}
	for i := range darkrooms {
		if !handled(&darkrooms[i], installation) {
			t.others++
			if darkrooms[i].Status.ObservedGeneration != darkrooms[i].Generation {
				t.unhandled++
			}
			continue
		}
		status, source := &darkrooms[i].Status, darkrooms[i].Spec.Source.Type
		of := kind{status.Phase, source}
		if of.phase == "" {
			of.phase = v1alpha1.PhasePending
		}
		if of.source == "" {
			of.source = v1alpha1.WebFolder
		}
		t.kinds[of]++
		if v1alpha1.IsConditionTrue(status.Conditions, v1alpha1.ConditionReady) {
			t.ready++
		}
		if domains := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionDomainsReady); domains != nil &&
			domains.Reason == v1alpha1.ReasonDomainConflict {
			t.conflicts++
		}
		if credentials := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionCredentialsReady); credentials != nil &&
			credentials.Reason != v1alpha1.ReasonSecretFound {
			t.credentials++
		}
	}
	return t
}

// handled reports whether an installation handles a Darkroom, or may still claim it.
func handled(darkroom *v1alpha1.Darkroom, installation string) bool {
	claimed := darkroom.Annotations[v1alpha1.AnnotationInstallation]
	return claimed == "" || claimed == installation
}
