package serve

import (
	"strconv"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/pipeline"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// missingLifetime is the max-age of 404 responses.
const missingLifetime = 5 * time.Second

// cacheControl returns the Cache-Control header of a response. The rules of the source limit the age. Stale responses
// and responses that are being revalidated may be stored only briefly.
func cacheControl(entry *cache.Entry, state pipeline.State, maxAge time.Duration) string {
	if entry.Control.NoStore {
		return "private, no-store"
	}
	age := max(time.Since(entry.Validated), 0).Truncate(time.Second)
	if entry.Control.Bounded {
		maxAge = min(maxAge, max(entry.Control.MaxAge-age, 0))
	}
	if state == pipeline.Stale || state == pipeline.Revalidated {
		maxAge = min(maxAge, time.Minute)
	}
	if browsers := max(entry.Control.BrowserAge-age, 0); entry.Control.Bounded && browsers < maxAge {
		return "public, max-age=" + seconds(browsers) + ", s-maxage=" + seconds(maxAge)
	}
	return "public, max-age=" + seconds(maxAge)
}

// cacheControlOfProblem returns the Cache-Control header of a problem. CDNs absorb requests for missing images.
func cacheControlOfProblem(kind problem.Kind) string {
	if kind == problem.Missing {
		return "public, max-age=" + seconds(missingLifetime)
	}
	return "no-store"
}

func seconds(age time.Duration) string { return strconv.Itoa(int(age / time.Second)) }
