package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"testing"
	"time"
)

func TestDefaultParametersAreReadLeniently(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"":                         {},
		"auto=compress":            {"auto": "compress"},
		"auto=compress,format;w=5": {"auto": "compress,format", "w": "5"},
		"nonsense;h=3;":            {"h": "3"},
		"a=b=c":                    {"a": "b"},
	} {
		if got := parseDefaultParams(text); !maps.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestNumbersOfAURLAreBounded(t *testing.T) {
	for text, want := range map[string]int{"": 0, "x": 0, "-1": 0, "5": 5, "9999": 9999, "10000": 0, "12345": 2345, "5,6": 0} {
		if got := cleanInt(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for text, want := range map[string]float64{"": 0, "NaN": 0, "Inf": 0, "-1": 0, "90": 90, "450": 90, "1.5": 1.5} {
		if got := cleanFloat(text, 360); got != want {
			t.Errorf("%q: %g, want %g", text, got, want)
		}
	}
}

type blockingSource struct{ asked, release chan struct{} }

func (s blockingSource) get(ctx context.Context, _ string) ([]byte, error) {
	s.asked <- struct{}{}
	select {
	case <-s.release:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestOneRequestMoreThanTheMaximumFailsAtOnce(t *testing.T) {
	for name, test := range map[string]struct{ set, max int }{"set": {2, 2}, "unset means ten": {0, 10}} {
		t.Run(name, func(t *testing.T) {
			s := blockingSource{make(chan struct{}), make(chan struct{})}
			l := newLimiter(s, kindWebFolder, hystrixConfig{maxConcurrent: test.set})
			done := make(chan error, test.max)
			for range test.max {
				go func() { _, err := l.get(t.Context(), "/x"); done <- err }()
				<-s.asked
			}
			if _, err := l.get(t.Context(), "/x"); !errors.Is(err, errTooMany) {
				t.Errorf("one too many: %v", err)
			}
			close(s.release)
			for range test.max {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestTheTimeOutDependsOnTheSource(t *testing.T) {
	for _, test := range []struct {
		kind sourceKind
		set  time.Duration
		want time.Duration
		why  string
	}{
		{kindS3, 0, time.Second, "hystrix' own default"},
		{kindS3, time.Minute, time.Minute, ""},
		{kindWebFolder, 0, 30 * time.Second, "the HTTP client's default"},
		{kindWebFolder, time.Second, time.Second, ""},
		{kindCloudFront, time.Minute, 30 * time.Second, "the HTTP client's default cannot be exceeded"},
	} {
		if got := newLimiter(noGoogle{}, test.kind, hystrixConfig{timeout: test.set}).timeout; got != test.want {
			t.Errorf("kind %d, %v: %v, want %v. %s", test.kind, test.set, got, test.want, test.why)
		}
	}
}

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
	for range 9 {
		b.done(after, true)
	}
	b.done(after.Add(breakerWindow), true) // the others are forgotten
	if err := b.allow(after.Add(breakerWindow)); err != nil {
		t.Errorf("open after a success and ten seconds: %v", err)
	}
}

func TestTheBucketsNameAloneChoosesTheAddress(t *testing.T) {
	for _, test := range []struct{ endpoint, bucket, want string }{
		{"", "my-photos", "https://my-photos.s3.amazonaws.com/a/x.png"},
		{"http://10.0.0.5:9000", "my_photos", "http://10.0.0.5:9000/my_photos/a/x.png"},
		{"http://10.0.0.5:9000", "photos", "http://photos.10.0.0.5:9000/a/x.png"},
		{"http://s3", "Photos", "http://s3/Photos/a/x.png"},
		{"http://s3", "10.1.2.3", "http://s3/10.1.2.3/a/x.png"},
		{"http://s3", "a..b", "http://s3/a..b/a/x.png"},
		{"http://s3", "img.photos", "http://img.photos.s3/a/x.png"},
		{"https://s3", "img.photos", "https://s3/img.photos/a/x.png"},
		{"http://s3", "ab", "http://s3/ab/a/x.png"},
	} {
		got, err := objectURL(bucketConfig{name: test.bucket, endpoint: test.endpoint, region: "r", accessKey: "a", secretKey: "s"}, "/a/x.png")
		if err != nil || got.String() != test.want {
			t.Errorf("got %s, %v, want %s", got, err, test.want)
		}
	}
}

func TestUnknownCommandsAreErrors(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, args := range [][]string{{"serve"}, {"server", "--nope"}, {"server", "-p", "x"}, {"server"}} {
		if err := run(t.Context(), args, none, io.Discard); err == nil {
			t.Errorf("ran with %q", args)
		}
	}
}
