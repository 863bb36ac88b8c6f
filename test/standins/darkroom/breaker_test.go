package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestTheBreakerOpensByTheShareOfFailuresAndTriesAgainAfterTheSleepWindow(t *testing.T) {
	start := time.Unix(1000, 0)
	b := newBreaker(hystrixConfig{volume: 10, errorPercent: 90, sleepWindow: time.Second})
	for range 9 {
		b.done(start, true)
	}
	if err := b.allow(start); err != nil {
		t.Fatalf("open below the volume: %v", err)
	}
	b.done(start, true)
	if err := b.allow(start); !errors.Is(err, errOpen) {
		t.Fatalf("closed after ten failures: %v", err)
	}
	after := start.Add(time.Second)
	if err := b.allow(after); err != nil {
		t.Errorf("no attempt after the sleep window: %v", err)
	}
	if err := b.allow(after); !errors.Is(err, errOpen) {
		t.Errorf("two attempts in one sleep window: %v", err)
	}
	b.done(after, false)
	if err := b.allow(after); err != nil {
		t.Errorf("open after a success: %v", err)
	}
}

func TestTheBreakerForgetsAfterTenSeconds(t *testing.T) {
	start := time.Unix(1000, 0)
	b := newBreaker(hystrixConfig{volume: 2, errorPercent: 90})
	b.done(start, true)
	b.done(start.Add(breakerWindow), true)
	if err := b.allow(start.Add(breakerWindow)); err != nil {
		t.Errorf("open: %v", err)
	}
}

// All kinds of sources have the breaker: with the chart's settings, good images fail after
// enough errors of the source, without a request to it.
func TestAWebFolderHasABreakerToo(t *testing.T) {
	images, err := drawImages()
	if err != nil {
		t.Fatal(err)
	}
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/bad") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(images["/images/x.jpg"])
	}))
	defer source.Close()
	p := start(t, map[string]string{
		"SOURCE_KIND": "WebFolder", "SOURCE_BASEURL": source.URL, "SOURCE_HYSTRIX_MAXCONCURRENTREQUESTS": "100",
		"SOURCE_HYSTRIX_REQUESTVOLUMETHRESHOLD": "20", "SOURCE_HYSTRIX_SLEEPWINDOW": "5000", "SOURCE_HYSTRIX_ERRORPERCENTTHRESHOLD": "90",
	})
	p.expect("/good.jpg?w=10", http.StatusOK)
	for range 40 {
		p.expect("/bad.jpg?w=10", http.StatusUnprocessableEntity)
	}
	p.expect("/good.jpg?w=10", http.StatusUnprocessableEntity)
}
