package serve

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"testing"
)

func TestClientsAreToldApartByWhatAProxyNearbySays(t *testing.T) {
	for _, test := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{peer: "203.0.113.1:5", want: "203.0.113.1"},
		{peer: "203.0.113.1:5", forwarded: []string{"198.51.100.7"}, want: "203.0.113.1"}, // not from a private address
		{peer: "10.0.0.1:5", forwarded: []string{"198.51.100.7"}, want: "198.51.100.7"},
		{peer: "127.0.0.1:5", forwarded: []string{"192.0.2.1, 198.51.100.7"}, want: "198.51.100.7"},
		{peer: "[fd00::1]:5", forwarded: []string{"192.0.2.1", "192.0.2.2,198.51.100.7"}, want: "198.51.100.7"},
		{peer: "10.0.0.1:5", want: "10.0.0.1"},
		{peer: "10.0.0.1:5", forwarded: []string{"192.0.2.1:9, 198.51.100.7:4711"}, want: "198.51.100.7"},
		{peer: "10.0.0.1:5", forwarded: []string{"[2001:db8:1:2::1]:80"}, want: "2001:db8:1:2::/64"},
		{peer: "10.0.0.1:5", forwarded: []string{"unknown"}, want: "10.0.0.1"},
		{peer: "[2001:db8:1:2:3::4]:5", want: "2001:db8:1:2::/64"},
		{peer: "10.0.0.1:5", forwarded: []string{"2001:db8:1:2:ffff::1"}, want: "2001:db8:1:2::/64"},
		{peer: "[::ffff:192.0.2.9]:5", want: "192.0.2.9"},
		{peer: "pipe", want: "pipe"},
	} {
		r := httptest.NewRequest("GET", "/a", nil)
		r.RemoteAddr = test.peer
		r.Header["X-Forwarded-For"] = test.forwarded
		if got := clientOf(r); got != test.want {
			t.Errorf("%s %v: %s, want %s", test.peer, test.forwarded, got, test.want)
		}
	}
}

func TestTheAccessLogHasTheTraceOfTheClient(t *testing.T) {
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for given, want := range map[string]string{trace: trace, trace + "-more": trace, "": "", "00-x\n": ""} {
		var log bytes.Buffer
		h := newHandler(t, 10, 32<<20, "", 0)
		h.AccessLog, h.Log = true, slog.New(slog.NewJSONHandler(&log, nil))
		r := httptest.NewRequest("GET", "/a.png", nil)
		r.Header.Set("Traceparent", given)
		h.ServeHTTP(httptest.NewRecorder(), r)
		var line struct{ Path, Traceparent string }
		if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Path != "/a.png" || line.Traceparent != want {
			t.Errorf("%q: %s %v", given, log.Bytes(), err)
		}
	}
}
