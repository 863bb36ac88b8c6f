package listen

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
)

// Limits are the limits of a listener.
type Limits struct {
	// All limits all connections, and Unknown the connections of unauthenticated callers. All must be greater.
	All, Unknown int
}

// Listener limits its connections. It is created by Bound.
type Listener struct {
	net.Listener

	limits Limits

	mu sync.Mutex
	// open counts all connections. unknown contains the connections of unauthenticated callers by address, oldest first.
	open    int
	waiting int
	unknown map[netip.Addr][]*connection
}

// Bound returns a listener with limits. If callers authenticate, its server needs Attach.
func Bound(listener net.Listener, limits Limits) *Listener {
	return &Listener{Listener: listener, limits: limits, unknown: map[netip.Addr][]*connection{}}
}

// Accept returns the next connection within the limits.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: accepted, listener: l, from: addressOf(accepted)}
		if victim, ok := l.admit(c); !ok {
			_ = accepted.Close()
		} else {
			if victim != nil {
				_ = victim.Conn.Close()
			}
			return c, nil
		}
	}
}

// admit makes room for a connection by closing another one, unless all callers are authenticated.
func (l *Listener) admit(c *connection) (victim *connection, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting >= l.limits.Unknown || l.open >= l.limits.All {
		if victim = l.oldest(); victim == nil {
			return nil, false
		}
		l.drop(victim)
	}
	l.open++
	l.wait(c)
	return victim, true
}

// oldest returns the oldest connection of the address with the most unauthenticated callers. The caller must hold the
// lock.
func (l *Listener) oldest() *connection {
	var most []*connection
	for _, of := range l.unknown {
		if len(of) > len(most) || len(of) == len(most) && len(of) > 0 && of[0].from.Less(most[0].from) {
			most = of
		}
	}
	if len(most) == 0 {
		return nil
	}
	return most[0]
}

// wait, known and drop change the state of a connection. The caller must hold the lock.
func (l *Listener) wait(c *connection) {
	if c.state != unknownCaller {
		c.state = unknownCaller
		l.waiting++
		l.unknown[c.from] = append(l.unknown[c.from], c)
	}
}

func (l *Listener) known(c *connection) {
	if c.state != unknownCaller {
		return
	}
	c.state = knownCaller
	l.waiting--
	of := l.unknown[c.from]
	if i := slices.Index(of, c); i >= 0 {
		of = slices.Delete(of, i, i+1)
	}
	if l.unknown[c.from] = of; len(of) == 0 {
		delete(l.unknown, c.from)
	}
}

func (l *Listener) drop(c *connection) {
	if c.state == dropped {
		return
	}
	l.known(c)
	c.state = dropped
	l.open--
}

type state int

const (
	accepted state = iota
	unknownCaller
	knownCaller
	dropped
)

// connection is an accepted connection.
type connection struct {
	net.Conn

	listener *Listener
	from     netip.Addr
	state    state
}

// Close closes the connection and makes room for another one.
func (c *connection) Close() error {
	c.listener.mu.Lock()
	c.listener.drop(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

func addressOf(c net.Conn) netip.Addr {
	from, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr().Unmap()
}

// of returns the connection that a server received from a Listener, possibly wrapped in TLS.
func of(c net.Conn) *connection {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	bounded, _ := c.(*connection)
	return bounded
}

type connectionKey struct{}

// Attach lets handlers of a server call Keep.
func Attach(server *http.Server) {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, of(c))
	}
	server.ConnState = func(c net.Conn, now http.ConnState) {
		bounded := of(c)
		if bounded == nil || now != http.StateIdle {
			return
		}
		bounded.listener.mu.Lock()
		defer bounded.listener.mu.Unlock()
		if bounded.state == knownCaller {
			bounded.listener.wait(bounded)
		}
	}
}

// Keep marks the caller of a request as authenticated. Its connection is not closed in favor of others until the request
// ends.
func Keep(ctx context.Context) {
	if c, _ := ctx.Value(connectionKey{}).(*connection); c != nil {
		c.listener.mu.Lock()
		defer c.listener.mu.Unlock()
		c.listener.known(c)
	}
}
