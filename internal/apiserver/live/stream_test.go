package live

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// slow is a client that waits before it reads each piece of a response.
type slow struct {
	*httptest.ResponseRecorder

	each time.Duration
}

func (s *slow) Write(piece []byte) (int, error) {
	time.Sleep(s.each)
	return s.ResponseRecorder.Write(piece)
}

// TestASlowReaderIsCheckedAtEachHeartbeat checks that the stream of a slow caller ends within 25 seconds after the
// token or the permission has ended, while the list or changes are being sent.
func TestASlowReaderIsCheckedAtEachHeartbeat(t *testing.T) {
	const revoked = 40 * time.Second
	for _, revoke := range []string{"token", "right"} {
		synctest.Test(t, func(t *testing.T) {
			all, may := NewDarkrooms(), rights{"a": true}
			for i := range 100 {
				name := fmt.Sprint("photos-", i)
				all.Put(darkrooms.New(name, "a").UID(types.UID(name)).Annotation("a", strings.Repeat("x", collected)).Obj())
			}
			scope, err := NewScope(t.Context(), may, "watch", "a")
			expect.NoError(t, err)
			began := time.Now()
			stream := &Stream{
				Darkrooms: all, Scope: scope, Heartbeat: 15 * time.Second, Stopping: make(chan struct{}),
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
			if err := stream.Run(t.Context(), w, false); !errors.Is(err, errNoLongerMay) {
				t.Errorf("the stream ended with %v", err)
			}
			if took := time.Since(began); took > revoked+25*time.Second {
				t.Errorf("without the %s, the stream ended after %s", revoke, took)
			}
		})
	}
}

// Pages detect a dead connection by the missing sign of life.
func TestAStreamHasASignOfLifeEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scope, err := NewScope(t.Context(), rights{"a": true}, "watch", "a")
		expect.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+keepAlivePeriod/2)
		defer cancel()
		stream := &Stream{Darkrooms: NewDarkrooms(), Scope: scope, Heartbeat: time.Hour, Stopping: make(chan struct{})}
		w := httptest.NewRecorder()
		if err := stream.Run(ctx, w, false); !errors.Is(err, errClientGone) {
			t.Errorf("the stream ended with %v", err)
		}
		if signs := strings.Count(w.Body.String(), "\n:\n"); signs != 10 {
			t.Errorf("%d signs in 10 seconds", signs)
		}
	})
}
