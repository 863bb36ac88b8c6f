package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{"name":"a","source":{"baseUrl":"https://example.com"},"subDomains":["a"]}`,
		`{"source":{"type":"S3","bucket":"b","credentialsSecretRef":{"name":"s"}},"subDomains":[],"replicas":2147483648}`,
		`{"source":{},"subDomains":null,"resources":{"limits":{"cpu":1e400,"memory":"x"}}}`,
		`{"source":{"a":1},"subDomains":[1],"extraEnv":[{"name":"A","value":null,"valueFrom":{"secretKeyRef":{"name":"s"}}}]}`,
		`{"subDomains":"a","source":[],"status":{"phase":"Ready"},"uid":1}`, `[]`, `null`, `{} {}`, `{"a":`,
		`{"name":"\ud800"}`, "\xff",
	} {
		f.Add([]byte(body), false)
		f.Add([]byte(body), true)
	}
	decoder := NewDecoder()
	before := Darkroom{Name: "stored", Namespace: "photos", UID: "u", ResourceVersion: "1"}
	before.SubDomains = []string{"stored"}
	before.Source.Credentials = "inline"
	f.Fuzz(func(t *testing.T, body []byte, patch bool) {
		var previous any
		if patch {
			previous = before
		}
		err := CheckShape(body)
		var got *DarkroomInput
		if err == nil {
			got, err = decoder.Decode(body, previous)
		}
		if err != nil {
			var refusal *problem.Details
			if !errors.As(err, &refusal) || refusal.Status < 400 || refusal.Status > 499 {
				t.Fatalf("not a problem of the caller: %v", err)
			}
			for _, field := range refusal.Errors {
				if field.Location != "body" && !strings.HasPrefix(field.Location, "body.") {
					t.Errorf("the location %q is not in the body", field.Location)
				}
			}
			return
		}
		// The result is a complete body and decodes to itself.
		raw, err := json.Marshal(got)
		expect.NoError(t, err)
		again, err := decoder.Decode(raw, nil)
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
			if CheckShape(raw) != nil {
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
		expect.NoError(t, err)
		// Applying a patch a second time changes nothing.
		if again := mergePatch(read(raw), read(patch)); !reflect.DeepEqual(again, read(raw)) {
			t.Errorf("applied again, %s makes %v of %s", patch, again, raw)
		}
	})
}
