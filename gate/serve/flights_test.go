package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

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

func TestAPanicIsAnInternalErrorWithoutItsText(t *testing.T) {
	h := newHandler(t, 0, 32<<20, "", 0)
	h.Pipeline.Source = opening(func(context.Context) (*source.Response, error) { panic("secret") })
	response := httptest.NewRecorder()
	h.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/a.png", nil))
	if response.Code != http.StatusInternalServerError || strings.Contains(response.Body.String(), "secret") {
		t.Errorf("%d %s", response.Code, response.Body)
	}
}
