package metrics

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestMetricsOfDarkroomsFollowThoseOfTheProcess(t *testing.T) {
	const process = "# TYPE process gauge\nprocess 1\n"
	photos := &Darkrooms{
		Cache: fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(darkrooms.New("photos", "team-a").Obj()).Build(),
		Leads: func() bool { return true },
	}
	ok := func(response http.ResponseWriter, request *http.Request) {
		if accept := request.Header.Get("Accept"); accept != "text/plain;version=0.0.4" {
			t.Errorf("the process is asked for %s", accept)
		}
		if encoding := request.Header.Get("Accept-Encoding"); encoding != "identity" {
			t.Errorf("the process is asked for the encoding %s", encoding)
		}
		response.Header().Set("Content-Length", "1") // of a shorter response
		_, _ = io.WriteString(response, process)
	}
	failing := func(response http.ResponseWriter, _ *http.Request) {
		http.Error(response, "failed", http.StatusInternalServerError)
	}
	for _, test := range []struct {
		name      string
		darkrooms *Darkrooms
		process   http.HandlerFunc
		method    string
		encoding  string
		zipped    bool
		code      int
		start     string
		has       string
	}{
		{name: "plain", darkrooms: photos, process: ok, code: 200, start: process, has: "\ndarkroom_info{"},
		{name: "as Prometheus asks", darkrooms: photos, process: ok, encoding: "gzip", zipped: true, code: 200, start: process, has: "\ndarkroom_info{"},
		{name: "with a weight", darkrooms: photos, process: ok, encoding: "br, gzip;q=0.5", zipped: true, code: 200, start: process, has: "\ndarkroom_info{"},
		{name: "with a weight of zero", darkrooms: photos, process: ok, encoding: "gzip; q=0.0", code: 200, start: process, has: "\ndarkroom_info{"},
		{name: "of a manager that is not set up", darkrooms: &Darkrooms{}, process: ok, encoding: "gzip", code: 200, start: process},
		{name: "of a failing process", darkrooms: photos, process: failing, encoding: "gzip", code: 500, start: "failed"},
		{name: "of a request for the header", darkrooms: photos, process: ok, method: http.MethodHead, code: 200, start: process},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := httptest.NewRequest(test.method, "/metrics", nil)
			request.Header.Set("Accept", "application/vnd.google.protobuf")
			request.Header.Set("Accept-Encoding", test.encoding)
			recorder := httptest.NewRecorder()
			test.darkrooms.Handler(test.process).ServeHTTP(recorder, request)
			response := recorder.Result()
			body := io.Reader(response.Body)
			if zipped := response.Header.Get("Content-Encoding") == "gzip"; zipped != test.zipped {
				t.Fatalf("compressed: %t", zipped)
			} else if zipped {
				unzipped, err := gzip.NewReader(body)
				if err != nil {
					t.Fatal(err)
				}
				body = unzipped
			}
			read, err := io.ReadAll(body)
			if err != nil {
				t.Fatal(err)
			}
			text := string(read)
			if response.StatusCode != test.code || response.Header.Get("Content-Length") != "" || !strings.HasPrefix(text, test.start) {
				t.Errorf("HTTP %d, header %v, body:\n%s", response.StatusCode, response.Header, text)
			}
			if test.has != "" && !strings.Contains(text, test.has) || test.has == "" && strings.Contains(text, "darkroom_info") {
				t.Errorf("body:\n%s", text)
			}
		})
	}
}
