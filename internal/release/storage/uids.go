package storage

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// revisionUIDs are the UIDs of the Secrets of a release's revisions, by the number of the revision.
type revisionUIDs map[int]types.UID

// with returns the UIDs with that of one more revision, or with another one of a known
// revision.
func (u revisionUIDs) with(version int, uid types.UID) revisionUIDs {
	out := revisionUIDs{}
	maps.Copy(out, u)
	out[version] = uid
	return out
}

// knownUIDs returns the UIDs of a release's revisions that the cache shows, in their
// order, and of those that this process wrote or read lately. A revision that the cache does not
// show was deleted, unless it is newer than all that it shows.
func knownUIDs(indexed []metav1.PartialObjectMetadata, last *known) revisionUIDs {
	out, newest := revisionUIDs{}, -1
	for i := range indexed {
		newest = versionOf(&indexed[i])
		out[newest] = indexed[i].UID
	}
	if last == nil {
		return out
	}
	for version, uid := range last.uids {
		if version > newest || out[version] != "" {
			out[version] = uid
		}
	}
	return out
}

func uidsOf(secrets []corev1.Secret) revisionUIDs {
	out := revisionUIDs{}
	for i := range secrets {
		out[versionOf(&secrets[i])] = secrets[i].UID
	}
	return out
}
