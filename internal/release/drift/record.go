package drift

import (
	"encoding/json"
	"slices"
	"strings"
	"unique"
)

// A restarted operator would have to apply every object of every release to know that it
// is as it should be. So what is remembered of a release is recorded in the Secret of its deployed revision, beside
// Helm's own data. It is data rather than an annotation because it contains digests of
// Secrets. Helm clients write the Secret without it, so a record always describes what
// the operator itself applied.

// Record is what is remembered of a release, as it is stored.
type Record struct {
	// Manifest is the identity of the manifest that was applied.
	Manifest string  `json:"manifest"`
	Objects  []Trace `json:"objects"`
}

// Record returns the stored form of what is remembered of a release that is in sync; nil if it
// is not.
func (m *Memory) Record() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.objects) == 0 {
		return nil
	}
	objects := slices.DeleteFunc(slices.Clone(m.traces), func(trace Trace) bool { return !slices.Contains(m.objects, trace.Key()) })
	slices.SortFunc(objects, func(a, b Trace) int { return strings.Compare(a.Key().String(), b.Key().String()) })
	raw, err := json.Marshal(Record{Manifest: m.inSync, Objects: objects})
	if err != nil {
		// It consists of strings.
		panic(err)
	}
	return raw
}

// Recall remembers what was recorded of a release, unless something is remembered already. It
// ignores a record that cannot be decoded.
func (m *Memory) Recall(raw []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var recorded Record
	if len(m.traces) > 0 || json.Unmarshal(raw, &recorded) != nil {
		return
	}
	m.inSync, m.traces = recorded.Manifest, recorded.Objects
	for i := range m.traces {
		m.traces[i].Kind = unique.Make(m.traces[i].Kind).Value()
		m.objects = append(m.objects, m.traces[i].Key())
	}
}
