package oidc

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

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
	if err := provider.sealer.open(SessionCookie, sealedIn(request), session); err != nil || len(session.IDToken) != 2*maxPart {
		t.Errorf("opens as %v, %v", session, err)
	}
	if deleted := Deletions(request); len(deleted) != 3 || deleted[2].MaxAge >= 0 {
		t.Errorf("the cookies are deleted by %v", deleted)
	}
	if _, err := provider.Cookies(&Session{IDToken: strings.Repeat("x", maxParts*maxPart)}); !errors.Is(err, ErrRefused) {
		t.Errorf("a token that is too large: %v", err)
	}
}
