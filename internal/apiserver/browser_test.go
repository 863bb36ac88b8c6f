package apiserver_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/issuer"
)

// redirectURL is the server's redirect URL, as registered at the issuer.
const redirectURL = "https://darkrooms.test/auth/callback"

// settingsOf returns the settings of servers that share sessions.
type settingsOf struct {
	config oidc.Config
	clock  *clocktesting.FakePassiveClock
}

// pass advances the clock of the sessions.
func (s *settingsOf) pass(d time.Duration) { s.clock.SetTime(s.clock.Now().Add(d)) }

// newSettings returns settings with new keys. The clock is used for the sessions.
func newSettings(t *testing.T) *settingsOf {
	t.Helper()
	clock := clocktesting.NewFakePassiveClock(time.Now())
	return &settingsOf{clock: clock, config: oidc.Config{
		Name: "Dex", Issuer: idp.URL, ClientID: issuer.ClientID, RedirectURL: redirectURL, Clock: clock,
		CAFile:           file(t, idp.CA),
		ClientSecretFile: file(t, []byte(issuer.ClientSecret+"\n")),
		CookieKeysFile:   file(t, []byte(base64.StdEncoding.EncodeToString([]byte(rand.Text() + rand.Text())[:32]))),
	}}
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	expect.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func (s *settingsOf) provider(t *testing.T) *oidc.Provider {
	t.Helper()
	provider, err := oidc.New(s.config)
	expect.NoError(t, err)
	return provider
}

func (s *settingsOf) use(t *testing.T) func(*apiserver.Options) {
	t.Helper()
	provider := s.provider(t)
	return func(o *apiserver.Options) { o.OIDC, o.ClusterName = provider, "staging" }
}

// browser stores the cookies of a user.
type browser struct {
	t      *testing.T
	server *server
	issuer *issuer.Issuer
	jar    map[string]string
	// seen are all URLs that the browser was redirected to.
	seen []string
}

func newBrowser(t *testing.T, s *server) *browser {
	return &browser{t: t, server: s, issuer: idp, jar: map[string]string{}}
}

func (b *browser) cookies() string {
	var out []string
	for name, value := range b.jar {
		out = append(out, name+"="+value)
	}
	return strings.Join(out, "; ")
}

// do sends a request with the cookies, and stores the cookies of the response.
func (b *browser) do(method, path, body string, headers ...string) answer {
	b.t.Helper()
	if cookies := b.cookies(); cookies != "" {
		headers = append(headers, "Cookie", cookies)
	}
	got := b.server.raw("", method, path, body, headers...)
	for _, each := range (&http.Response{Header: got.header}).Cookies() {
		if each.MaxAge < 0 {
			delete(b.jar, each.Name)
			continue
		}
		b.jar[each.Name] = each.Value
	}
	b.seen = append(b.seen, path, got.header.Get("Location"))
	return got
}

func (b *browser) want(status int, method, path, body string) answer {
	b.t.Helper()
	got := b.do(method, path, body)
	if got.status != status {
		b.t.Fatalf("%s %s: got status %s, want %d\n%s", method, path, got, status, b.server.log)
	}
	return got
}

// begin begins a sign-in as a user, and returns the path to which the issuer redirects the browser.
func (b *browser) begin(user, returnPath string) string {
	b.t.Helper()
	authorization := b.want(http.StatusSeeOther, "GET", "/auth/login?return="+url.QueryEscape(returnPath), "").
		header.Get("Location")
	back, err := b.issuer.Authorize(b.t.Context(), authorization, user)
	expect.NoError(b.t, err)
	return back.RequestURI()
}

// finish requests the callback, as browsers do when they come from another site.
func (b *browser) finish(callback string) (location string) {
	b.t.Helper()
	got := b.do("GET", callback, "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
	if got.status != http.StatusSeeOther {
		b.t.Fatalf("the callback: got status %s", got)
	}
	return got.header.Get("Location")
}

// ends checks where a callback redirects to. A failed sign-in leaves no session.
func (b *browser) ends(want, callback string) {
	b.t.Helper()
	location := b.finish(callback)
	if failed := strings.HasPrefix(want, "/?signIn="); location != want || failed && b.jar[oidc.SessionCookie] != "" {
		b.t.Fatalf("the sign-in ends at %s, want %s\n%s", location, want, b.server.log)
	}
}

// signsIn signs a user in, and checks where the callback redirects to.
func (b *browser) signsIn(user, want string) {
	b.t.Helper()
	b.ends(want, b.begin(user, "/"))
}

func (b *browser) who() apiserver.Who {
	b.t.Helper()
	return into[apiserver.Who](b.t, b.want(http.StatusOK, "GET", "/session", ""))
}

// on returns the same browser with another replica.
func (b *browser) on(s *server) *browser {
	b.server = s
	return b
}

// startFor starts a server with an issuer that the cluster trusts, and returns the browser of a new user.
func startFor(t *testing.T, user string, groups ...string) (*settingsOf, *server, *browser) {
	t.Helper()
	idp.AddUser(user, groups...)
	settings := newSettings(t)
	s := start(t, settings.use(t))
	// The cluster fetches the keys of the issuer after a moment.
	eventually(t, "cluster trusts the issuer", func() error {
		if b := newBrowser(t, s); b.finish(b.begin(user, "/")) != "/" {
			return fmt.Errorf("refused: %s", s.log)
		}
		return nil
	})
	return settings, s, newBrowser(t, s)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// queryOf returns a parameter of a URL.
func queryOf(rawURL, name string) string { return must(url.Parse(rawURL)).Query().Get(name) }
