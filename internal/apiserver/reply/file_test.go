package reply_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
)

// served returns the response of a file to a request with headers.
func served(file *reply.File, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	file.ServeHTTP(out, request)
	return out
}

func TestFilesAreSentInGzipToClientsThatReadIt(t *testing.T) {
	long := strings.Repeat("darkroom();", 1000)
	for name, c := range map[string]struct{ file, content, accepts, mediaType, encoding string }{
		"a script": {
			file: "a.js", content: long, accepts: "gzip, deflate, br",
			mediaType: "text/javascript; charset=utf-8", encoding: "gzip",
		},
		"other encodings":  {file: "a.js", content: long, accepts: "identity", mediaType: "text/javascript; charset=utf-8"},
		"gzip is refused":  {file: "a.js", content: long, accepts: "gzip;q=0", mediaType: "text/javascript; charset=utf-8"},
		"refused in a row": {file: "a.css", content: long, accepts: "br, gzip; q=0.0", mediaType: "text/css; charset=utf-8"},
		"no smaller":       {file: "a.svg", content: "<svg/>", accepts: "gzip", mediaType: "image/svg+xml"},
	} {
		t.Run(name, func(t *testing.T) {
			got := served(reply.NewFile(c.file, reply.Checked, []byte(c.content)), "Accept-Encoding", c.accepts)
			header := got.Header()
			if header.Get("Content-Type") != c.mediaType || header.Get("Content-Encoding") != c.encoding {
				t.Errorf("the headers are %v, want %q and %q", header, c.mediaType, c.encoding)
			}
			if c.encoding == "" && got.Body.String() != c.content {
				t.Errorf("the body has %d bytes, want %d", got.Body.Len(), len(c.content))
			}
			if c.encoding != "" && got.Body.Len() > len(c.content)/2 {
				t.Errorf("%d bytes are sent in %d", len(c.content), got.Body.Len())
			}
		})
	}
}

func TestUnchangedFilesAreNotSentAgain(t *testing.T) {
	file := reply.NewFile("a.js", reply.Immutable, []byte("one"))
	first := served(file)
	if got := first.Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("Cache-Control is %q", got)
	}
	tag := first.Header().Get("ETag")
	for name, c := range map[string]struct {
		tag  string
		want int
	}{
		"the same": {tag, http.StatusNotModified}, "one of several": {`"x", ` + tag, http.StatusNotModified},
		"another": {`"x"`, http.StatusOK},
	} {
		if got := served(file, "If-None-Match", c.tag).Code; got != c.want {
			t.Errorf("%s: the status is %d, want %d", name, got, c.want)
		}
	}
	if other := served(reply.NewFile("a.js", reply.Immutable, []byte("two"))); other.Header().Get("ETag") == tag {
		t.Error("a different content has the same tag")
	}
}
