package serve

import (
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/pipeline"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// cacheControlCase is a response whose cache TTL is an hour.
type cacheControlCase struct {
	name string
	// control contains the rules of the source, and age is the time since it confirmed the image.
	control original.Control
	age     time.Duration
	state   pipeline.State
	want    string
}

func checkCacheControl(t *testing.T, cases []cacheControlCase) {
	t.Helper()
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			entry := &cache.Entry{Origin: cache.Origin{Control: test.control, Validated: time.Now().Add(-test.age)}}
			if got := cacheControl(entry, test.state, time.Hour); got != test.want {
				t.Errorf("got Cache-Control %q, want %q", got, test.want)
			}
		})
	}
}

func TestResponsesAreCachedForTheTTLIfTheSourceHasNoRules(t *testing.T) {
	checkCacheControl(t, []cacheControlCase{
		{name: "just confirmed", state: pipeline.Hit, want: "public, max-age=3600"},
		{name: "confirmed two hours ago", age: 2 * time.Hour, state: pipeline.Hit, want: "public, max-age=3600"},
	})
}

func TestResponsesAreCachedForAMinuteWhileTheSourceIsAsked(t *testing.T) {
	checkCacheControl(t, []cacheControlCase{
		{name: "the source fails", state: pipeline.Stale, want: "public, max-age=60"},
		{name: "the source is being asked", state: pipeline.Revalidated, want: "public, max-age=60"},
	})
}

func TestResponsesAreCachedNoLongerThanTheSourceAllows(t *testing.T) {
	short := original.Control{Bounded: true, MaxAge: 30 * time.Second, BrowserAge: 30 * time.Second}
	long := original.Control{Bounded: true, MaxAge: 2 * time.Hour, BrowserAge: 2 * time.Hour}
	checkCacheControl(t, []cacheControlCase{
		{name: "just confirmed", control: short, state: pipeline.Miss, want: "public, max-age=30"},
		{name: "the source fails", control: short, state: pipeline.Stale, want: "public, max-age=30"},
		{
			name:    "the age is rounded down to seconds",
			control: short, age: 9100 * time.Millisecond, state: pipeline.Hit, want: "public, max-age=21",
		},
		{name: "outdated", control: short, age: time.Hour, state: pipeline.Revalidated, want: "public, max-age=0"},
		{
			name:    "confirmed in the future, by a clock that was ahead",
			control: short, age: -time.Hour, state: pipeline.Revalidated, want: "public, max-age=30",
		},
		{name: "not at all", control: original.Control{Bounded: true}, state: pipeline.Hit, want: "public, max-age=0"},
		{name: "longer than the TTL", control: long, state: pipeline.Hit, want: "public, max-age=3600"},
		{
			name:    "not stored",
			control: original.Control{NoStore: true}, state: pipeline.Miss, want: "private, no-store",
		},
	})
}

func TestBrowsersAndCDNsHaveTheirOwnLimits(t *testing.T) {
	cdn := original.Control{Bounded: true, MaxAge: 2 * time.Hour, BrowserAge: 30 * time.Second}
	checkCacheControl(t, []cacheControlCase{
		{name: "just confirmed", control: cdn, state: pipeline.Hit, want: "public, max-age=30, s-maxage=3600"},
		{
			name:    "the source fails",
			control: cdn, age: 9 * time.Second, state: pipeline.Stale, want: "public, max-age=21, s-maxage=60",
		},
		{
			name:    "outdated for browsers",
			control: cdn, age: time.Hour, state: pipeline.Hit, want: "public, max-age=0, s-maxage=3600",
		},
		{
			name:    "outdated for both",
			control: cdn, age: 2*time.Hour + 1, state: pipeline.Revalidated, want: "public, max-age=0",
		},
	})
}

func TestOnlyMissingImagesAreCachedAmongProblems(t *testing.T) {
	for _, kind := range kinds() {
		want := "no-store"
		if kind == problem.Missing {
			want = "public, max-age=5"
		}
		if got := cacheControlOfProblem(kind); got != want {
			t.Errorf("%s: got Cache-Control %q, want %q", kind, got, want)
		}
	}
}
