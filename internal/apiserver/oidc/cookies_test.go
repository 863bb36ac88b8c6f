package oidc

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func sealerOf(t *testing.T, keys ...byte) *sealer {
	t.Helper()
	var raw [][]byte
	for _, b := range keys {
		raw = append(raw, key(b))
	}
	out, err := newSealer(raw)
	expect.NoError(t, err)
	return out
}

func TestSealedValuesOpenWithKnownKeysOnly(t *testing.T) {
	sealed, err := sealerOf(t, 'a').seal("session", "secret")
	expect.NoError(t, err)
	if again, _ := sealerOf(t, 'a').seal("session", "secret"); again == sealed || strings.Contains(sealed, "secret") {
		t.Errorf("sealed is %q", sealed)
	}
	flipped := []byte(sealed)
	flipped[len(flipped)/2] ^= 1
	for name, c := range map[string]struct {
		with          *sealer
		purpose, text string
		want          error
	}{
		"same key":      {sealerOf(t, 'a'), "session", sealed, nil},
		"newer key too": {sealerOf(t, 'b', 'a'), "session", sealed, nil},
		"another key":   {sealerOf(t, 'b'), "session", sealed, errSealed},
		"other purpose": {sealerOf(t, 'a'), "sign-in", sealed, errSealed},
		"changed":       {sealerOf(t, 'a'), "session", string(flipped), errSealed},
		"cut off":       {sealerOf(t, 'a'), "session", sealed[:20], errSealed},
		"not base64":    {sealerOf(t, 'a'), "session", "!", errSealed},
		"empty":         {sealerOf(t, 'a'), "session", "", errSealed},
	} {
		var got string
		if err := c.with.open(c.purpose, c.text, &got); !errors.Is(err, c.want) || c.want == nil && got != "secret" {
			t.Errorf("%s: opens as %q, %v", name, got, err)
		}
	}
}

func TestLargeSessionsAreSplitIntoCookies(t *testing.T) {
	provider := &Provider{sealer: sealerOf(t, 'a')}
	cookies, err := provider.Cookies(&Session{IDToken: strings.Repeat("x", 2*maxPart)})
	if err != nil || len(cookies) != 3 {
		t.Fatalf("there are %d cookies, %v", len(cookies), err)
	}
	request := &http.Request{Header: http.Header{}}
	for i, each := range cookies {
		if len(each.Name)+len(each.Value) > 4000 {
			t.Errorf("%s has %d bytes", each.Name, len(each.Value))
		}
		if sealedIn(request) != "" {
			t.Errorf("%d of the cookies are a session", i)
		}
		request.AddCookie(each)
	}
	session := &Session{}
	err = provider.sealer.open(SessionCookie, sealedIn(request), session)
	if err != nil || len(session.IDToken) != 2*maxPart {
		t.Errorf("opens as %v, %v", session, err)
	}
	if deleted := Deletions(request); len(deleted) != 3 || deleted[2].MaxAge >= 0 {
		t.Errorf("the cookies are deleted by %v", deleted)
	}
	if _, err := provider.Cookies(&Session{IDToken: strings.Repeat("x", maxParts*maxPart)}); !errors.Is(err, ErrRefused) {
		t.Errorf("a token that is too large: %v", err)
	}
}
