package release

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// An operator that starts anew would have to apply every object of every release to
// know that it is as it should be, and render every release to know that it is what is
// wanted. So what is remembered of a release is recorded in the Secret of its deployed
// revision, beside what Helm keeps there. It is data and no annotation because digests
// of Secrets are in it. Helm clients write a Secret without it, so it always speaks of
// what the operator itself applied.

// dataRecord is where in a revision's Secret the record is.
const dataRecord = "applied"

// record is what is remembered of a release.
type record struct {
	// Manifest is the identity of the manifest that was applied, and Source the digest
	// of what it was rendered from; nil if that is not known.
	Manifest string         `json:"manifest"`
	Source   *digest        `json:"source,omitempty"`
	Objects  []objectRecord `json:"objects"`
}

// objectRecord is the trace of one object.
type objectRecord struct {
	APIVersion      string    `json:"apiVersion"`
	Kind            string    `json:"kind"`
	Name            string    `json:"name"`
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
	Wanted          digest    `json:"wanted"`
	State           digest    `json:"state"`
}

// record returns what is remembered of the release, as it is stored; nil if it is not
// settled.
func (c *actionClient) record() []byte {
	out, settled := c.drift.record(c.key)
	if !settled {
		return nil
	}
	out.Source = c.Renderer.source(c.key, out.Manifest)
	raw, err := json.Marshal(out)
	if err != nil {
		// It consists of texts.
		panic(err)
	}
	return raw
}

// recall remembers what was recorded of the release, if nothing is remembered of it. A
// record that cannot be read is as none.
func (c *actionClient) recall() {
	raw := c.Store.TakeRecord(c.key)
	if len(raw) == 0 {
		return
	}
	recorded, err := parseRecord(raw)
	if err != nil {
		return
	}
	c.drift.recall(c.key, recorded, time.Now(), c.VerifyPeriod)
	c.Renderer.recall(c.key, recorded.Source, recorded.Manifest)
}

// record returns what is remembered of a release that is settled.
func (d *drift) record(release types.NamespacedName) (_ record, settled bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.releases[release]
	if known == nil || len(known.objects) == 0 {
		return record{}, false
	}
	out := record{Manifest: known.settled}
	for key, trace := range known.traces {
		out.Objects = append(out.Objects, objectRecord{
			APIVersion: key.GroupVersion().String(), Kind: key.Kind, Name: key.name,
			UID: trace.uid, ResourceVersion: trace.resourceVersion, Wanted: trace.wanted, State: trace.state,
		})
	}
	slices.SortFunc(out.Objects, func(a, b objectRecord) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out, true
}

// recall remembers what was recorded of a release, if nothing is remembered of it. It
// is verified past the caches at some time within a period: neither are all releases at
// once, nor is one that the operator starts too often to wait for.
func (d *drift) recall(release types.NamespacedName, recorded record, now time.Time, period time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.releases[release] != nil {
		return
	}
	known := d.of(release)
	known.settled = recorded.Manifest
	for _, object := range recorded.Objects {
		version, err := schema.ParseGroupVersion(object.APIVersion)
		if err != nil {
			continue
		}
		key := objectKey{version.WithKind(object.Kind), object.Name}
		known.objects = append(known.objects, key)
		known.traces[key] = trace{wanted: object.Wanted, uid: object.UID, state: object.State, resourceVersion: object.ResourceVersion}
	}
	if period > 0 {
		known.verifyAt = now.Add(rand.N(period)) //nolint:gosec // spreads load, keeps no secret
	}
}

func parseRecord(raw []byte) (record, error) {
	var read record
	err := json.Unmarshal(raw, &read)
	return read, err
}

// sameRecord tells whether two records say the same. Resource versions change with
// the status of an object and do not count.
func sameRecord(a, b []byte) bool {
	var read [2]record
	for i, raw := range [][]byte{a, b} {
		var err error
		if read[i], err = parseRecord(raw); err != nil {
			return false
		}
		for j := range read[i].Objects {
			read[i].Objects[j].ResourceVersion = ""
		}
	}
	return reflect.DeepEqual(read[0], read[1])
}

// recordAnew stores what is remembered of a release that was verified, unless that is
// stored already.
func (c *actionClient) recordAnew() error {
	if err := c.Store.Record(c.ctx, c.key, c.record()); err != nil {
		return fmt.Errorf("release %s: record what was applied: %w", c.key, err)
	}
	return nil
}
