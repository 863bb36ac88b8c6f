package admission

import (
	"context"
	"slices"
	"sync"
)

// clients are those that wait for the same work, and how often each does.
type clients struct {
	mu        sync.Mutex
	names     map[string]int
	followers []*follower
}

// follower is called with each client that comes (1) and goes (-1).
type follower func(client string, n int)

type key struct{}

// For returns a context whose work waits in the turns of a client.
func For(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, key{}, &clients{names: map[string]int{client: 1}})
}

// Share returns a context, without an end, for work that several requests may wait for. It waits in the turns of all
// clients of the contexts with which join is called, those that join them later included, until leave is called.
func Share(ctx context.Context) (shared context.Context, join func(context.Context) (leave func())) {
	c := &clients{names: map[string]int{}}
	join = func(ctx context.Context) (leave func()) { return of(ctx).follow(c.add) }
	return context.WithValue(context.WithoutCancel(ctx), key{}, c), join
}

// of returns the clients of a context, or one without a name.
func of(ctx context.Context) *clients {
	if c, ok := ctx.Value(key{}).(*clients); ok {
		return c
	}
	return &clients{names: map[string]int{"": 1}}
}

func (c *clients) add(client string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.names[client]
	c.names[client] += n
	if c.names[client] == 0 {
		delete(c.names, client)
	} else if before > 0 {
		return // it is known
	}
	for _, changed := range c.followers {
		(*changed)(client, n)
	}
}

// follow calls a function with the clients there are and with those that come and go. After stop, they all are gone.
func (c *clients) follow(changed follower) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	each := func(n int) {
		for client := range c.names {
			changed(client, n)
		}
	}
	each(1)
	c.followers = append(c.followers, &changed)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.followers = slices.DeleteFunc(c.followers, func(f *follower) bool { return f == &changed })
		each(-1)
	}
}
