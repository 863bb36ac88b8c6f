package main

import (
	"bytes"
	"image"
	"net/http"
	"slices"
	"testing"
)

func webFolderEnv(f *folder) map[string]string {
	return map[string]string{"SOURCE_KIND": "WebFolder", "SOURCE_BASEURL": f.url}
}

func TestPingIsForGetAlone(t *testing.T) {
	p := start(t, webFolderEnv(newFolder(t)))
	if got := p.get("/ping"); got.status != http.StatusOK || string(got.body) != "pong" {
		t.Errorf("GET: %d %q", got.status, got.body)
	}
	if got := p.do(http.MethodHead, "/ping"); got.status != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %d", got.status)
	}
	if got := p.do(http.MethodHead, "/images/x.png"); got.status != http.StatusMethodNotAllowed {
		t.Errorf("HEAD of an image: %d", got.status)
	}
}

func TestImagesAreTransformedByURLParameters(t *testing.T) {
	p := start(t, webFolderEnv(newFolder(t)))
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
		{"?w=600&h=100", 150, 100, ""},
		{"?w=90&h=90&fit=crop", 90, 90, "crop fills both"},
		{"?w=90&h=200&fit=scale", 90, 200, "scale gives up the shape"},
		{"?w=150&fit=nonsense", 600, 400, "an unknown fit resizes nothing"},
		{"?w=-5", 600, 400, ""},
		{"?w=10150", 150, 100, "the last four digits count"},
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

func TestTheFormatIsKeptExceptThatOpaquePNGsBecomeJPEGs(t *testing.T) {
	p := start(t, webFolderEnv(newFolder(t)))
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

// Darkroom cuts a piece of no height out, and does not mind.
func TestACropWithoutAHeightSucceeds(t *testing.T) {
	start(t, webFolderEnv(newFolder(t))).expect("/images/x.png?fit=crop&w=10", http.StatusOK)
}

func TestAnOriginalIsPassedOnUntouched(t *testing.T) {
	f := newFolder(t)
	p := start(t, webFolderEnv(f))
	response, err := http.Get(f.url + "/images/x.png")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var original bytes.Buffer
	if _, err := original.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	if got := p.expect("/images/x.png", http.StatusOK); !bytes.Equal(got.body, original.Bytes()) {
		t.Error("changed without a parameter")
	}
}

func TestServedImagesMayBeCachedForCacheTime(t *testing.T) {
	env := webFolderEnv(newFolder(t))
	env["CACHE_TIME"] = "120"
	p := start(t, env)
	if got := p.expect("/images/x.png?w=10", http.StatusOK).header.Get("Cache-Control"); got != "public,max-age=120" {
		t.Errorf("Cache-Control %q", got)
	}
	if got := p.expect("/none.png?w=10", http.StatusUnprocessableEntity).header.Get("Cache-Control"); got != "" {
		t.Errorf("Cache-Control of a failure %q", got)
	}
}

func TestDefaultParametersApplyToEachImageAndAreJoinedNotOverridden(t *testing.T) {
	env := webFolderEnv(newFolder(t))
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
	env := webFolderEnv(f)
	env["SOURCE_BASEURL"] += "/"
	p := start(t, env)
	p.expect("/images/x.png?w=10", http.StatusUnprocessableEntity)
	if got := f.asked(); !slices.Equal(got, []string{"//images/x.png"}) {
		t.Errorf("asked the folder for %q", got)
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
		})
	}
	t.Run("but not those of a web folder", func(t *testing.T) {
		env := webFolderEnv(f)
		env["SOURCE_PATHPREFIX"] = "/uploads"
		start(t, env).expect("/images/x.png?w=10", http.StatusOK)
	})
}

func TestCloudFrontPassesForbiddenOn(t *testing.T) {
	p := start(t, map[string]string{"SOURCE_KIND": "CloudFront", "SOURCE_HOST": newFolder(t).url[len("http://"):] + "/"})
	p.expect("/images/x.png?w=10", http.StatusOK)
	p.expect("/forbidden.png", http.StatusForbidden)
}

func TestMetricsAreServed(t *testing.T) {
	env := webFolderEnv(newFolder(t))
	env["METRICS_SYSTEM"] = "prometheus"
	if got := start(t, env).expect("/metrics", http.StatusOK); !bytes.Contains(got.body, []byte("# TYPE ")) {
		t.Errorf("metrics: %q", got.body)
	}
}
