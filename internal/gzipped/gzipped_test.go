package gzipped

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"
)

func TestAccepted(t *testing.T) {
	for offer, want := range map[string]bool{
		"": false, "identity": false, "br": false, "gzip": true, "GZIP": true, "br, gzip": true,
		"gzip;q=0.5": true, "gzip; q=1": true, "gzip;q=0": false, "gzip; q=0.0": false, "x-gzip": false,
	} {
		if got := Accepted(http.Header{"Accept-Encoding": {offer}}); got != want {
			t.Errorf("%q: %t", offer, got)
		}
	}
}

func TestAWriterIsUsedAgain(t *testing.T) {
	for _, text := range []string{"one", "another"} {
		var out bytes.Buffer
		writer := Writer(&out)
		if _, err := io.WriteString(writer, text); err != nil {
			t.Fatal(err)
		}
		if err := Close(writer); err != nil {
			t.Fatal(err)
		}
		reader, err := gzip.NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(reader); err != nil || string(got) != text {
			t.Errorf("got %q (%v), want %q", got, err, text)
		}
	}
}
