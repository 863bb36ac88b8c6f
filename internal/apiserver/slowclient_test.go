package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// pipes is a listener whose connections have no buffer: the server blocks until the client reads each byte.
type pipes struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.connections:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.connections <- server:
		return client, nil
	case <-p.closed:
		return nil, errors.New("closed")
	}
}

func TestASlowClientHoldsNobodyAndMissesNothing(t *testing.T) {
	t.Parallel()
	listener := &pipes{connections: make(chan net.Conn), closed: make(chan struct{})}
	s := startAt(t, listener)
	transport := &http.Transport{DialContext: listener.dial}
	defer transport.CloseIdleConnections()
	s.url, s.transport = "http://pipe", transport
	s.becomes(http.StatusOK, "", "GET", "/readyz", "")
	namespace := newNamespace(t)
	token, watched := newEditor(t, namespace).token, "/events/stream?namespace="+namespace

	slow := s.followSlowly(0, token, watched)
	slow.until("synced")
	// Meanwhile the client does not read.
	want := map[string]bool{}
	for i := range 40 {
		name := fmt.Sprintf("d%02d", i)
		want[name] = true
		create(t, darkrooms.New(name, namespace).SubDomains("x").Obj())
	}
	eventually(t, "server has all Darkrooms", func() error {
		if n := len(listed(t, s, token, "?namespace="+namespace)); n != len(want) {
			return fmt.Errorf("%d Darkrooms", n)
		}
		return nil
	})
	for len(want) > 0 {
		told, open := slow.receive()
		if !open {
			slow = s.follow(token, watched) // it was too slow, so the stream begins again
		}
		delete(want, strings.TrimPrefix(told.String(), "added "))
	}
}
