package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInvalidSettingsAreNamed(t *testing.T) {
	environ := map[string]string{
		"GATE_MAX_WIDTH": "wide", "GATE_PARAMETERS": "w,size", "LOG_LEVEL": "loud", "SOURCE_KIND": "ftp", "GATE_PRESETS": "{", "DEFAULTPARAMS": "w",
	}
	err := run(t.Context(), func(name string) string { return environ[name] })
	for name := range environ {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

func TestASettingOfTheSourceIsNamed(t *testing.T) {
	for name, environ := range map[string]map[string]string{
		"SOURCE_BASEURL":                {"SOURCE_KIND": "webfolder", "SOURCE_BASEURL": "example.com"},
		"SOURCE_HOST":                   {"SOURCE_KIND": "cloudfront"},
		"SOURCE_BUCKET_NAME":            {"SOURCE_KIND": "s3"},
		"SOURCE_BUCKET_REGION":          {"SOURCE_KIND": "s3", "SOURCE_BUCKET_NAME": "a"},
		"SOURCE_BUCKET_ENDPOINT":        {"SOURCE_KIND": "s3", "SOURCE_BUCKET_NAME": "a", "SOURCE_BUCKET_REGION": "b", "SOURCE_BUCKET_ENDPOINT": "c"},
		"SOURCE_BUCKET_CREDENTIALSJSON": {"SOURCE_KIND": "gcs", "SOURCE_BUCKET_NAME": "a", "SOURCE_BUCKET_CREDENTIALSJSON": "{}"},
		"DEFAULTPARAMS":                 {"SOURCE_BASEURL": "http://a", "DEFAULTPARAMS": "w=wide"},
	} {
		err := run(t.Context(), func(name string) string { return environ[name] })
		if err == nil || !strings.Contains(err.Error(), "environment variable "+name) || strings.Contains(err.Error(), "SOURCE_KIND") {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

func TestCertificatesOfPrivateAuthoritiesAreReadFromAFile(t *testing.T) {
	source := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(images()["photo.jpg"]) }))
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
