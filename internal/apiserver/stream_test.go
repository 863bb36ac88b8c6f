package apiserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// message is one server-sent event, or a comment.
type message struct {
	id, kind, data string
}

func (m message) String() string { return m.kind + " " + m.data }

// follower reads a stream.
type follower struct {
	t        *testing.T
	messages chan message
	end      func()

	mu  sync.Mutex
	raw strings.Builder
}

// follow opens a stream, and reads it until the test ends.
func (s *server) follow(token, path string, headers ...string) *follower {
	s.t.Helper()
	return s.followSlowly(1024, token, path, headers...)
}

// followSlowly reads on only while fewer than so many messages are not yet used.
func (s *server) followSlowly(unused int, token, path string, headers ...string) *follower {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	response, err := s.send(ctx, token, http.MethodGet, path, nil, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("stream answers %d %s", response.StatusCode, response.Header)
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
		line := scanner.Text()
		f.mu.Lock()
		f.raw.WriteString(line + "\n")
		f.mu.Unlock()
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "id":
			current.id = value
		case "event":
			current.kind = value
		case "data":
			current.data = value
		case "":
			if value != "" {
				current.kind = value
			}
			if current.kind != "" {
				f.messages <- current
			}
			current = message{}
		}
	}
}

func (f *follower) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.raw.String()
}

// receive returns the next message, or that the server has closed the stream.
func (f *follower) receive(t *testing.T) (m message, open bool) {
	t.Helper()
	select {
	case m, open = <-f.messages:
	case <-time.After(waitTimeout):
		t.Fatalf("no event and no end in %s", waitTimeout)
	}
	return m, open
}

// next returns the next message other than heartbeats.
func (f *follower) next(t *testing.T) message {
	t.Helper()
	for {
		m, open := f.receive(t)
		if !open {
			t.Fatal("the stream has ended")
		}
		if m.kind != "heartbeat" {
			return m
		}
	}
}

// until reads up to an event of a kind, which it returns.
func (f *follower) until(t *testing.T, kind string) message {
	t.Helper()
	for {
		if m := f.next(t); m.kind == kind {
			return m
		}
	}
}

// rest waits until the server has closed the stream, and returns what was left.
func (f *follower) rest(t *testing.T) (out []message) {
	t.Helper()
	for {
		m, open := f.receive(t)
		if !open {
			return out
		}
		out = append(out, m)
	}
}

// kinds returns the kind and the name in each of the next messages.
func (f *follower) kinds(t *testing.T, n int) []string {
	t.Helper()
	var out []string
	for range n {
		m := f.next(t)
		body := wire.Darkroom{}
		if err := json.Unmarshal([]byte(m.data), &body); err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimSpace(m.kind+" "+body.Name))
	}
	return out
}

func quick(o *apiserver.Options) { o.Heartbeat = 50 * time.Millisecond }

func TestStreamSendsEvents(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "before"))

	f := s.follow(token, "/events/stream")
	if got, want := f.kinds(t, 3), []string{"reset", "added before", "synced"}; !slices.Equal(got, want) {
		t.Fatalf("the stream begins with %q, want %q", got, want)
	}
	s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, "photos"))
	s.want(http.StatusOK, token, "PATCH", path(namespace, "photos"), `{"replicas":2}`, "If-Match", "*", "Content-Type", "application/merge-patch+json")
	s.want(http.StatusNoContent, token, "DELETE", path(namespace, "photos"), "")
	if got, want := f.kinds(t, 3), []string{"added photos", "modified photos", "deleted photos"}; !slices.Equal(got, want) {
		t.Errorf("the stream goes on with %q, want %q", got, want)
	}
}

func TestStreamResumes(t *testing.T) {
	t.Parallel()
	s, namespace := start(t, func(o *apiserver.Options) { o.Backlog = 1000 }), newNamespace(t)
	token, watched := newEditor(t, namespace).token, "/events/stream?namespace="+namespace
	f := s.follow(token, watched)
	last := f.until(t, "synced")
	f.end()
	f.rest(t)
	for _, name := range []string{"a", "b"} {
		s.want(http.StatusCreated, token, "POST", "/darkrooms", webFolder(namespace, name))
	}
	resumed := s.follow(token, watched, "Last-Event-ID", last.id)
	first := resumed.next(t)
	if first.kind != "added" || !strings.Contains(first.data, `"name":"a"`) {
		t.Fatalf("resumes with %s", first)
	}
	if got := resumed.kinds(t, 1); got[0] != "added b" {
		t.Errorf("goes on with %q", got)
	}
	again := s.follow(token, watched, "Last-Event-ID", first.id)
	if got := again.kinds(t, 1); got[0] != "added b" {
		t.Errorf("resumes in the middle with %q", got)
	}
	some := s.follow(token, "/events/stream").until(t, "synced").id
	for name, c := range map[string]struct{ path, id string }{
		"another server's":        {watched, "elsewhere-1/" + namespace},
		"from the future":         {watched, strings.Replace(last.id, "/", "999999/", 1)},
		"made up":                 {watched, "x"},
		"of another namespace":    {watched, strings.Replace(last.id, "/", "/other-", 1)},
		"of all namespaces":       {watched, strings.Replace(some, "/-", "/*", 1)},
		"of some, which may vary": {"/events/stream", some},
		"of one, and now of some": {"/events/stream", last.id},
		"of all, and now of some": {"/events/stream", strings.Replace(some, "/-", "/*", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.on(t).follow(token, c.path, "Last-Event-ID", c.id).kinds(t, 4); !slices.Equal(got, []string{"reset", "added a", "added b", "synced"}) {
				t.Errorf("begins with %q", got)
			}
		})
	}
}

func TestStreamIsFilteredAndFollowsRights(t *testing.T) {
	t.Parallel()
	s, one, two := start(t, quick), newNamespace(t), newNamespace(t)
	editorOfOne, editorOfTwo := newEditor(t, one).token, newEditor(t, two).token
	both := newUser(t, one, "both")
	both.may(one, canView)
	s.want(http.StatusCreated, editorOfTwo, "POST", "/darkrooms", webFolder(two, "hidden"))

	f := s.follow(both.token, "/events/stream")
	if got := f.kinds(t, 2); !slices.Equal(got, []string{"reset", "synced"}) {
		t.Fatalf("the stream begins with %q", got)
	}
	s.want(http.StatusCreated, editorOfTwo, "POST", "/darkrooms", webFolder(two, "hidden-too"))
	s.want(http.StatusCreated, editorOfOne, "POST", "/darkrooms", webFolder(one, "shown"))
	if got := f.kinds(t, 1); got[0] != "added shown" {
		t.Errorf("sees %q", got)
	}
	// When Darkrooms become visible or invisible, the client starts again.
	revoke := both.may(two, canView)
	var seen []string
	for range 4 {
		m := f.next(t)
		seen = append(seen, m.kind)
	}
	if !slices.Equal(seen, []string{"reset", "added", "added", "added"}) {
		t.Errorf("with more rights the stream goes on with %q", seen)
	}
	f.until(t, "synced")
	revoke()
	if got := f.kinds(t, 3); !slices.Equal(got, []string{"reset", "added shown", "synced"}) {
		t.Errorf("with fewer rights the stream goes on with %q", got)
	}

	// One namespace alone, whose right is then lost: the stream ends.
	only := newUser(t, two, "only")
	lose := only.may(two, canView)
	g := s.follow(only.token, "/events/stream?namespace="+two)
	g.until(t, "synced")
	lose()
	g.rest(t)
}
