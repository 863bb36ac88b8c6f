package drift

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// A restarted operator would have to apply every object of every release to know that it
// is as it should be. So what is remembered of a release is recorded in the Secret of its deployed revision, beside
// Helm's own data. It is data rather than an annotation because it contains digests of
// Secrets. Helm clients write the Secret without it, so a record always describes what
// the operator itself applied.

// Record is what is remembered of a release, as it is stored.
type Record struct {
	// Manifest is the identity of the manifest that was applied.
	Manifest string         `json:"manifest"`
	Objects  []objectRecord `json:"objects"`
}

// objectRecord is the trace of one object.
type objectRecord struct {
	APIVersion      string        `json:"apiVersion"`
	Kind            string        `json:"kind"`
	Name            string        `json:"name"`
	UID             types.UID     `json:"uid"`
	ResourceVersion string        `json:"resourceVersion,omitempty"`
	Desired         digest.Digest `json:"wanted"`
	State           digest.Digest `json:"state"`
}

// Encode returns the record's stored form.
func (r Record) Encode() []byte {
	raw, err := json.Marshal(r)
	if err != nil {
		// It consists of strings.
		panic(err)
	}
	return raw
}

// Decode returns the record in its stored form, or an error if it cannot be decoded.
func Decode(raw []byte) (Record, error) {
	var read Record
	err := json.Unmarshal(raw, &read)
	return read, err
}

// Record returns the record of a release that is in sync.
func (m *Memory) Record() (_ Record, inSync bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.objects) == 0 {
		return Record{}, false
	}
	out := Record{Manifest: m.inSync}
	for _, object := range m.objects {
		trace, _ := m.traces.of(object)
		out.Objects = append(out.Objects, objectRecord{
			APIVersion: trace.APIVersion, Kind: object.Kind, Name: object.Name,
			UID: trace.UID, ResourceVersion: trace.ResourceVersion, Desired: trace.desired, State: trace.state,
		})
	}
	slices.SortFunc(out.Objects, func(a, b objectRecord) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out, true
}

// Recall remembers what was recorded of a release, unless something is remembered already.
func (m *Memory) Recall(recorded Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.traces) > 0 {
		return
	}
	m.inSync = recorded.Manifest
	m.traces = make(traces, 0, len(recorded.Objects))
	for _, object := range recorded.Objects {
		version, err := schema.ParseGroupVersion(object.APIVersion)
		if err != nil {
			continue
		}
		name := manifest.Key{GroupKind: version.WithKind(object.Kind).GroupKind(), Name: object.Name}
		m.traces.set(name, Trace{
			APIVersion: object.APIVersion, UID: object.UID, ResourceVersion: object.ResourceVersion,
			desired: object.Desired, state: object.State,
		})
	}
	for _, traced := range m.traces {
		m.objects = append(m.objects, traced.object)
	}
}
