package apiserver

import (
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/limit"
)

// limits bound what callers take of this server. Those of the cluster are in package auth.
type limits struct {
	// rates is how many requests each caller may send, streamRates how many streams and logs each may open, so that a
	// script does not stop the page of the same user. renderRates is how many manifests each may have rendered.
	rates, streamRates, renderRates *limit.Rates

	// bodies bounds the bodies that are in memory.
	bodies *limit.Shares
	// requests has a place for each request but those that stay open, writes for those that change something.
	requests, writes *limit.Shares
	// renderings bounds manifests and histories, images those that are forwarded, reads the lists with the
	// server's own identity.
	renderings, images, reads *limit.Shares
	// streams are the places of callers who may see a Darkroom, strangers the places of the others.
	streams, strangers *limit.Shares
	// logs bounds the logs of pods.
	logs *limit.Shares
}

const (
	// maxStreams is how many streams one caller may have open, maxLogs how many logs.
	maxStreams, maxLogs = 16, 4
	// rendersPerSecond and renderBurst limit each caller: rendering takes a processor
	// for some tens of milliseconds, and one caller would keep it busy.
	rendersPerSecond, renderBurst = 2, 10
	// streamsPerSecond and streamBurst limit the streams and logs that each caller opens.
	streamsPerSecond, streamBurst = 4, 40
	// rateTimeout is how long a request waits for the rate of its caller. A page that opens sends many at once.
	rateTimeout = 2 * time.Second
	// shareTimeout is how long a request waits for a place.
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
		streams:    limit.NewShares(limit.Places{All: 1024, Each: maxStreams, PerNamespace: 256}),
		strangers:  limit.NewShares(limit.Places{All: 128, Each: maxStreams, PerNamespace: 32}),
		logs:       limit.NewShares(limit.Places{All: 64, Each: maxLogs}),
	}
}
