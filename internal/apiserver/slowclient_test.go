package apiserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
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
	s.url = "http://pipe"
	namespace := newNamespace(t)
	token := newEditor(t, namespace).token
	slow := &http.Client{Transport: &http.Transport{DialContext: listener.dial}}
	defer slow.CloseIdleConnections()

	follow := func(lastEventID string) *bufio.Reader {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/events/stream?namespace="+namespace, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Last-Event-ID", lastEventID)
		response, err := slow.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return bufio.NewReaderSize(response.Body, 16)
	}
	reader := follow("")
	id := ""
	for line := ""; !strings.HasPrefix(line, "event: synced"); {
		var err error
		if line, err = reader.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if found, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(found)
		}
	}
	// The client does not read while more events occur than the server keeps.
	const many = 40
	for i := range many {
		create(t, &v1alpha1.Darkroom{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("d%02d", i)},
			Spec:       v1alpha1.DarkroomSpec{Source: v1alpha1.Source{BaseURL: "https://example.com"}, SubDomains: []string{"x"}},
		})
	}
	list := &http.Client{Transport: &http.Transport{DialContext: listener.dial}}
	defer list.CloseIdleConnections()
	eventually(t, "server knows all", func() error {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/darkrooms?namespace="+namespace, nil)
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := list.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		page := apiserver.DarkroomList{}
		if err := json.NewDecoder(response.Body).Decode(&page); err != nil || len(page.Items) != many {
			return fmt.Errorf("%d Darkrooms, %w", len(page.Items), err)
		}
		return nil
	})
	// The server has not waited: what the client reads now ends before all is told.
	rest, err := io.ReadAll(reader)
	if err != nil {
		t.Fatalf("the stream was cut, not ended: %v", err)
	}
	if told := strings.Count(string(rest), "event: added"); told >= many {
		t.Fatalf("the client was told %d of %d: nothing of this tests a slow client", told, many)
	}
	if found := regexp.MustCompile(`(?m)^id: (.*)$`).FindAllStringSubmatch(string(rest), -1); len(found) > 0 {
		id = found[len(found)-1][1]
	}
	// It comes back, and has everything.
	var names []string
	for reader := follow(id); ; {
		line, err := reader.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "event: synced") {
			break
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			body := wire.Darkroom{}
			if err := json.Unmarshal([]byte(data), &body); err != nil {
				t.Fatal(err)
			}
			if body.Name != "" {
				names = append(names, body.Name)
			}
		}
	}
	if len(names) != many || names[0] != "d00" || names[many-1] != "d39" {
		t.Errorf("after resuming the client has %q", names)
	}
}
