package oidc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func TestIdentityOfClaims(t *testing.T) {
	mapping := &Impersonation{
		UsernameClaim: "email", UsernamePrefix: "oidc:", GroupsClaim: "groups",
		Groups: []string{"a", "b"},
	}
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

// TestNamesArriveAsTheyAre sends each accepted name by HTTP/1.1 in the same way as Go does.
func TestNamesArriveAsTheyAre(t *testing.T) {
	parts := []string{
		"admin@example.com", "a", " ", "\t", "\u00a0", "\u2003", "\r", "\n", "\x00",
		"\x7f", "\u0085", "é", ":",
	}
	accepted := 0
	for _, first := range parts {
		for _, middle := range parts {
			for _, last := range parts {
				name := first + middle + last
				for _, mapping := range []*Impersonation{
					{UsernameClaim: "sub", UsernamePrefix: "oidc:"},
					{UsernameClaim: "sub", UsernamePrefix: name, Groups: []string{"a"}},
					{UsernameClaim: "sub", UsernamePrefix: "oidc:", Groups: []string{"a"}, GroupsPrefix: name},
					{UsernameClaim: "sub", UsernamePrefix: "oidc:", Groups: []string{name}},
				} {
					if mapping.validate() != nil {
						continue
					}
					claimed, err := json.Marshal(name)
					expect.NoError(t, err)
					username, groups, err := mapping.identity(claims{"sub": claimed, "groups": json.RawMessage(`"a"`)})
					if err != nil {
						continue
					}
					accepted++
					for _, sent := range append(groups, mapping.UsernamePrefix+username) {
						if got := sentByHTTP(t, sent); got != sent {
							t.Fatalf("%q arrives as %q", sent, got)
						}
					}
				}
			}
		}
	}
	if accepted == 0 {
		t.Error("nothing is accepted")
	}
}

// sentByHTTP returns a header as the server receives it.
func sentByHTTP(t *testing.T, value string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)
	expect.NoError(t, err)
	request.Header.Set("Impersonate-User", value)
	var sent bytes.Buffer
	expect.NoError(t, request.Write(&sent))
	received, err := http.ReadRequest(bufio.NewReader(&sent))
	if err != nil {
		return err.Error()
	}
	return received.Header.Get("Impersonate-User")
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
