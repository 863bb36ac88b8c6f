package controller

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestRequestsThatHangEndAndWatchesDoNot(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow-body" {
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
		}
		if r.URL.Query().Get("watch") == "" && r.URL.Path != "/fast" {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	for path, test := range map[string]struct {
		bound time.Duration
		hangs bool
	}{
		"/hangs": {50 * time.Millisecond, true}, "/slow-body": {50 * time.Millisecond, true}, "/fast": {bound: time.Hour},
		"/hangs?watch=true": {bound: time.Nanosecond},
	} {
		client := http.Client{Transport: bounded{http.DefaultTransport, test.bound}}
		response, err := client.Get(server.URL + path)
		if err == nil {
			_, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		if errors.Is(err, context.DeadlineExceeded) != test.hangs {
			t.Errorf("%s: %v", path, err)
		}
	}
}
