package apiserver

import (
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
)

// limits are the limits of each caller. Package auth limits the requests to the cluster.
type limits struct {
	// rates limits requests. streamRates limits new streams and logs separately, so that a script does not block the
	// page of the same user. renderRates limits rendered manifests.
	rates, streamRates, renderRates *limit.Rates

	// bodies limits the request bodies in memory.
	bodies *limit.Shares
	// requests limits concurrent requests other than streams and logs, and writes those with a body that requires a
	// permission: changes and their reviews.
	requests, writes *limit.Shares
	// renderings limits concurrent manifests and histories, images the images in memory, and reads the lists that use
	// the server's own identity.
	renderings, images, reads *limit.Shares
	// streams and logs limit the open streams and logs.
	streams, logs *limit.Shares
}

const (
	// maxStreams and maxLogs are the streams and logs that one caller may have open.
	maxStreams, maxLogs = 16, 4
	// rendersPerSecond and renderBurst limit the renderings of each caller, which take tens of milliseconds of CPU
	// time.
	rendersPerSecond, renderBurst = 2, 10
	// streamsPerSecond and streamBurst limit how fast each caller opens streams and logs.
	streamsPerSecond, streamBurst = 4, 40
	// rateTimeout is the longest wait for the rate limit. A page that opens sends many requests at once.
	rateTimeout = 2 * time.Second
	// shareTimeout is the longest wait for a place.
	shareTimeout = 10 * time.Second
)

func newLimits(requestsPerSecond float64, burst int) *limits {
	return &limits{
		rates:       limit.NewRates(requestsPerSecond, burst),
		streamRates: limit.NewRates(streamsPerSecond, streamBurst),
		renderRates: limit.NewRates(rendersPerSecond, renderBurst),

		bodies:     limit.NewShares(limit.Places{All: 48, Each: 2, PerNamespace: 12, Queue: 16, Wait: shareTimeout}),
		requests:   limit.NewShares(limit.Places{All: 128, Each: 16, PerNamespace: 64, Queue: 64, Wait: shareTimeout}),
		writes:     limit.NewShares(limit.Places{All: 8, Each: 2, Queue: 16, Wait: shareTimeout}),
		renderings: limit.NewShares(limit.Places{All: 2, Each: 1, Queue: 16, Wait: shareTimeout}),
		images:     limit.NewShares(limit.Places{All: 6, Each: 2, Queue: 16, Wait: shareTimeout}),
		reads:      limit.NewShares(limit.Places{All: 8, Each: 2, Queue: 16, Wait: shareTimeout}),
		streams:    limit.NewShares(limit.Places{All: 1024, Each: maxStreams, PerNamespace: 64}),
		logs:       limit.NewShares(limit.Places{All: 64, Each: maxLogs}),
	}
}
