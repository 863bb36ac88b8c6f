package oidc

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
)

func TestIdentityOfClaims(t *testing.T) {
	mapping := &Impersonation{UsernameClaim: "name", UsernamePrefix: "oidc:", GroupsClaim: "groups", Groups: []string{"a", "b"}}
	for claimed, want := range map[string]struct {
		username string
		groups   []string
		err      error
	}{
		`{"name":"alice","groups":["b","c","b"]}`:           {"alice", []string{"b"}, nil},
		`{"name":"alice","groups":"a"}`:                     {"alice", []string{"a"}, nil},
		`{"name":"alice"}`:                                  {"alice", nil, nil},
		`{"name":"alice","groups":{"a":true}}`:              {"alice", nil, nil},
		`{"name":"alice","groups":["system:masters","a "]}`: {"alice", nil, nil},
		`{"name":""}`:             {"", nil, ErrNotAllowed},
		`{"name":7}`:              {"", nil, ErrNotAllowed},
		`{}`:                      {"", nil, ErrNotAllowed},
		`{"name":"system:admin"}`: {"", nil, ErrNotAllowed},
		`{"name":"a\nb"}`:         {"", nil, ErrNotAllowed},
	} {
		from := claims{}
		if err := json.Unmarshal([]byte(claimed), &from); err != nil {
			t.Fatal(err)
		}
		username, groups, err := mapping.identity(from)
		if !errors.Is(err, want.err) || username != want.username || !slices.Equal(groups, want.groups) {
			t.Errorf("%s is %q, %q, %v", claimed, username, groups, err)
		}
	}
}
