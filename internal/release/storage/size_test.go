package storage

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// packed returns a release in the format of Helm's driver that contains a repeated text.
func packed(t *testing.T, before, repeated string, times int, after string) *corev1.Secret {
	t.Helper()
	var out bytes.Buffer
	encoder := base64.NewEncoder(base64.StdEncoding, &out)
	compressor := gzip.NewWriter(encoder)
	_, err := io.WriteString(compressor, before)
	for range times {
		if err == nil {
			_, err = io.WriteString(compressor, repeated)
		}
	}
	expect.NoError(t, err)
	_, err = io.WriteString(compressor, after)
	expect.NoError(t, err)
	expect.NoError(t, compressor.Close())
	expect.NoError(t, encoder.Close())
	return &corev1.Secret{Data: map[string][]byte{dataRelease: out.Bytes()}}
}

// Users who may create Secrets can create revisions of up to a megabyte.
func TestAForgedRevisionTakesLittleMemory(t *testing.T) {
	text, objects, blanks := strings.Repeat("x", 1<<20), strings.Repeat(",{}", 1<<16), strings.Repeat(" ", 1<<20)
	for name, secret := range map[string]*corev1.Secret{
		"many blanks":          packed(t, `{"name":"photos","info":{}`, blanks, 64, `}`),
		"trailing blanks":      packed(t, `{"name":"photos","info":{}}`, blanks, 64, ``),
		"a long text":          packed(t, `{"name":"photos","info":{},"manifest":"`, text, 256, `"}`),
		"many objects":         packed(t, `{"name":"photos","info":{},"config":{"a":[{}`, objects, 20, `]}}`),
		"an unterminated text": packed(t, `{"name":"photos","info":{},"manifest":"`, text, 64, ``),
		"something else":       packed(t, "", text, 64, ""),
	} {
		if size := len(secret.Data[dataRelease]); size > 1<<20 {
			t.Fatalf("%s: the API server would reject %d bytes", name, size)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decode(secret)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; err == nil || taken > 64<<20 {
			t.Errorf("%s: decoding took %d MiB (%v)", name, taken>>20, err)
		}
	}
	release, err := decode(packed(t, `{"name":"photos","info":{"status":"deployed"},"manifest":"`, text, 4, `"}`))
	if err != nil || len(release.Manifest) != 4<<20 {
		t.Errorf("a large release: got error %v", err)
	}
}
