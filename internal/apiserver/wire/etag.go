package wire

import (
	"net/http"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// ETag returns the entity tag of a resource version.
func ETag(version string) string {
	return `"` + version + `"`
}

// AnyVersion is the value of If-Match that matches any version.
const AnyVersion = "*"

// VersionOf returns the resource version of a header with a single tag.
func VersionOf(header string) (version string, ok bool) {
	version = strings.TrimPrefix(strings.TrimSpace(header), "W/")
	version, opened := strings.CutPrefix(version, `"`)
	version, closed := strings.CutSuffix(version, `"`)
	return version, opened && closed && version != "" && !strings.ContainsAny(version, `",`)
}

// Matches reports whether a header If-Match or If-None-Match matches a version.
func Matches(header, version string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == AnyVersion || tag == ETag(version) {
			return true
		}
	}
	return false
}

// CheckIfMatch rejects a write without the current version, so that no change is
// overwritten unseen.
func CheckIfMatch(header, version string) error {
	if header == "" {
		return problem.New(http.StatusPreconditionRequired,
			"the header If-Match is required: send the ETag of the version that you change", problem.Field{Location: "header.If-Match", Message: "required"})
	}
	if !Matches(header, version) {
		return Stale()
	}
	return nil
}

// Stale is the problem of a write to an earlier version.
func Stale() *problem.Details {
	return problem.New(http.StatusPreconditionFailed, "the Darkroom has changed since you read it: read it again and repeat your change")
}
