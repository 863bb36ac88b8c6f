package limit

import "time"

// Callers contains the limits of each caller of the REST API. Package auth contains the limits of sign-in attempts, and
// of requests to the cluster with the server's own identity.
type Callers struct {
	// Rates limits requests. StreamRates limits new streams and logs separately, so that a script does not block the
	// page of the same user. RenderRates limits rendered manifests.
	Rates, StreamRates, RenderRates *Rates

	// Bodies limits the request bodies in memory.
	Bodies *Shares
	// Requests limits concurrent requests other than streams and logs, and Writes those with a body that requires a
	// permission: changes and their reviews.
	Requests, Writes *Shares
	// Renderings limits concurrent manifests and histories, Images the images in memory, and Reads the lists that use
	// the server's own identity.
	Renderings, Images, Reads *Shares
	// Streams and Logs limit the open streams and logs.
	Streams, Logs *Shares
}

const (
	// MaxStreams is how many streams one caller may have open.
	MaxStreams = 16
	// MaxLogs is how many logs one caller may have open.
	MaxLogs = 4
	// RateTimeout is the longest wait for the rate limit. A page that is being opened sends many requests at once.
	RateTimeout = 2 * time.Second
	// shareTimeout is the longest wait for a place.
	shareTimeout = 10 * time.Second
	// rendersPerSecond and renderBurst limit the renderings of each caller, which take tens of milliseconds of CPU
	// time.
	rendersPerSecond, renderBurst = 2, 10
	// streamsPerSecond and streamBurst limit how fast each caller opens streams and logs.
	streamsPerSecond, streamBurst = 4, 40
)

// NewCallers returns the limits of callers that may send requestsPerSecond, and burst at once.
func NewCallers(requestsPerSecond float64, burst int) *Callers {
	return &Callers{
		Rates:       NewRates(requestsPerSecond, burst),
		StreamRates: NewRates(streamsPerSecond, streamBurst),
		RenderRates: NewRates(rendersPerSecond, renderBurst),

		Bodies:     NewShares(Places{All: 48, Each: 2, PerNamespace: 12, Queue: 16, Wait: shareTimeout}),
		Requests:   NewShares(Places{All: 128, Each: 16, PerNamespace: 64, Queue: 64, Wait: shareTimeout}),
		Writes:     NewShares(Places{All: 8, Each: 2, Queue: 16, Wait: shareTimeout}),
		Renderings: NewShares(Places{All: 2, Each: 1, Queue: 16, Wait: shareTimeout}),
		Images:     NewShares(Places{All: 6, Each: 2, Queue: 16, Wait: shareTimeout}),
		Reads:      NewShares(Places{All: 8, Each: 2, Queue: 16, Wait: shareTimeout}),
		Streams:    NewShares(Places{All: 1024, Each: MaxStreams, PerNamespace: 64}),
		Logs:       NewShares(Places{All: 64, Each: MaxLogs}),
	}
}
