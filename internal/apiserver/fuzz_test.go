package apiserver

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// newTestDecoder returns a decoder as the server has it.
func newTestDecoder() *decoder {
	return newDecoder(huma.NewMapRegistry("#/components/schemas/", schemaName))
}

// checkRefusal fails the test unless an error is a Problem for the caller, with locations in
// the part of the request that it is about.
func checkRefusal(t *testing.T, err error, part string) {
	t.Helper()
	var refusal *problem.Details
	if !errors.As(err, &refusal) {
		t.Fatalf("not a problem: %v", err)
	}
	if refusal.Status < 400 || refusal.Status > 499 {
		t.Errorf("the status is %d: %v", refusal.Status, err)
	}
	for _, field := range refusal.Errors {
		if field.Location != part && !strings.HasPrefix(field.Location, part+".") {
			t.Errorf("the location %q is not in the %s", field.Location, part)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{"name":"a","source":{"baseUrl":"https://example.com"},"subDomains":["a"]}`,
		`{"source":{"type":"S3","bucket":"b","credentialsSecretRef":{"name":"s"}},"subDomains":[],"replicas":2147483648}`,
		`{"source":{},"subDomains":null,"resources":{"limits":{"cpu":1e400,"memory":"x"}}}`,
		`{"source":{"a":1},"subDomains":[1],"extraEnv":[{"name":"A","value":null,"valueFrom":{"secretKeyRef":{"name":"s"}}}]}`,
		`{"subDomains":"a","source":[],"status":{"phase":"Ready"},"uid":1}`, `[]`, `null`, `{} {}`, `{"a":`, `{"name":"\ud800"}`, "\xff",
	} {
		f.Add([]byte(body), false)
		f.Add([]byte(body), true)
	}
	decoder := newTestDecoder()
	before := Darkroom{Name: "stored", Namespace: "photos", UID: "u", ResourceVersion: "1"}
	before.SubDomains = []string{"stored"}
	before.Source.Credentials = "inline"
	f.Fuzz(func(t *testing.T, body []byte, patch bool) {
		var previous any
		if patch {
			previous = before
		}
		got, err := decoder.decode(body, previous)
		if err != nil {
			checkRefusal(t, err, "body")
			return
		}
		// The result is a complete body, and decodes to itself.
		raw, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decoder.decode(raw, nil)
		if err != nil {
			t.Fatalf("the decoded body is refused: %v: %s", err, raw)
		}
		if next, err := json.Marshal(again); err != nil || string(next) != string(raw) {
			t.Errorf("decoded again it is %s, want %s: %v", next, raw, err)
		}
	})
}

func FuzzMergePatch(f *testing.F) {
	f.Add([]byte(`{"a":{"b":1,"c":[1]},"d":2}`), []byte(`{"a":{"b":null},"e":{"f":null}}`))
	f.Add([]byte(`{"a":1}`), []byte(`{"a":{"b":{"c":null}}}`))
	f.Fuzz(func(t *testing.T, base, patch []byte) {
		read := func(raw []byte) map[string]any {
			if checkShape(raw) != nil {
				return nil
			}
			out, err := object(raw)
			if err != nil {
				return nil
			}
			return out
		}
		if read(base) == nil || read(patch) == nil {
			return
		}
		merged := mergePatch(read(base), read(patch))
		raw, err := json.Marshal(merged)
		if err != nil {
			t.Fatal(err)
		}
		// A patch that is applied again changes nothing.
		if again := mergePatch(read(raw), read(patch)); !reflect.DeepEqual(again, read(raw)) {
			t.Errorf("applied again, %s makes %v of %s", patch, again, raw)
		}
	})
}

func FuzzNewSecret(f *testing.F) {
	f.Add("photos", "keys", "AKIA", "secret", "")
	f.Add("photos", "keys", "", "", `{"type":"service_account","client_email":"a@b","private_key":"-----BEGIN"}`)
	f.Add("a/b", "S3_Keys", " ", "\n", `{"type":1}`)
	f.Fuzz(func(t *testing.T, namespace, name, accessKey, secretKey, credentialsJSON string) {
		in := NewSecret{Namespace: namespace, Name: name, AccessKey: accessKey, SecretKey: secretKey, CredentialsJSON: credentialsJSON}
		if err := in.check(); err != nil {
			checkRefusal(t, err, "body")
			return
		}
		secret := in.secret()
		if keys := len(secret.Data); keys != 2 && (keys != 1 || secret.Data["credentials.json"] == nil) {
			t.Errorf("the Secret has %d entries", keys)
		}
		for key, value := range secret.Data {
			if len(value) == 0 {
				t.Errorf("the entry %s is empty", key)
			}
		}
	})
}

func FuzzImagePath(f *testing.F) {
	for _, path := range []string{"/images/cat.jpg", "/../metrics", "/ping", "//x", "/a%2e", "/a?b", "/a/", "x", "/a\\b", "/\x00"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if len(path) < 2 {
			// The schema refuses it.
			return
		}
		got, err := imagePath(path)
		if err != nil {
			checkRefusal(t, err, "query")
			return
		}
		for _, part := range strings.Split(got, "/")[1:] {
			if part == "" || part == "." || part == ".." {
				t.Errorf("%q is allowed", got)
			}
		}
		for _, internal := range notImages {
			if got == internal || strings.HasPrefix(got, internal+"/") {
				t.Errorf("%q is allowed", got)
			}
		}
	})
}

func FuzzContinue(f *testing.F) {
	f.Add("")
	f.Add(formatContinue(types.NamespacedName{Namespace: "photos", Name: "cats"}))
	f.Add("cGhvdG9z")
	f.Fuzz(func(t *testing.T, token string) {
		last, err := parseContinue(token)
		if err != nil {
			checkRefusal(t, err, "query")
			return
		}
		if again, err := parseContinue(formatContinue(last)); err != nil || again != last {
			t.Errorf("%v comes back as %v: %v", last, again, err)
		}
	})
}
