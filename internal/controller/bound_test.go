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
	client := http.Client{Transport: bounded{http.DefaultTransport, 50 * time.Millisecond}}
	for path, hangs := range map[string]bool{
		"/hangs": true, "/slow-body": true, "/fast": false,
		"/hangs?watch=true": false,
	} {
		response, err := client.Get(server.URL + path)
		if err == nil {
			_, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		if errors.Is(err, context.DeadlineExceeded) != hangs {
			t.Errorf("%s: %v", path, err)
		}
	}
}
