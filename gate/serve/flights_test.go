package serve

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// opening is a source of one function.
type opening func(ctx context.Context) (*source.Response, error)

func (o opening) Open(ctx context.Context, _ string, _ original.Validators) (*source.Response, error) {
	return o(ctx)
}

func TestAFetchIsCanceledWhenAllWhoWaitForItHaveLeft(t *testing.T) {
	h := newHandler(t, 0, 32<<20, "", 0)
	synctest.Test(t, func(t *testing.T) {
		opened, canceled := 0, false
		h.Pipeline.Source = opening(func(ctx context.Context) (*source.Response, error) {
			opened++
			<-ctx.Done()
			canceled = true
			return nil, ctx.Err()
		})
		ask := func() context.CancelFunc {
			ctx, leave := context.WithCancel(t.Context())
			go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/a.png", nil).WithContext(ctx))
			synctest.Wait()
			return leave
		}
		first, second := ask(), ask()
		first()
		synctest.Wait()
		if canceled || opened != 1 {
			t.Errorf("canceled %v while one waits, opened %d times", canceled, opened)
		}
		second()
		synctest.Wait()
		if used, waiting := h.Pipeline.queues.fetches.Load(); !canceled || used != 0 || waiting != 0 {
			t.Errorf("canceled %v, %d places taken, %d waiting", canceled, used, waiting)
		}
	})
}

func TestASourceThatHangsIs504OrAKnownImageEarlier(t *testing.T) {
	for name, hang := range map[string]func(context.Context) (*source.Response, error){
		"before the response": func(ctx context.Context) (*source.Response, error) {
			<-ctx.Done()
			return nil, source.Failure(ctx.Err())
		},
		"in its body": func(ctx context.Context) (*source.Response, error) {
			return &source.Response{Body: io.NopCloser(stalled{ctx}), Length: -1}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHandler(t, 0, 32<<20, "", 0)
			h.Pipeline.StaleIfError = time.Hour
			synctest.Test(t, func(t *testing.T) {
				get := func(path string) (int, time.Duration) {
					start, response := time.Now(), httptest.NewRecorder()
					h.ServeHTTP(response, httptest.NewRequest(http.MethodGet, path, nil))
					return response.Code, time.Since(start)
				}
				get("/known.png")
				h.Pipeline.Source = opening(hang)
				time.Sleep(h.Pipeline.Revalidate)
				if code, took := get("/new.png"); code != http.StatusGatewayTimeout || took != source.Timeout {
					t.Errorf("a new image: %d after %s", code, took)
				}
				wait := staleWait
				if name == "in its body" { // it has changed
					wait = source.Timeout
				}
				for _, want := range []time.Duration{wait, 0} {
					if code, took := get("/known.png"); code != http.StatusOK || took != want {
						t.Errorf("a known image: %d after %s, want %s", code, took, want)
					}
				}
			})
		})
	}
}

// stalled is a body that ends with the context of its request.
type stalled struct{ ctx context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, source.Failure(s.ctx.Err())
}

func TestAPanicIsAnInternalErrorWithoutItsText(t *testing.T) {
	h := newHandler(t, 0, 32<<20, "", 0)
	h.Pipeline.Source = opening(func(context.Context) (*source.Response, error) { panic("secret") })
	response := httptest.NewRecorder()
	h.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/a.png", nil))
	if response.Code != http.StatusInternalServerError || strings.Contains(response.Body.String(), "secret") {
		t.Errorf("%d %s", response.Code, response.Body)
	}
}
