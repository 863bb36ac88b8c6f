// Package timing records the duration of the parts of a request, for the header Server-Timing.
package timing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Record contains the times of one request. Shared work counts for the request that started it. Its methods are safe
// for concurrent use.
type Record struct {
	mu    sync.Mutex
	parts []part
}

type part struct {
	name string
	took time.Duration
}

type key struct{}

// With returns a context with a new record.
func With(ctx context.Context) (context.Context, *Record) {
	r := &Record{}
	return context.WithValue(ctx, key{}, r), r
}

// Same reports whether two contexts have the same record.
func Same(a, b context.Context) bool { return a.Value(key{}) == b.Value(key{}) }

// Add adds to the time of a part, if the context has a record.
func Add(ctx context.Context, name string, took time.Duration) {
	r, ok := ctx.Value(key{}).(*Record)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.parts, func(p part) bool { return p.name == name })
	if at < 0 {
		at, r.parts = len(r.parts), append(r.parts, part{name: name})
	}
	r.parts[at].took += took
}

// Header returns the value of Server-Timing, in milliseconds and in the order in which the parts ended.
func (r *Record) Header(state string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out strings.Builder
	out.WriteString("cache;desc=" + state)
	for _, p := range r.parts {
		fmt.Fprintf(&out, ", %s;dur=%.1f", p.name, float64(p.took)/float64(time.Millisecond))
	}
	return out.String()
}
