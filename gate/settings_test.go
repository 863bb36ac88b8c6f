package main

import (
	"context"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInvalidSettingsAreNamed(t *testing.T) {
	environ := map[string]string{
		"GATE_MAX_WIDTH": "wide", "GATE_PARAMETERS": "w,size", "LOG_LEVEL": "loud", "SOURCE_KIND": "ftp",
		"GATE_PRESETS": "{", "DEFAULTPARAMS": "w",
	}
	err := run(t.Context(), func(name string) string { return environ[name] })
	for name := range environ {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

// For any value of any variable, the gate starts, or its error names the variable. The context is done, so the gate
// stops at once.
func TestAnyValueIsUsedOrItsVariableIsNamed(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	names := map[string]bool{}
	start := func(name, value string) error {
		environ := map[string]string{
			"SOURCE_BASEURL": "http://127.0.0.1", "GATE_ADDITIONAL_SOURCES": "other", "SOURCE_1_BASEURL": "http://127.0.0.1",
			"GATE_SOURCE_1_FALLBACK": "true",
			"GATE_ADDRESS":           "127.0.0.1:0", "GATE_INNER_ADDRESS": "127.0.0.1:0",
			"GATE_METRICS_ADDRESS": "127.0.0.1:0", "LOG_LEVEL": "fatal",
		}
		environ[name] = value
		return run(ended, func(read string) string {
			names[read] = true
			return environ[read]
		})
	}
	if err := start("", ""); err != nil {
		t.Fatal(err)
	}
	refused := map[string][]string{
		"GATE_DARKROOM_URL": {"x", "127.0.0.1:1", "http://", "ftp://a"},
		"GATE_PRESETS":      {`{"a":"width=1"}`, `{"a":"w=5000"}`, `{"a":"w=1;h=1"}`, `{"a":1}`},
		"GATE_MEMORY_LIMIT": {"0", "9223372036854775807"}, "GATE_DARKROOM_MEMORY_LIMIT": {"-1", "9223372036854775807"},
		"SOURCE_1_BASEURL": {"x", "http://"}, "SOURCE_1_KIND": {"s3", "ftp"},
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		values := []string{
			"x", " ", "-1", "0", "1", "9223372036854775807", "99999999999999999999", "a\nb", "null", "{}", "/", "http://",
			"a,,b", "w=99999", ":0", "s3",
		}
		for _, value := range append(values, refused[name]...) {
			err := start(name, value)
			// An error about a kind or a fallback may name another variable of the source.
			about := strings.TrimSuffix(strings.TrimSuffix(name, "KIND"), "FALLBACK")
			if err != nil && !strings.Contains(err.Error(), about) && name != "GATE_ADDITIONAL_SOURCES" &&
				!strings.HasSuffix(name, "ADDRESS") {
				t.Errorf("%s=%q: %v does not name it", name, value, err)
			}
			if err == nil && slices.Contains(refused[name], value) {
				t.Errorf("%s=%q is used", name, value)
			}
		}
	}
}

func TestASettingOfTheSourceIsNamed(t *testing.T) {
	for name, environ := range map[string]map[string]string{
		"SOURCE_BASEURL":       {"SOURCE_KIND": "webfolder", "SOURCE_BASEURL": "example.com"},
		"SOURCE_HOST":          {"SOURCE_KIND": "cloudfront"},
		"SOURCE_BUCKET_NAME":   {"SOURCE_KIND": "s3"},
		"SOURCE_BUCKET_REGION": {"SOURCE_KIND": "s3", "SOURCE_BUCKET_NAME": "a"},
		"SOURCE_BUCKET_ENDPOINT": {
			"SOURCE_KIND": "s3", "SOURCE_BUCKET_NAME": "a", "SOURCE_BUCKET_REGION": "b",
			"SOURCE_BUCKET_ENDPOINT": "c",
		},
		"SOURCE_BUCKET_CREDENTIALSJSON": {
			"SOURCE_KIND": "gcs", "SOURCE_BUCKET_NAME": "a",
			"SOURCE_BUCKET_CREDENTIALSJSON": "{}",
		},
		"DEFAULTPARAMS": {"SOURCE_BASEURL": "http://a", "DEFAULTPARAMS": "w=wide"},
	} {
		err := run(t.Context(), func(name string) string { return environ[name] })
		if err == nil || !strings.Contains(err.Error(), "environment variable "+name) ||
			strings.Contains(err.Error(), "SOURCE_KIND") {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

func TestCertificatesOfPrivateAuthoritiesAreReadFromAFile(t *testing.T) {
	source := httptest.NewTLSServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(images()["photo.jpg"]) }),
	)
	t.Cleanup(source.Close)
	file := filepath.Join(t.TempDir(), "ca.crt")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: source.Certificate().Raw})
	if err := os.WriteFile(file, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, source.URL, map[string]string{"GATE_SOURCE_CA_FILE": file}).expect("/photo.jpg?w=10", http.StatusOK)

	if err := os.WriteFile(file, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{file, file + ".missing"} {
		environ := map[string]string{"SOURCE_BASEURL": source.URL, "GATE_SOURCE_CA_FILE": file}
		err := run(t.Context(), func(name string) string { return environ[name] })
		if err == nil || !strings.Contains(err.Error(), "GATE_SOURCE_CA_FILE") || !strings.Contains(err.Error(), file) {
			t.Errorf("%v does not name the file", err)
		}
	}
}
