package live

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

var (
	eventLine = regexp.MustCompile(`(?m)^event: (.*)$`)
	idLine    = regexp.MustCompile(`(?m)^id: (.*)$`)
)

// streamed returns what a client receives that comes back with an id, until the server stops.
func streamed(t *testing.T, journal *Journal, may rights, only, lastEventID string) (events, lastID string) {
	t.Helper()
	scope, err := NewScope(t.Context(), may, "watch", only)
	expect.NoError(t, err)
	stopping := make(chan struct{})
	close(stopping)
	stream := &Stream{
		Journal: journal, Scope: scope, Heartbeat: time.Hour, Stopping: stopping,
		StillKnown: func(context.Context) error { return nil },
	}
	w := httptest.NewRecorder()
	if err := stream.Run(t.Context(), w, false, lastEventID); !errors.Is(err, errShutdown) {
		t.Fatalf("the stream ends: %v", err)
	}
	var kinds []string
	for _, found := range eventLine.FindAllStringSubmatch(w.Body.String(), -1) {
		kinds = append(kinds, found[1])
	}
	if ids := idLine.FindAllStringSubmatch(w.Body.String(), -1); len(ids) > 0 {
		lastID = ids[len(ids)-1][1]
	}
	return strings.Join(kinds, " "), lastID
}

func TestAStreamGoesOnOnlyWhereNothingIsMissed(t *testing.T) {
	const everything = "reset added added added synced"
	all, some := rights{"": true}, rights{"a": true}
	journal := journalOf("a/before", "b/before")
	_, ofAll := streamed(t, journal, all, "", "")
	_, ofOne := streamed(t, journal, some, "a", "")
	_, ofSome := streamed(t, journal, some, "", "")
	journal.Put(journalOf("a/later").Get(keyOf("a/later")))
	for name, c := range map[string]struct {
		may      rights
		only, id string
		want     string
	}{
		"a new client":                 {all, "", "", everything},
		"who had all":                  {all, "", ofAll, "added"},
		"who had one namespace":        {some, "a", ofOne, "added"},
		"who had some, which may vary": {some, "", ofSome, "reset added added synced"},
		"who had all, and now some":    {some, "", ofAll, "reset added added synced"},
		"who had one, and now all":     {all, "", ofOne, everything},
		"another server's id":          {all, "", "elsewhere-1/*", everything},
		"an id of the future":          {all, "", strings.Replace(ofAll, "/", "999999/", 1), everything},
		"no id":                        {all, "", "x", everything},
	} {
		if got, _ := streamed(t, journal, c.may, c.only, c.id); got != c.want {
			t.Errorf("%s: the stream is %q, want %q", name, got, c.want)
		}
	}
}

func TestAStreamThatFellBehindStartsAgain(t *testing.T) {
	journal := journalOf("a/before")
	_, id := streamed(t, journal, rights{"": true}, "", "")
	for range 5 {
		journal.Put(journalOf("a/more").Get(keyOf("a/more")))
		journal.Remove(keyOf("a/more"))
	}
	if got, _ := streamed(t, journal, rights{"": true}, "", id); got != "reset added synced" {
		t.Errorf("the stream is %q", got)
	}
}

// slow is a client that takes its time for each piece of a response.
type slow struct {
	*httptest.ResponseRecorder

	each time.Duration
}

func (s *slow) Write(piece []byte) (int, error) {
	time.Sleep(s.each)
	return s.ResponseRecorder.Write(piece)
}

// TestWhoReadsSlowlyIsCheckedAtEachHeartbeat while the list, or changes, are sent: the stream of a caller ends within 25
// seconds of the end of the token or of the right.
func TestWhoReadsSlowlyIsCheckedAtEachHeartbeat(t *testing.T) {
	const revoked = 40 * time.Second
	for _, isResumed := range []bool{false, true} {
		for _, revoke := range []string{"token", "right"} {
			synctest.Test(t, func(t *testing.T) {
				journal, may := NewJournal(1024, sizeOf), rights{"a": true}
				lastID := journal.ID(0) + "/a"
				if !isResumed {
					lastID = ""
				}
				for i := range 100 {
					name := fmt.Sprint("photos-", i)
					journal.Put(darkrooms.New(name, "a").UID(types.UID(name)).Annotation("a", strings.Repeat("x", collected)).Obj())
				}
				scope, err := NewScope(t.Context(), may, "watch", "a")
				expect.NoError(t, err)
				began := time.Now()
				stream := &Stream{
					Journal: journal, Scope: scope, Heartbeat: 15 * time.Second, Stopping: make(chan struct{}),
					StillKnown: func(context.Context) error {
						isOver := time.Since(began) >= revoked
						if isOver && revoke == "token" {
							return errors.New("revoked")
						}
						may["a"] = !isOver
						return nil
					},
				}
				w := &slow{httptest.NewRecorder(), 4 * time.Second}
				if err := stream.Run(t.Context(), w, false, lastID); !errors.Is(err, errNoLongerMay) {
					t.Errorf("resumed %t, the stream ends with %v", isResumed, err)
				}
				if took := time.Since(began); took > revoked+25*time.Second {
					t.Errorf("resumed %t, without the %s the stream ends after %s", isResumed, revoke, took)
				}
			})
		}
	}
}
