package apiserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

func TestSession(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	one := newUser(t, namespace, "one")
	got := s.want(http.StatusOK, "", "POST", "/session", fmt.Sprintf(`{"token":%q}`, one.token))
	set := got.header.Get("Set-Cookie")
	contains(t, "the cookie", set, "__Host-darkroom-session=", "HttpOnly", "Secure", "SameSite=Strict", "Path=/")
	if strings.Contains(set, "Domain") || strings.Contains(got.body, one.token) {
		t.Errorf("cookie is %q, body %s", set, got.body)
	}
	cookie, _, _ := strings.Cut(set, ";")
	who := into[apiserver.Who](t, s.want(http.StatusOK, "", "GET", "/session", "", "Cookie", cookie))
	if want := "system:serviceaccount:" + namespace + ":one"; who.Username != want || len(who.Groups) == 0 {
		t.Errorf("I am %+v, want %s", who, want)
	}
	// The header of a proxy takes precedence over the cookie of a browser.
	two := newUser(t, namespace, "two")
	who = into[apiserver.Who](t, s.want(http.StatusOK, two.token, "GET", "/session", "", "Cookie", cookie))
	if !strings.HasSuffix(who.Username, ":two") {
		t.Errorf("I am %+v, want two", who)
	}
	out := s.want(http.StatusNoContent, "", "DELETE", "/session", "").header.Get("Set-Cookie")
	if !strings.Contains(out, "Max-Age=0") {
		t.Errorf("signing out sets %q", out)
	}
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"a wrong token":  {`{"token":"made-up"}`, http.StatusUnauthorized},
		"no token":       {`{}`, http.StatusUnprocessableEntity},
		"not JSON":       {`x`, http.StatusUnprocessableEntity},
		"too large":      {`{"token":"` + strings.Repeat("x", 4000) + `"}`, http.StatusUnprocessableEntity},
		"bad characters": {`{"token":"a;b c"}`, http.StatusUnprocessableEntity},
	} {
		if got := s.want(c.status, "", "POST", "/session", c.body); got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s sets a cookie", name)
		}
	}
}
