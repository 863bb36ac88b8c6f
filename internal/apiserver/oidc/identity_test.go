package oidc

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func TestIdentityOfClaims(t *testing.T) {
	mapping := &Impersonation{UsernameClaim: "email", UsernamePrefix: "oidc:", GroupsClaim: "groups", Groups: []string{"a", "b"}}
	for claimed, want := range map[string]struct {
		username string
		groups   []string
		err      error
	}{
		`{"email":"alice","groups":["b","c","b"]}`:           {"alice", []string{"b"}, nil},
		`{"email":"alice","groups":"a"}`:                     {"alice", []string{"a"}, nil},
		`{"email":"alice"}`:                                  {"alice", nil, nil},
		`{"email":"alice","groups":{"a":true}}`:              {"alice", nil, nil},
		`{"email":"alice","groups":["system:masters","a "]}`: {"alice", nil, nil},
		`{"email":""}`:                                       {"", nil, ErrNotAllowed},
		`{"email":7}`:                                        {"", nil, ErrNotAllowed},
		`{}`:                                                 {"", nil, ErrNotAllowed},
		`{"email":"system:admin"}`:                           {"", nil, ErrNotAllowed},
		`{"email":"a\nb"}`:                                   {"", nil, ErrNotAllowed},
		`{"email":"a@b","email_verified":true}`:              {"a@b", nil, nil},
		`{"email":"a@b","email_verified":false}`:             {"", nil, ErrNotAllowed},
	} {
		from := claims{}
		expect.NoError(t, json.Unmarshal([]byte(claimed), &from))
		username, groups, err := mapping.identity(from)
		if !errors.Is(err, want.err) || username != want.username || !slices.Equal(groups, want.groups) {
			t.Errorf("%s is %q, %q, %v", claimed, username, groups, err)
		}
	}
}

func TestReturnPathsAreLocal(t *testing.T) {
	for given, want := range map[string]string{
		"/ui/darkrooms/a/b?x=1": "/ui/darkrooms/a/b?x=1", "/?phase=Ready&q=a": "/?phase=Ready&q=a",
		"": "/", "/": "/", "///evil.example.com": "/", "/%2fevil.example.com": "/", "https://evil.example.com/ui/": "/",
		"//evil.example.com/ui/": "/", `/\evil.example.com`: "/", `/ui/\evil`: "/", "ui/x": "/", "javascript:alert(1)": "/",
		"/auth/login": "/", "/ui/\r\nSet-Cookie: a=b": "/",
	} {
		if got := localPath(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
