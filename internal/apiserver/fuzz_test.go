package apiserver

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/imageproxy"
)

// checkRefusal fails the test unless an error is a problem for the caller, with locations in the corresponding part of
// the request.
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

func FuzzNewSecret(f *testing.F) {
	f.Add("photos", "keys", "AKIA", "secret", "")
	f.Add("photos", "keys", "", "", `{"type":"service_account","client_email":"a@b","private_key":"-----BEGIN"}`)
	f.Add("a/b", "S3_Keys", " ", "\n", `{"type":1}`)
	f.Fuzz(func(t *testing.T, namespace, name, accessKey, secretKey, credentialsJSON string) {
		in := NewSecret{
			Namespace: namespace, Name: name, AccessKey: accessKey, SecretKey: secretKey,
			CredentialsJSON: credentialsJSON,
		}
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
	for _, path := range []string{
		"/images/cat.jpg", "/../metrics", "/ping", "//x", "/a%2e", "/a?b",
		"/a/", "x", "/a\\b", "/\x00",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if len(path) < 2 {
			// The schema rejects it.
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
		for _, internal := range imageproxy.Internal {
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
