package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestOnlyExactPathsAreServed also reads the access log, with which end-to-end tests count requests.
func TestOnlyExactPathsAreServed(t *testing.T) {
	for _, test := range []struct {
		method, path string
		want         int
		why          string
	}{
		{http.MethodGet, "/images/sample.png", 200, ""},
		{http.MethodHead, "/images/alps.jpg", 200, "scenes are beside the samples"},
		{http.MethodGet, "//images/sample.png", 404, "a doubled slash must be visible, not normalized"},
		{http.MethodGet, "/images//sample.png", 404, ""},
		{http.MethodGet, "/images/../images/sample.png", 404, ""},
		{http.MethodGet, "/images", 404, "folders are not listed"},
		{http.MethodPost, "/images/sample.png", 405, ""},
	} {
		var log bytes.Buffer
		recorder := httptest.NewRecorder()
		accessLog(slog.New(slog.NewJSONHandler(&log, nil)), withHealth(http.HandlerFunc(serveFolder))).
			ServeHTTP(recorder, httptest.NewRequest(test.method, test.path, nil))
		if recorder.Code != test.want {
			t.Errorf("%s %s: %d, want %d. %s", test.method, test.path, recorder.Code, test.want, test.why)
		}
		var line struct {
			Msg, Path string
			Status    int
		}
		err := json.Unmarshal(log.Bytes(), &line)
		if err != nil || line.Msg != "request" || line.Path != test.path || line.Status != test.want {
			t.Errorf("%s %s: the log has %s (%v)", test.method, test.path, log.Bytes(), err)
		}
	}
}
