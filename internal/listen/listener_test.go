package listen_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/listen"
)

// serve starts a server with limits: /known marks its connection as known and waits until the test ends.
func serve(t *testing.T, limits listen.Limits) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/known", func(w http.ResponseWriter, r *http.Request) {
		listen.Keep(r.Context())
		_, _ = io.WriteString(w, "begun\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		listen.Keep(r.Context())
		_, _ = io.WriteString(w, "ok\n")
	})
	server := listen.SmallServer(mux)
	listen.Attach(server)
	go func() { _ = server.Serve(listen.Bound(listener, limits)) }()
	t.Cleanup(func() {
		close(ended)
		_ = server.Close()
	})
	return listener.Addr().String()
}

// dial connects from a loopback address and sends the beginning of a request.
func dial(t *testing.T, from, to, sends string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := dialer.DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_, _ = io.WriteString(c, sends)
	return c
}

const (
	unfinished = "GET / HTTP/1.1\r\nHost: a\r\nX: "
	attacker   = "127.0.0.2"
	modest     = "127.0.0.3"
)

// answers returns the status of the response to a complete request.
func answers(t *testing.T, c net.Conn) (status int, err error) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return response.StatusCode, nil
}

func TestAnAddressThatFillsAListenerKeepsNobodyOut(t *testing.T) {
	address := serve(t, listen.Limits{All: 8, Unknown: 4})
	// A waiting connection from another address is not closed in favor of the attacker's connections.
	waits := dial(t, modest, address, unfinished)
	for range 40 {
		dial(t, attacker, address, unfinished)
		other := dial(t, modest, address, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		if status, err := answers(t, other); err != nil || status != http.StatusOK {
			t.Fatalf("another client: got %d, %v", status, err)
		}
		_ = other.Close()
	}
	_, _ = io.WriteString(waits, "y\r\n\r\n")
	if status, err := answers(t, waits); err != nil || status != http.StatusOK {
		t.Errorf("a connection that waited: got %d, %v", status, err)
	}
}

func TestConnectionsOfKnownCallersAreKept(t *testing.T) {
	const all = 6
	address := serve(t, listen.Limits{All: all, Unknown: 3})
	var known []*bufio.Reader
	for range all - 1 {
		reader := bufio.NewReader(dial(t, modest, address, "GET /known HTTP/1.1\r\nHost: a\r\n\r\n"))
		response, err := http.ReadResponse(reader, nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("a caller is refused: %v", err)
		}
		known = append(known, reader)
	}
	for range 40 {
		dial(t, attacker, address, unfinished)
	}
	for i, reader := range known {
		// The chunk has arrived and the connection is open, but nothing else can be read from it.
		if reader.Buffered() == 0 {
			if _, err := reader.Peek(1); err != nil {
				t.Errorf("connection %d of a known caller: %v", i, err)
			}
		}
	}
	one := dial(t, modest, address, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	if status, err := answers(t, one); err != nil || status != http.StatusOK {
		t.Errorf("the remaining place: got %d, %v", status, err)
	}
}

// A connection is idle after its request, no matter who sent it.
func TestIdleConnectionsGiveWay(t *testing.T) {
	address := serve(t, listen.Limits{All: 3, Unknown: 3})
	for i := range 20 {
		c := dial(t, modest, address, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		if status, err := answers(t, c); err != nil || status != http.StatusOK {
			t.Fatalf("client %d: got %d, %v", i, status, err)
		}
	}
}
