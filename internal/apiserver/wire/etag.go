package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// ETag returns the entity tag of a Darkroom: a digest of the desired state, and the resource version. If-Match compares
// only the digest, so that writes of the status do not invalidate tags; If-None-Match compares both.
func ETag(darkroom *v1alpha1.Darkroom) string {
	return `"` + desired(darkroom) + "." + darkroom.ResourceVersion + `"`
}

// desired returns a digest of the desired state. It contains the generation, which also changes with the keys that this
// server does not store, and the spec, because a restore of etcd can reuse generations.
func desired(darkroom *v1alpha1.Darkroom) string {
	annotations := maps.Clone(shownAnnotations(darkroom.Annotations))
	// The operator writes these fields.
	delete(annotations, v1alpha1.AnnotationInstallation)
	spec, err := json.Marshal(FlattenRevision(&darkroom.Spec)) // without keys, like the cache
	if err != nil {
		panic(err) // the spec was decoded from JSON
	}
	// fmt sorts the keys of maps.
	sum := sha256.Sum256(fmt.Appendf(spec, "%s %d %q %q", darkroom.UID, darkroom.Generation, darkroom.Labels, annotations))
	return hex.EncodeToString(sum[:8])
}

// AnyVersion is the value of If-Match that matches any version.
const AnyVersion = "*"

// Matches reports whether the header If-None-Match contains the tag of a Darkroom.
func Matches(header string, darkroom *v1alpha1.Darkroom) bool {
	return hasTag(header, func(tag string) bool { return tag == ETag(darkroom) })
}

func hasTag(header string, matches func(tag string) bool) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		if tag == AnyVersion || matches(strings.TrimPrefix(tag, "W/")) {
			return true
		}
	}
	return false
}

// CheckIfMatch rejects a write to an earlier version, so that it does not overwrite other clients' changes.
func CheckIfMatch(header string, darkroom *v1alpha1.Darkroom) error {
	current := `"` + desired(darkroom) + "."
	if !hasTag(header, func(tag string) bool { return strings.HasPrefix(tag, current) }) {
		return Stale()
	}
	return nil
}

// Stale is the problem of a write to an earlier version.
func Stale() *problem.Details {
	return problem.New(http.StatusPreconditionFailed,
		"the Darkroom has changed since you read it: read it again and repeat your change")
}
