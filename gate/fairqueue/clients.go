package fairqueue

import (
	"context"
	"sync"
)

// clients is the set of clients that wait for the same work.
type clients struct {
	mu    sync.Mutex
	names map[string]bool
	// followers are called with each client.
	followers []func(client string)
}

type key struct{}

// For returns a context whose work waits in the turns of one client.
func For(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, key{}, &clients{names: map[string]bool{client: true}})
}

// Share returns a context for work that several requests can wait for. The context has no deadline and is not
// canceled. Its work waits in the turns of all clients of ctx and of the contexts passed to join, including clients
// that join those later.
func Share(ctx context.Context) (shared context.Context, join func(context.Context)) {
	c := &clients{names: map[string]bool{}}
	join = func(ctx context.Context) { of(ctx).follow(c.add) }
	join(ctx)
	return context.WithValue(context.WithoutCancel(ctx), key{}, c), join
}

// of returns the clients of a context, or one client without a name.
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

// follow calls a function with each current client, and with each client that is added later.
func (c *clients) follow(added func(client string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.followers = append(c.followers, added)
	for client := range c.names {
		added(client)
	}
}
