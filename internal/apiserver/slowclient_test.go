package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

// pipes is a listener whose connections have no buffer: the server waits for each
// byte until the client reads it.
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

func TestSlowClientLosesTheConnectionAndNoEvent(t *testing.T) {
	t.Parallel()
	listener := &pipes{connections: make(chan net.Conn), closed: make(chan struct{})}
	s := startAt(t, listener, func(o *apiserver.Options) { o.Backlog = 4 })
	transport := &http.Transport{DialContext: listener.dial}
	defer transport.CloseIdleConnections()
	s.url, s.transport = "http://pipe", transport
	s.becomes(http.StatusOK, "", "GET", "/readyz", "")
	namespace := newNamespace(t)
	token, watched := newEditor(t, namespace).token, "/events/stream?namespace="+namespace

	slow := s.followSlowly(0, token, watched)
	id := slow.until("synced").id
	// The client does not read while more events occur than the server keeps.
	var want []string
	for i := range 40 {
		name := fmt.Sprintf("d%02d", i)
		want = append(want, "added "+name)
		create(t, &v1alpha1.Darkroom{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: v1alpha1.DarkroomSpec{
				Source:     v1alpha1.Source{BaseURL: "https://example.com"},
				SubDomains: []string{"x"},
			},
		})
	}
	eventually(t, "server knows all", func() error {
		if n := len(listed(t, s, token, "?namespace="+namespace)); n != len(want) {
			return fmt.Errorf("%d Darkrooms", n)
		}
		return nil
	})
	// The server has not waited: what the client reads now ends before all is told.
	told := slow.rest()
	if len(told) >= len(want) {
		t.Fatalf("the client was told %d of %d: nothing of this tests a slow client", len(told), len(want))
	}
	if len(told) > 0 {
		id = told[len(told)-1].id
	}
	// It comes back, and has everything.
	s.follow(token, watched, "Last-Event-ID", id).wants(append(append([]string{"reset"}, want...), "synced")...)
}
