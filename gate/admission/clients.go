package admission

import (
	"context"
	"sync"
)

// clients are those that wait for the same work.
type clients struct {
	mu    sync.Mutex
	names map[string]bool
	// followers are called with each client.
	followers []func(client string)
}

type key struct{}

// For returns a context whose work waits in the turns of a client.
func For(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, key{}, &clients{names: map[string]bool{client: true}})
}

// Share returns a context, without an end, for work that other requests may wait for too. It waits in the turns
// of all clients of ctx and of the contexts with which join is called, those that join them later included.
func Share(ctx context.Context) (shared context.Context, join func(context.Context)) {
	c := &clients{names: map[string]bool{}}
	join = func(ctx context.Context) { of(ctx).follow(c.add) }
	join(ctx)
	return context.WithValue(context.WithoutCancel(ctx), key{}, c), join
}

// of returns the clients of a context, or one without a name.
func of(ctx context.Context) *clients {
	if c, ok := ctx.Value(key{}).(*clients); ok {
		return c
	}
	return &clients{names: map[string]bool{"": true}}
}

func (c *clients) add(client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.names[client] {
		return
	}
	c.names[client] = true
	for _, added := range c.followers {
		added(client)
	}
}

// follow calls a function with the clients there are, and with those that are added.
func (c *clients) follow(added func(client string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.followers = append(c.followers, added)
	for client := range c.names {
		added(client)
	}
}
