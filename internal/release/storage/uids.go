package storage

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// revisionUIDs are the UIDs of the Secrets of a release's revisions. Most releases have few,
// which take a quarter of the memory of a map.
type revisionUIDs []revisionUID

type revisionUID struct {
	version int
	uid     types.UID
}

// of returns the UID of a revision; empty if it is not known.
func (u revisionUIDs) of(version int) types.UID {
	for _, known := range u {
		if known.version == version {
			return known.uid
		}
	}
	return ""
}

// with returns the UIDs with that of one more revision, or with another one of a known
// revision.
func (u revisionUIDs) with(version int, uid types.UID) revisionUIDs {
	out := make(revisionUIDs, 0, len(u)+1)
	for _, known := range u {
		if known.version != version {
			out = append(out, known)
		}
	}
	return append(out, revisionUID{version, uid})
}

// knownUIDs returns the UIDs of a release's revisions that the cache shows, the newest last,
// and of those that this process wrote or read lately. A revision that the cache does not
// show was deleted, unless it is newer than all that it shows.
func knownUIDs(indexed []metav1.PartialObjectMetadata, last *known) revisionUIDs {
	var out revisionUIDs
	newest := -1
	for i := range indexed {
		newest = versionOf(&indexed[i])
		out = out.with(newest, indexed[i].UID)
	}
	if last == nil {
		return out
	}
	for _, known := range last.uids {
		if known.version > newest || out.of(known.version) != "" {
			out = out.with(known.version, known.uid)
		}
	}
	return out
}

func uidsOf(secrets []corev1.Secret) revisionUIDs {
	var out revisionUIDs
	for i := range secrets {
		out = out.with(versionOf(&secrets[i]), secrets[i].UID)
	}
	return out
}
