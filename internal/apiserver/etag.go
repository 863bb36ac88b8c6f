package apiserver

import (
	"net/http"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// etag returns the entity tag of a resource version.
func etag(version string) string {
	return `"` + version + `"`
}

// anyVersion is the value of If-Match that matches any version.
const anyVersion = "*"

// versionOf returns the resource version of a header with a single tag.
func versionOf(header string) (version string, ok bool) {
	version = strings.TrimPrefix(strings.TrimSpace(header), "W/")
	version, opened := strings.CutPrefix(version, `"`)
	version, closed := strings.CutSuffix(version, `"`)
	return version, opened && closed && version != "" && !strings.ContainsAny(version, `",`)
}

// matches reports whether a header If-Match or If-None-Match matches a version.
func matches(header, version string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == anyVersion || tag == etag(version) {
			return true
		}
	}
	return false
}

// checkIfMatch rejects a write without the current version, so that no change is
// overwritten unseen.
func checkIfMatch(header, version string) error {
	if header == "" {
		return problem.New(http.StatusPreconditionRequired,
			"the header If-Match is required: send the ETag of the version that you change", problem.Field{Location: "header.If-Match", Message: "required"})
	}
	if !matches(header, version) {
		return stale()
	}
	return nil
}

// stale is the problem of a write to an earlier version.
func stale() *problem.Details {
	return problem.New(http.StatusPreconditionFailed, "the Darkroom has changed since you read it: read it again and repeat your change")
}
