package apiserver_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// message is one server-sent event, or a comment.
type message struct {
	kind, data string
}

// String returns the kind, and the name of the Darkroom.
func (m message) String() string {
	body := wire.Darkroom{}
	_ = json.Unmarshal([]byte(m.data), &body) // comments have none
	return strings.TrimSpace(m.kind + " " + body.Name)
}

// follower reads a stream.
type follower struct {
	t        *testing.T
	messages chan message
	end      func()
	// seen are the messages received so far.
	seen []message
}

// follow opens a stream, and reads it until the test ends.
func (s *server) follow(token, path string, headers ...string) *follower {
	s.t.Helper()
	return s.followSlowly(1024, token, path, headers...)
}

// followSlowly reads only while fewer than the given number of messages are unused.
func (s *server) followSlowly(unused int, token, path string, headers ...string) *follower {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	response, err := s.send(ctx, token, http.MethodGet, path, nil, headers...)
	expect.NoError(s.t, err)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("stream: got status %d %s", response.StatusCode, response.Header)
	}
	f := &follower{t: s.t, messages: make(chan message, unused), end: cancel}
	go f.read(response.Body)
	return f
}

func (f *follower) read(body io.ReadCloser) {
	defer close(f.messages)
	defer body.Close()
	current := message{}
	for scanner := bufio.NewScanner(body); scanner.Scan(); {
		name, value, _ := strings.Cut(scanner.Text(), ": ")
		switch {
		case name == "event" || name == "" && value != "":
			current.kind = value
		case name == "data":
			current.data = value
		case current.kind != "":
			f.messages <- current
			current = message{}
		}
	}
}

// receive returns the next message, and false if the server has closed the stream.
func (f *follower) receive() (m message, open bool) {
	f.t.Helper()
	select {
	case m, open = <-f.messages:
		f.seen = append(f.seen, m)
	case <-time.After(wait.Patience):
		f.t.Fatalf("no event and no end in %s", wait.Patience)
	}
	return m, open
}

// next returns the next message other than heartbeats.
func (f *follower) next() message {
	f.t.Helper()
	for {
		m, open := f.receive()
		if !open {
			f.t.Fatal("the stream has ended")
		}
		if m.kind != "heartbeat" {
			return m
		}
	}
}

// until reads until an event of a kind, and returns it.
func (f *follower) until(kind string) message {
	f.t.Helper()
	for {
		if m := f.next(); m.kind == kind {
			return m
		}
	}
}

// rest waits until the server has closed the stream, and returns the remaining messages.
func (f *follower) rest() (out []message) {
	f.t.Helper()
	for {
		m, open := f.receive()
		if !open {
			return out
		}
		out = append(out, m)
	}
}

// wants checks the next messages, and returns the last one.
func (f *follower) wants(want ...string) (last message) {
	f.t.Helper()
	var got []string
	for range want {
		last = f.next()
		got = append(got, last.String())
	}
	if !slices.Equal(got, want) {
		f.t.Fatalf("the stream continues with %q, want %q", got, want)
	}
	return last
}

func quick(o *apiserver.Options) { o.Heartbeat = 50 * time.Millisecond }

func TestStreamSendsEvents(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "before"))

	f := s.follow(token, "/events/stream")
	f.wants("reset", "added before", "synced")
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	f.wants("added photos") // changes that follow each other before the stream is written are sent as one
	s.want(http.StatusOK, token, "PATCH", path(namespace, "photos"), `{"replicas":2}`, "If-Match", "*", "Content-Type",
		"application/merge-patch+json")
	f.wants("modified photos")
	s.want(http.StatusNoContent, token, "DELETE", path(namespace, "photos"), "")
	f.wants("deleted photos")
}

func TestStreamIsCompressedAndEachEventArrivesAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	namespace := newNamespace(t)
	editor := newEditor(t, namespace)
	const many = 60
	for i := range many {
		create(t, darkrooms.New(fmt.Sprintf("photos-%d", i), namespace).SubDomains(fmt.Sprintf("photos-%d", i)).Obj())
	}
	eventually(t, "the server has all Darkrooms", func() error {
		if n := len(listed(t, s, editor.token, "?namespace="+namespace)); n != many {
			return fmt.Errorf("%d Darkrooms", n)
		}
		return nil
	})
	response, err := s.send(t.Context(), editor.token, http.MethodGet, "/events/stream?namespace="+namespace, nil,
		"Accept-Encoding", "br, gzip")
	expect.NoError(t, err)
	got := response.Header
	if got.Get("Content-Encoding") != "gzip" || !slices.Contains(got.Values("Vary"), "Accept-Encoding") {
		t.Fatalf("the headers are %v", got)
	}
	raw, plain := &counter{in: response.Body}, &counter{}
	plain.in, err = gzip.NewReader(raw)
	expect.NoError(t, err)
	f := &follower{t: t, messages: make(chan message, 1024)}
	go f.read(io.NopCloser(plain))
	f.until("synced")
	if sent, said := raw.n.Load(), plain.n.Load(); said < 5*sent {
		t.Errorf("%d bytes are sent in %d", said, sent)
	}
	create(t, darkrooms.New("later", namespace).SubDomains("later").Obj())
	f.wants("added later")
}

// counter counts the bytes that are read.
type counter struct {
	in io.Reader
	n  atomic.Int64
}

func (c *counter) Read(into []byte) (int, error) {
	n, err := c.in.Read(into)
	c.n.Add(int64(n))
	return n, err
}

func TestStreamIsFilteredAndFollowsRights(t *testing.T) {
	t.Parallel()
	s, one, two := start(t, quick), newNamespace(t), newNamespace(t)
	editorOfOne, editorOfTwo := newEditor(t, one).token, newEditor(t, two).token
	both := newUser(t, one, "both")
	both.may(one, canView)
	s.want(http.StatusCreated, editorOfTwo, "POST", "/darkrooms", webFolder(two, "hidden"))

	f := s.follow(both.token, "/events/stream")
	f.wants("reset", "synced")
	s.want(http.StatusCreated, editorOfTwo, "POST", "/darkrooms", webFolder(two, "hidden-too"))
	s.want(http.StatusCreated, editorOfOne, "POST", "/darkrooms", webFolder(one, "shown"))
	f.wants("added shown")
	// When Darkrooms become visible or invisible, the client starts again.
	revoke := both.may(two, canView)
	f.wants("reset")
	seen := []string{f.next().String(), f.next().String(), f.next().String()}
	slices.Sort(seen)
	if want := []string{"added hidden", "added hidden-too", "added shown"}; !slices.Equal(seen, want) {
		t.Errorf("with more permissions the stream continues with %q, want %q", seen, want)
	}
	f.wants("synced")
	revoke()
	f.wants("reset", "added shown", "synced")

	// The stream of a single namespace ends when the permission there is lost.
	only := newUser(t, two, "only")
	lose := only.may(two, canView)
	g := s.follow(only.token, "/events/stream?namespace="+two)
	g.until("synced")
	lose()
	g.rest()
}
