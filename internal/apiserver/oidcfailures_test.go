package apiserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/issuer"
)

// outages are the OAuth error codes of an issuer that is not available.
var outages = []string{"server_error", "temporarily_unavailable"}

// noAnswers are the ways in which a server fails to respond in place of an issuer.
func noAnswers() map[string]http.HandlerFunc {
	out := map[string]http.HandlerFunc{
		"a page of a proxy": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>Be right back")) },
		"nothing":           func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	for _, code := range outages {
		out[code] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"error":%q}`, code)
		}
	}
	for _, status := range []int{302, 403, 404, 408, 429, 500, 502, 503} {
		out[fmt.Sprint(status)] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}
	}
	return out
}

// ownIssuer returns settings with impersonation, the function that gives a server the identity for it, and an issuer
// that no other test uses.
func ownIssuer(t *testing.T, users ...string) (*settingsOf, func(*apiserver.Options), *issuer.Issuer) {
	t.Helper()
	settings, as := impersonating(t)
	own, err := issuer.Start(redirectURL)
	expect.NoError(t, err)
	t.Cleanup(own.Close)
	for _, each := range users {
		own.AddUser(each)
	}
	settings.config.Issuer, settings.config.CAFile = own.URL, file(t, own.CA)
	return settings, as, own
}

// signedInAt returns a browser in which a user has signed in at an issuer.
func signedInAt(t *testing.T, own *issuer.Issuer, s *server, user string) *browser {
	t.Helper()
	b := newBrowser(t, s)
	b.issuer = own
	b.signsIn(user, "/")
	return b
}

// later returns a replica that starts after some time, without any state about the issuer.
func (s *settingsOf) later(t *testing.T, d time.Duration) *oidc.Provider {
	t.Helper()
	out := *s
	out.config.Clock = clocktesting.NewFakePassiveClock(s.clock.Now().Add(d))
	return out.provider(t)
}

// sessionAt returns the session for a browser's cookies at a replica, and the cookies that the replica sets.
func sessionAt(t *testing.T, at *oidc.Provider, cookies string) (*oidc.Session, []string, error) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	request.Header.Set("Cookie", cookies)
	recorder := httptest.NewRecorder()
	session, err := at.Session(recorder, request)
	return session, recorder.Header().Values("Set-Cookie"), err
}

func TestAnIssuerThatDoesNotAnswerEndsNoSessionAndRefusesNobody(t *testing.T) {
	t.Parallel()
	settings, as, own := ownIssuer(t, "nora")
	s := start(t, settings.use(t), as)
	for _, path := range []string{issuer.DiscoveryPath, issuer.TokenPath, issuer.KeysPath} {
		for what, answer := range noAnswers() {
			t.Run(path+" answers "+what, func(t *testing.T) {
				b := signedInAt(t, own, s.on(t), "nora")
				late := settings.later(t, oidc.CheckPeriod)
				own.Fail(path, answer)
				for range 2 {
					if _, _, err := sessionAt(t, late, b.cookies()); !errors.Is(err, oidc.ErrUnavailable) {
						t.Errorf("the session: %v, want %v", err, oidc.ErrUnavailable)
					}
				}
				own.Fail(path, nil)
				eventually(t, "session", func() error { // go-oidc may share the fetch of the keys that has just failed
					_, _, err := sessionAt(t, late, b.cookies())
					return err
				})

				at := s.on(t)
				switch path {
				case issuer.DiscoveryPath:
					return // The sign-in does not begin; see TestIssuerThatIsDown.
				case issuer.KeysPath:
					at = start(t, settings.use(t), as) // s has fetched the keys
				}
				fresh := newBrowser(t, at)
				fresh.issuer = own
				callback := fresh.begin("nora", "/")
				own.Fail(path, answer)
				defer own.Fail(path, nil)
				if location := fresh.finish(callback); location != "/?signIn=unavailable" {
					t.Errorf("the sign-in ends at %s", location)
				}
			})
		}
	}
}

func TestAnIssuerThatIsNotWellSendsTheBrowserBack(t *testing.T) {
	t.Parallel()
	s := start(t, newSettings(t).use(t))
	for _, code := range outages {
		b := newBrowser(t, s)
		idp.AddUser("nils")
		state := queryOf(b.begin("nils", "/"), "state")
		b.ends("/?signIn=unavailable", "/auth/callback?error="+code+"&state="+state)
	}
}

func TestRequestsWithThePreviousCookieGetTheSameOnes(t *testing.T) {
	t.Parallel()
	settings, as, own := ownIssuer(t, "cora")
	b := signedInAt(t, own, start(t, settings.use(t), as), "cora")
	late := settings.later(t, oidc.CheckPeriod)
	_, first, err := sessionAt(t, late, b.cookies())
	expect.NoError(t, err)
	// The browser may keep parts of both responses.
	if _, second, err := sessionAt(t, late, b.cookies()); err != nil || !slices.Equal(first, second) {
		t.Errorf("the cookies are\n%q and then\n%q, %v", first, second, err)
	}
}

// The clocks of the cluster and of this server differ by seconds, and a token must be valid until its request has
// finished.
func TestASessionIsRefreshedWhileItsIDTokenIsValid(t *testing.T) {
	t.Parallel()
	settings, as, own := ownIssuer(t, "mia")
	s := start(t, settings.use(t), as)
	for _, lifetime := range []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, time.Hour} {
		own.Change("mia", func(c *issuer.Token) { c.Claims["exp"] = settings.clock.Now().Add(lifetime).Unix() })
		b := signedInAt(t, own, s, "mia")
		used, late := min(lifetime, oidc.CheckPeriod), min(lifetime-10*time.Second, oidc.CheckPeriod)
		for _, after := range []time.Duration{0, used / 2, late} {
			_, set, err := sessionAt(t, settings.later(t, after), b.cookies())
			if refreshed := len(set) > 0; err != nil || refreshed != (after == late) {
				t.Errorf("a token of %s: after %s the session is refreshed: %t, %v", lifetime, after, refreshed, err)
			}
		}
	}
}

func TestAReplicaThatHasJustStartedKnowsWhereToSignOut(t *testing.T) {
	t.Parallel()
	settings, as, own := ownIssuer(t, "sina")
	b := signedInAt(t, own, start(t, settings.use(t), as), "sina")
	other := start(t, settings.use(t), as)
	if got := b.on(other).who().SignOutURL; !strings.HasPrefix(got, own.URL) {
		t.Errorf("sign out at %q", got)
	}
	// Users are signed in even if the issuer is unavailable.
	for what, answer := range map[string]http.HandlerFunc{
		"nothing":            noAnswers()["nothing"],
		"not within seconds": func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() },
	} {
		own.Fail(issuer.DiscoveryPath, answer)
		if got := b.on(start(t, settings.use(t), as)).who(); got.SignOutURL != "" {
			t.Errorf("an issuer that responds with %s: sign out at %q", what, got.SignOutURL)
		}
	}
}
