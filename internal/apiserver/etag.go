package apiserver

import (
	"net/http"
	"strings"
)

// etag is the entity tag of a resource version.
func etag(version string) string {
	return `"` + version + `"`
}

// anyVersion, as a header If-Match, means whichever version there is.
const anyVersion = "*"

// versionOf returns the resource version of a header with a single tag.
func versionOf(header string) (version string, ok bool) {
	version = strings.TrimPrefix(strings.TrimSpace(header), "W/")
	version, opened := strings.CutPrefix(version, `"`)
	version, closed := strings.CutSuffix(version, `"`)
	return version, opened && closed && version != "" && !strings.ContainsAny(version, `",`)
}

// matches tells whether a header If-Match or If-None-Match names a version. A star
// names all.
func matches(header, version string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == anyVersion || tag == etag(version) {
			return true
		}
	}
	return false
}

// checkIfMatch refuses a write by who has not seen what it would overwrite.
func checkIfMatch(header, version string) error {
	if header == "" {
		return newProblem(http.StatusPreconditionRequired,
			"say which version you change: send its ETag in the header If-Match", FieldProblem{Location: "header.If-Match", Message: "required"})
	}
	if !matches(header, version) {
		return stale()
	}
	return nil
}

// stale is the problem of who has seen an earlier version.
func stale() *Problem {
	return newProblem(http.StatusPreconditionFailed, "the Darkroom has changed since you read it: read it again, and repeat your change")
}
