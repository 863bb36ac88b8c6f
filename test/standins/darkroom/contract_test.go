package main

import (
	"bytes"
	"context"
	"errors"
	"image"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func TestOnlyGetIsAnswered(t *testing.T) {
	p := start(t, newFolder(t).env())
	if got := p.expect("/ping", http.StatusOK); string(got.body) != "pong" {
		t.Errorf("GET: %q", got.body)
	}
	for _, path := range []string{"/ping", "/images/x.png"} {
		if got := p.do(http.MethodHead, path); got.status != http.StatusMethodNotAllowed {
			t.Errorf("HEAD %s: %d", path, got.status)
		}
	}
}

func TestImagesAreTransformedByURLParameters(t *testing.T) {
	p := start(t, newFolder(t).env())
	for _, test := range []struct {
		query  string
		width  int
		height int
		why    string
	}{
		{"?w=150", 150, 100, "the shape is kept"},
		{"?h=100", 150, 100, ""},
		{"?w=16", 16, 10, "the operator's probe"},
		{"?w=1200", 1200, 800, "an original that is smaller is enlarged, so that a probe knows its width"},
		{"?w=150&h=300", 150, 100, "both are bounds"},
		{"?w=90&h=90&fit=crop", 90, 90, "crop fills both"},
		{"?w=90&h=200&fit=scale", 90, 200, "scale gives up the shape"},
		{"?w=150&fit=nonsense", 600, 400, "an unknown fit resizes nothing"},
		{"?auto=compress", 600, 400, ""},
	} {
		for _, name := range []string{"/images/x.png", "/images/x.jpg"} {
			got := p.expect(name+test.query, http.StatusOK)
			img, _ := got.image(t)
			if size := img.Bounds().Size(); size != image.Pt(test.width, test.height) {
				t.Errorf("%s%s: %v, want %dx%d. %s", name, test.query, size, test.width, test.height, test.why)
			}
		}
	}
}

func TestAnOriginalIsPassedOnUntouchedAndMayBeCached(t *testing.T) {
	images, err := drawImages()
	if err != nil {
		t.Fatal(err)
	}
	const path = "/images/x.png"
	env := newFolder(t).env()
	env["CACHE_TIME"], env["METRICS_SYSTEM"] = "120", "prometheus"
	p := start(t, env)
	got := p.expect(path, http.StatusOK)
	if !bytes.Equal(got.body, images[path]) || got.header.Get("Cache-Control") != "public,max-age=120" {
		t.Errorf("%d bytes with the header %v", len(got.body), got.header)
	}
	if got := p.expect("/none.png?w=10", http.StatusUnprocessableEntity).header.Get("Cache-Control"); got != "" {
		t.Errorf("Cache-Control of a failure %q", got)
	}
	if got := p.expect("/metrics", http.StatusOK); !bytes.Contains(got.body, []byte("# TYPE ")) {
		t.Errorf("metrics: %q", got.body)
	}
}

func TestTheFormatIsKeptExceptThatOpaquePNGsBecomeJPEGs(t *testing.T) {
	p := start(t, newFolder(t).env())
	for path, want := range map[string]string{
		"/images/x.png?w=90":     "png",
		"/images/solid.png?w=90": "jpeg",
		"/images/solid.png":      "png",
		"/images/x.jpg?w=90":     "jpeg",
	} {
		if _, format := p.expect(path, http.StatusOK).image(t); format != want {
			t.Errorf("%s is %s, want %s", path, format, want)
		}
	}
}

func TestDefaultParametersApplyToEachImageAndAreJoinedNotOverridden(t *testing.T) {
	env := newFolder(t).env()
	env["DEFAULTPARAMS"] = "w=150;auto=compress"
	p := start(t, env)
	for query, want := range map[string]image.Point{
		"":       {X: 150, Y: 100},
		"?h=60":  {X: 90, Y: 60},
		"?w=300": {X: 600, Y: 400}, // "150,300" is no number
	} {
		img, _ := p.expect("/images/x.png"+query, http.StatusOK).image(t)
		if got := img.Bounds().Size(); got != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}

func TestATrailingSlashOfTheBaseURLDoublesTheSlash(t *testing.T) {
	f := newFolder(t)
	env := f.env()
	env["SOURCE_BASEURL"] += "/"
	p := start(t, env)
	p.expect("/images/x.png?w=10", http.StatusUnprocessableEntity)
	if got := f.asked(); !slices.Equal(got, []string{"//images/x.png"}) {
		t.Errorf("the request to the folder was %q", got)
	}
}

func TestAPrefixRestrictsPathsAndIsNotStripped(t *testing.T) {
	f := newFolder(t)
	env := map[string]string{"SOURCE_KIND": "cloudfront", "SOURCE_HOST": f.url[len("http://"):]}
	for _, test := range []struct {
		prefix      string
		in, outside int
		why         string
	}{
		{"/images", 200, 404, ""},
		{"images", 404, 404, "a prefix without a slash matches nothing"},
		{"", 200, 422, ""},
	} {
		t.Run("prefix "+test.prefix, func(t *testing.T) {
			env["SOURCE_PATHPREFIX"] = test.prefix
			p := start(t, env)
			p.expect("/images/x.png?w=10", test.in)
			p.expect("/none.png?w=10", test.outside)
			if test.outside != http.StatusNotFound {
				p.expect("/forbidden.png", http.StatusForbidden)
			}
		})
	}
	t.Run("but not the ones of a web folder", func(t *testing.T) {
		env := f.env()
		env["SOURCE_PATHPREFIX"] = "/uploads"
		start(t, env).expect("/images/x.png?w=10", http.StatusOK)
	})
}

func TestASourceThatCannotWorkStartsAndFailsEachImage(t *testing.T) {
	const unused = "http://127.0.0.1:9"
	s3 := func(without string) map[string]string {
		env := map[string]string{
			"SOURCE_KIND": "S3", "SOURCE_BUCKET_NAME": "my_photos", "SOURCE_BUCKET_REGION": "eu-west-2",
			"SOURCE_BUCKET_ACCESSKEY": "key", "SOURCE_BUCKET_SECRETKEY": "secret", "SOURCE_BUCKET_ENDPOINT": unused,
		}
		delete(env, without)
		return env
	}
	for name, env := range map[string]map[string]string{
		"no base URL":           {"SOURCE_KIND": "WebFolder"},
		"base URL, no scheme":   {"SOURCE_KIND": "WebFolder", "SOURCE_BASEURL": "example.com/assets"},
		"base URL, no listener": {"SOURCE_KIND": "WebFolder", "SOURCE_BASEURL": unused},
		"no bucket":             s3("SOURCE_BUCKET_NAME"),
		"no region":             s3("SOURCE_BUCKET_REGION"),
		"no access key":         s3("SOURCE_BUCKET_ACCESSKEY"),
		"no secret key":         s3("SOURCE_BUCKET_SECRETKEY"),
		"Google":                {"SOURCE_KIND": "gcs", "SOURCE_BUCKET_NAME": "photos"},
	} {
		t.Run(name, func(t *testing.T) {
			start(t, env).expect("/images/x.png", http.StatusUnprocessableEntity) // although /ping returns 200
		})
	}
}

func TestAnOriginalThatIsNotAnImageCannotBeProcessed(t *testing.T) {
	p := start(t, newFolder(t).env())
	p.expect("/none.png?w=10", http.StatusUnprocessableEntity)
	// Without parameters nothing is decoded, so the folder's error page is served
	// as if it were the image.
	if got := p.expect("/none.png", http.StatusOK); string(got.body) != "not an image\n" {
		t.Errorf("body %q", got.body)
	}
}

func TestAnUnknownKindOfSourceEndsTheProcess(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{"SOURCE_KIND": "ftp"},
		{"SOURCE_KIND": "gcs", "SOURCE_BUCKET_NAME": "b", "SOURCE_BUCKET_CREDENTIALSJSON": "{not json"},
	} {
		if err := launch(t, env).wait(); err == nil {
			t.Errorf("%v: exit code 0", env)
		}
	}
}

// All kinds of sources have the breaker: with the chart's settings, good images fail after
// enough errors of the source, without a request to it.
func TestAWebFolderHasABreakerToo(t *testing.T) {
	env := newFolder(t).env()
	maps.Copy(env, map[string]string{
		"SOURCE_HYSTRIX_MAXCONCURRENTREQUESTS": "100", "SOURCE_HYSTRIX_REQUESTVOLUMETHRESHOLD": "20",
		"SOURCE_HYSTRIX_SLEEPWINDOW": "5000", "SOURCE_HYSTRIX_ERRORPERCENTTHRESHOLD": "90",
	})
	p := start(t, env)
	p.expect("/images/x.jpg?w=10", http.StatusOK)
	for range 40 {
		p.expect("/bad.jpg?w=10", http.StatusUnprocessableEntity)
	}
	p.expect("/images/x.jpg?w=10", http.StatusUnprocessableEntity)
}

func TestSIGTERMClosesTheListenerAtOnceAndDrains(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-release
		_, _ = w.Write([]byte("late"))
	}))
	defer slow.Close()
	p := start(t, map[string]string{"SOURCE_KIND": "WebFolder", "SOURCE_BASEURL": slow.URL})
	answered := make(chan answer, 1)
	go func() {
		defer close(answered)
		answered <- p.do(http.MethodGet, "/slow.png")
	}()
	<-asked
	p.terminate()
	p.until("connections are refused", func(context.Context) error {
		connection, err := net.Dial("tcp", p.base[len("http://"):])
		if err != nil {
			return nil
		}
		return errors.Join(errors.New("accepted"), connection.Close())
	})
	close(release)
	if got := <-answered; got.status != http.StatusOK {
		t.Errorf("the active request got %d", got.status)
	}
}
