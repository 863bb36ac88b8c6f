package apiserver_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/issuer"
)

func TestSessionIsRefreshedAtTheIssuer(t *testing.T) {
	t.Parallel()
	settings, s, b := startFor(t, "rita")
	b.signsIn("rita", "/")
	first := b.jar[oidc.SessionCookie]
	if b.who(); b.jar[oidc.SessionCookie] != first {
		t.Error("a fresh session is refreshed")
	}
	settings.pass(oidc.CheckPeriod)
	stale := newBrowser(t, s)
	stale.jar = maps.Clone(b.jar)
	if who := b.who(); who.Username != "oidc:rita" || b.jar[oidc.SessionCookie] == first {
		t.Errorf("I am %+v", who)
	}
	// Concurrent requests with the previous cookie also succeed, although this issuer accepts each refresh token only
	// once.
	stale.who()
	// Revoked at the issuer.
	expect.NoError(t, idp.Revoke(t.Context(), "rita"))
	b.who()
	settings.pass(oidc.CheckPeriod)
	b.want(http.StatusUnauthorized, "GET", "/session", "")

	// No session exceeds its lifetime, and a refresh never turns it into a session of another user.
	b = newBrowser(t, s)
	b.signsIn("rita", "/")
	idp.Change("rita", func(c *issuer.Token) { c.Claims["sub"] = "id-first" })
	settings.pass(oidc.CheckPeriod)
	b.want(http.StatusUnauthorized, "GET", "/session", "")
	idp.Change("rita", nil)
	settings.config.SessionLifetime.Duration = 5 * time.Minute
	b = newBrowser(t, start(t, settings.use(t)))
	b.signsIn("rita", "/")
	settings.pass(5 * time.Minute)
	b.want(http.StatusUnauthorized, "GET", "/session", "")
}

func TestSignOutEndsTheSession(t *testing.T) {
	t.Parallel()
	settings, one, b := startFor(t, "olga")
	two := start(t, settings.use(t))
	b.signsIn("olga", "/")
	b.on(two).who()
	thief := newBrowser(t, two)
	thief.jar = maps.Clone(b.jar)
	b.on(one).want(http.StatusNoContent, "DELETE", "/session", "")
	if len(b.jar) != 0 {
		t.Errorf("the cookies %v are left", b.jar)
	}
	// The replica that ended the session rejects a copy of the cookie at once; the other replica rejects it at the next
	// refresh.
	thief.on(one).want(http.StatusUnauthorized, "GET", "/session", "")
	settings.pass(oidc.CheckPeriod)
	thief.on(two).want(http.StatusUnauthorized, "GET", "/session", "")
}

func TestStreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	settings, as := impersonating(t)
	idp.AddUser("stella", "photographers")
	s, namespace := start(t, settings.use(t), as, quick), newNamespace(t)
	grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "sso:photographers"}, canEdit)
	b := newBrowser(t, s)
	b.signsIn("stella", "/")
	s.becomes(http.StatusOK, "", "GET", "/darkrooms?namespace="+namespace, "", "Cookie", b.cookies())
	watching := s.follow("", "/events/stream?namespace="+namespace, "Cookie", b.cookies())
	watching.until("synced")
	b.want(http.StatusNoContent, "DELETE", "/session", "")
	eventually(t, "stream ends", func() error {
		if !strings.Contains(s.log.String(), "no longer known") {
			return fmt.Errorf("open")
		}
		return nil
	})
}

func TestIssuerThatIsDown(t *testing.T) {
	t.Parallel()
	settings, as := impersonating(t)
	own, err := issuer.Start(redirectURL)
	expect.NoError(t, err)
	defer own.Close()
	own.AddUser("dora")
	own.SetDown(true)
	settings.config.Issuer, settings.config.CAFile = own.URL, file(t, own.CA)
	s := start(t, settings.use(t), as)
	b := newBrowser(t, s)
	location := b.want(http.StatusSeeOther, "GET", "/auth/login", "").header.Get("Location")
	if location != "/?signIn=unavailable" {
		t.Errorf("the sign-in ends at %s", location)
	}
	own.SetDown(false)
	b.issuer = own
	b.signsIn("dora", "/")
	own.SetDown(true)
	b.who()
	settings.pass(oidc.CheckPeriod)
	if got := b.want(http.StatusServiceUnavailable, "GET", "/session", ""); got.header.Get("Retry-After") == "" {
		t.Errorf("got status %s, %v", got, got.header)
	}
	own.SetDown(false)
	b.who()
	// Signing out also works while the issuer is unavailable.
	own.SetDown(true)
	b.want(http.StatusNoContent, "DELETE", "/session", "")
}

func TestTokensOfASessionStayInTheCookie(t *testing.T) {
	t.Parallel()
	settings, s, b := startFor(t, "tess")
	callback := b.begin("tess", "/")
	b.ends("/", callback)
	code := queryOf(callback, "code")
	session := opened(t, settings, b)
	answers := []string{
		b.do("GET", "/session", "").body, b.do("GET", "/settings", "").body,
		b.do("GET", "/sign-in", "").body,
	}
	settings.pass(oidc.CheckPeriod)
	answers = append(answers, b.do("GET", "/session", "").body)
	refreshed := opened(t, settings, b)
	b.want(http.StatusNoContent, "DELETE", "/session", "")
	s.stop()
	for name, secret := range map[string]string{
		"ID token": session.IDToken, "refresh token": session.RefreshToken, "second ID token": refreshed.IDToken,
		"second refresh token": refreshed.RefreshToken, "client secret": issuer.ClientSecret, "code": code,
	} {
		if secret == "" {
			t.Errorf("there is no %s", name)
			continue
		}
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log has the %s", name)
		}
		if strings.Contains(strings.Join(answers, "\n"), secret) {
			t.Errorf("a response contains the %s", name)
		}
		// The code is in the URL of the callback; it can be used only once, and only with the verifier.
		if name != "code" && strings.Contains(strings.Join(b.seen, "\n"), secret) {
			t.Errorf("a URL has the %s", name)
		}
	}
}

// opened decrypts the session of a browser, as another replica would.
func opened(t *testing.T, settings *settingsOf, b *browser) *oidc.Session {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	request.Header.Set("Cookie", b.cookies())
	session, err := settings.provider(t).Session(nil, request)
	if err != nil || session == nil {
		t.Fatalf("session %v, %v", session, err)
	}
	return session
}
