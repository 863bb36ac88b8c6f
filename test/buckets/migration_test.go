package buckets

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
)

const images, clients = 40, 4

func name(i int) string { return fmt.Sprintf("photos/ä %d+.png", i) }

func draw(shade int) []byte {
	img := image.NewGray(image.Rect(0, 0, 40, 20))
	for i := range img.Pix {
		img.Pix[i] = color.Gray{Y: uint8(shade * 5)}.Y
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// gate is a running gate with its Darkroom.
type gate struct{ url, metrics string }

// startGate starts a gate that sends requests to its sources for each response.
func startGate(t *testing.T, variables map[string]string) gate {
	t.Helper()
	public, inner, metrics, dark := freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)
	_, port, _ := net.SplitHostPort(dark)
	run(t, "http://"+dark+"/ping", []string{
		"SOURCE_KIND=webfolder", "SOURCE_BASEURL=http://" + inner, "LOG_LEVEL=fatal",
		"SOURCE_HYSTRIX_MAXCONCURRENTREQUESTS=1000",
	}, "darkroom", "server", "-p", port)
	environ := []string{
		"GATE_ADDRESS=" + public, "GATE_INNER_ADDRESS=" + inner, "GATE_METRICS_ADDRESS=" + metrics,
		"GATE_DARKROOM_URL=http://" + dark,
		"GATE_REVALIDATE_SECONDS=0", "GATE_STALE_IF_ERROR_SECONDS=0",
	}
	for variable, value := range variables {
		environ = append(environ, variable+"="+value)
	}
	run(t, "http://"+metrics+"/readyz", environ, "gate")
	return gate{"http://" + public, "http://" + metrics}
}

// get returns the ETag of an image.
func (g gate) get(ctx context.Context, i int) (string, error) {
	path := strings.NewReplacer(" ", "%20", "ä", "%C3%A4").Replace(name(i))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.url+"/"+path+"?w=16", http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("image %d: status %d: %s", i, response.StatusCode, body)
	}
	return response.Header.Get("ETag"), err
}

var ofFallback = regexp.MustCompile(`(?m)^darkroom_gate_fallback_originals_total\{source="former"\} (\S+)$`)

// fallbacks returns the metric of the fallback.
func (g gate) fallbacks(t *testing.T) string {
	t.Helper()
	response, err := http.Get(g.metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	found := ofFallback.FindSubmatch(body)
	if err != nil || found == nil {
		t.Fatalf("no metric of the fallback: %v\n%s", err, body)
	}
	return string(found[1])
}

func variablesOf(prefix string, of bucket) map[string]string {
	out := map[string]string{}
	for name, value := range of.variables {
		out[prefix+name] = value
	}
	return out
}

// The steps are the ones in docs/operations.md. All images are requested throughout, and each request reaches the sources.
func TestABucketMovesWithoutALostRequest(t *testing.T) {
	for to, create := range map[string][2]func(*testing.T) bucket{"S3": {newGCS, newS3}, "GCS": {newS3, newGCS}} {
		t.Run("to "+to, func(t *testing.T) {
			former, next := create[0](t), create[1](t)
			for i := range images {
				if err := former.put(name(i), draw(i)); err != nil {
					t.Fatal(err)
				}
			}
			variables := variablesOf("SOURCE_", next)
			for variable, value := range variablesOf("SOURCE_1_", former) {
				variables[variable] = value
			}
			variables["GATE_ADDITIONAL_SOURCES"], variables["GATE_SOURCE_1_FALLBACK"] = "former", "true"
			g := startGate(t, variables)
			etags := make([]string, images)
			for i := range etags {
				var err error
				if etags[i], err = g.get(t.Context(), i); err != nil {
					t.Fatal(err)
				}
			}
			check := func(i int) {
				if etag, err := g.get(t.Context(), i); err != nil || etag != etags[i] {
					t.Errorf("ETag %s, want %s; %v", etag, etags[i], err)
				}
			}

			moved := make(chan struct{})
			var running sync.WaitGroup
			for range clients {
				running.Go(func() {
					for {
						select {
						case <-moved:
							return
						default:
							check(rand.IntN(images))
						}
					}
				})
			}
			for i := range images {
				if err := next.put(name(i), draw(i)); err != nil {
					t.Fatal(err)
				}
				check(i)
			}
			close(moved)
			running.Wait()

			before := g.fallbacks(t)
			if before == "0" {
				t.Error("the fallback had no original")
			}
			for i := range images {
				check(i)
			}
			if after := g.fallbacks(t); after != before {
				t.Errorf("the fallback had %s originals before all were moved, and has %s", before, after)
			}
			if former.stop != nil {
				former.stop()
			}
			g = startGate(t, variablesOf("SOURCE_", next))
			for i := range images {
				check(i)
			}
		})
	}
}

func TestAMissingImageIsMissingInEachKindOfBucket(t *testing.T) {
	for kind, create := range map[string]func(*testing.T) bucket{"S3": newS3, "GCS": newGCS} {
		_, err := startGate(t, variablesOf("SOURCE_", create(t))).get(t.Context(), 0)
		if err == nil || !strings.Contains(err.Error(), "status 404") {
			t.Errorf("%s: %v, want status 404", kind, err)
		}
	}
}
