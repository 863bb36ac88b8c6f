package apiserver_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/issuer"
)

// redirectURL is that of the server at the issuer.
const redirectURL = "https://darkrooms.test/auth/callback"

// settingsOf are the settings of servers that share sessions.
type settingsOf struct {
	config oidc.Config
	clock  *clocktesting.FakePassiveClock
}

// newSettings returns settings with keys of their own. The clock is that of the sessions.
func newSettings(t *testing.T, change ...func(*oidc.Config)) *settingsOf {
	t.Helper()
	clock := clocktesting.NewFakePassiveClock(time.Now())
	out := &settingsOf{clock: clock, config: oidc.Config{
		Name: "Dex", Issuer: idp.URL, ClientID: issuer.ClientID, RedirectURL: redirectURL, Clock: clock,
		CAFile:           file(t, idp.CA),
		ClientSecretFile: file(t, []byte(issuer.ClientSecret+"\n")),
		CookieKeysFile:   file(t, []byte(base64.StdEncoding.EncodeToString([]byte(rand.Text() + rand.Text())[:32]))),
	}}
	for _, each := range change {
		each(&out.config)
	}
	return out
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (s *settingsOf) use(t *testing.T) func(*apiserver.Options) {
	t.Helper()
	provider, err := oidc.New(s.config)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *apiserver.Options) { o.OIDC, o.ClusterName = provider, "staging" }
}

// browser keeps the cookies of a user.
type browser struct {
	t      *testing.T
	server *server
	issuer *issuer.Issuer
	jar    map[string]string
	// seen are all URLs that the browser was sent to.
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

// do sends a request with the cookies, and keeps those of the response.
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
		b.t.Fatalf("%s %s answers %s, want %d\n%s", method, path, got, status, b.server.log)
	}
	return got
}

// begin begins a sign-in as a user, and returns the path that the issuer sends the browser
// back to.
func (b *browser) begin(user, returnPath string) string {
	b.t.Helper()
	authorization := b.want(http.StatusSeeOther, "GET", "/auth/login?return="+url.QueryEscape(returnPath), "").header.Get("Location")
	back, err := b.issuer.Authorize(b.t.Context(), authorization, user)
	if err != nil {
		b.t.Fatal(err)
	}
	return back.RequestURI()
}

// finish goes back to the server, as browsers do from another site.
func (b *browser) finish(callback string) (location string) {
	b.t.Helper()
	got := b.do("GET", callback, "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
	if got.status != http.StatusSeeOther {
		b.t.Fatalf("the callback answers %s", got)
	}
	return got.header.Get("Location")
}

// ends checks where a callback leads. A sign-in that fails leaves no session.
func (b *browser) ends(want, callback string) {
	b.t.Helper()
	location := b.finish(callback)
	if failed := strings.HasPrefix(want, "/?signIn="); location != want || failed && b.jar[oidc.SessionCookie] != "" {
		b.t.Fatalf("the sign-in ends at %s, want %s\n%s", location, want, b.server.log)
	}
}

func (b *browser) signIn(user string) {
	b.t.Helper()
	b.ends("/ui/hosts", b.begin(user, "/ui/hosts"))
}

func (b *browser) who() apiserver.Who {
	b.t.Helper()
	return into[apiserver.Who](b.t, b.want(http.StatusOK, "GET", "/session", ""))
}

// on is the same browser at another replica.
func (b *browser) on(s *server) *browser {
	b.server = s
	return b
}

// startFor starts a server whose issuer the cluster trusts, and the browser of a new user.
func startFor(t *testing.T, user string, groups ...string) (*settingsOf, *server, *browser) {
	t.Helper()
	awaitTrust(t)
	idp.AddUser(user, groups...)
	settings := newSettings(t)
	s := start(t, settings.use(t))
	return settings, s, newBrowser(t, s)
}

// awaitTrust waits until the cluster has the keys of the issuer.
func awaitTrust(t *testing.T) {
	t.Helper()
	idp.AddUser("first")
	s := start(t, newSettings(t).use(t))
	eventually(t, "cluster trusts the issuer", func() error {
		if b := newBrowser(t, s); b.finish(b.begin("first", "/")) != "/" {
			return fmt.Errorf("refused: %s", s.log)
		}
		return nil
	})
}

func TestSignInAtAnIssuerThatTheClusterTrusts(t *testing.T) {
	t.Parallel()
	_, s, b := startFor(t, "alice", "photographers", "system:masters")
	namespace := newNamespace(t)
	grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "oidc:photographers"}, canEdit)
	if ways := into[apiserver.WaysToSignIn](t, s.want(http.StatusOK, "", "GET", "/sign-in", "")); ways.Issuer != "Dex" || ways.Cluster != "staging" {
		t.Errorf("ways to sign in are %+v", ways)
	}
	callback := b.begin("alice", "/ui/darkrooms/photos?tab=yaml")
	bound := maps.Clone(b.jar)
	b.ends("/ui/darkrooms/photos?tab=yaml", callback)
	who := b.who()
	if who.Username != "oidc:alice" || who.Auth != auth.OIDC || !slices.Contains(who.Groups, "oidc:photographers") || slices.Contains(who.Groups, "system:masters") {
		t.Errorf("I am %+v", who)
	}
	if !strings.HasPrefix(who.SignOutURL, idp.URL) || strings.Contains(who.SignOutURL, "token") {
		t.Errorf("sign out at %q", who.SignOutURL)
	}
	s.becomes(http.StatusCreated, "", "POST", "/darkrooms?dryRun=All", webFolder(namespace, "photos"), "Cookie", b.cookies())
	b.want(http.StatusCreated, "POST", "/darkrooms", webFolder(namespace, "photos"))
	b.want(http.StatusOK, "GET", path(namespace, "photos"), "")
	b.want(http.StatusForbidden, "POST", "/darkrooms", webFolder("default", "photos"))

	// A copy of the callback does not sign in a second time, not even with its cookie.
	again := newBrowser(t, s)
	again.jar = bound
	again.ends("/?signIn=refused", callback)
	// Other sites do not get past the middleware with the session.
	if got := b.do("DELETE", "/session", "", "Sec-Fetch-Site", "cross-site"); got.status != http.StatusForbidden {
		t.Errorf("another site signs out: %s", got)
	}
	// A token in the header takes precedence.
	one := newUser(t, namespace, "one")
	got := into[apiserver.Who](t, s.want(http.StatusOK, one.token, "GET", "/session", "", "Cookie", b.cookies()))
	if !strings.HasSuffix(got.Username, ":one") || got.Auth != auth.Token {
		t.Errorf("I am %+v, want one", got)
	}
	// A sign-in by token replaces the session.
	b.want(http.StatusOK, "POST", "/session", fmt.Sprintf(`{"token":%q}`, one.token))
	if who := b.who(); !strings.HasSuffix(who.Username, ":one") {
		t.Errorf("I am %+v, want one", who)
	}
}

func TestCookiesOfASession(t *testing.T) {
	t.Parallel()
	_, _, b := startFor(t, "cook")
	login := b.want(http.StatusSeeOther, "GET", "/auth/login", "").header
	contains(t, "the cookie", login.Get("Set-Cookie"), "__Host-darkroom-sign-in=", "HttpOnly", "Secure", "SameSite=Lax", "Path=/", "Max-Age=600")
	query := must(url.Parse(login.Get("Location"))).Query()
	for name, want := range map[string]string{"response_type": "code", "code_challenge_method": "S256", "redirect_uri": redirectURL, "client_id": issuer.ClientID} {
		if query.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, query.Get(name), want)
		}
	}
	if len(query.Get("state")) < 20 || len(query.Get("nonce")) < 20 || len(query.Get("code_challenge")) < 40 {
		t.Errorf("the query is %v", query)
	}
	got := b.do("GET", b.begin("cook", "https://evil.example.com/ui/"), "")
	if location := got.header.Get("Location"); location != "/" {
		t.Errorf("the sign-in ends at %s", location)
	}
	set := strings.Join(got.header.Values("Set-Cookie"), "\n")
	contains(t, "the cookies", set, "__Host-darkroom-session=!1.", "HttpOnly", "Secure", "SameSite=Strict", "Path=/", "__Host-darkroom-sign-in=; Path=/; Max-Age=0")
	if strings.Contains(set, "Domain") || strings.Contains(set, "eyJ") {
		t.Errorf("the cookies are %q", set)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestCallbackThatThisBrowserDidNotBegin(t *testing.T) {
	t.Parallel()
	idp.AddUser("mallory")
	s := start(t, newSettings(t).use(t))
	attacker := newBrowser(t, s)
	callback := attacker.begin("mallory", "/")
	victim := newBrowser(t, s)
	// Without a cookie, with that of another sign-in, and with one that is forged.
	victim.ends("/?signIn=expired", callback)
	victim.begin("mallory", "/")
	victim.ends("/?signIn=expired", callback)
	victim.jar["__Host-darkroom-sign-in"] = attacker.jar["__Host-darkroom-sign-in"] + "x"
	victim.ends("/?signIn=expired", callback)
	// The cookie of another server, whose key is different.
	foreign := newBrowser(t, start(t, newSettings(t).use(t)))
	callback = foreign.begin("mallory", "/")
	foreign.on(s).ends("/?signIn=expired", callback)
	// The user refuses, or the issuer does; its text is not repeated.
	b := newBrowser(t, s)
	back := must(url.Parse(b.begin("mallory", "/"))).Query().Get("state")
	b.ends("/?signIn=refused", "/auth/callback?error=access_denied&error_description=call+555&state="+back)
	if strings.Contains(s.log.String(), "555") {
		t.Error("the log has the text of the link")
	}
	settings := newSettings(t)
	b = newBrowser(t, start(t, settings.use(t)))
	callback = b.begin("mallory", "/")
	settings.clock.SetTime(settings.clock.Now().Add(11 * time.Minute))
	b.ends("/?signIn=expired", callback)
}

func TestTokensThatAreRefused(t *testing.T) {
	t.Parallel()
	_, s, _ := startFor(t, "other")
	other := must(rsa.GenerateKey(rand.Reader, 2048))
	for name, change := range map[string]func(*issuer.Token){
		"expired":        func(c *issuer.Token) { c.Claims["exp"] = time.Now().Add(-time.Minute).Unix() },
		"wrong-audience": func(c *issuer.Token) { c.Claims["aud"] = "other" },
		"wrong-party":    func(c *issuer.Token) { c.Claims["aud"], c.Claims["azp"] = []string{"darkroom", "other"}, "other" },
		"wrong-issuer":   func(c *issuer.Token) { c.Claims["iss"] = "https://evil.example.com" },
		"wrong-nonce":    func(c *issuer.Token) { c.Claims["nonce"] = "of another sign-in" },
		"no-nonce":       func(c *issuer.Token) { delete(c.Claims, "nonce") },
		"forged":         func(c *issuer.Token) { c.Key = other },
	} {
		idp.AddUser(name)
		idp.Change(name, change)
		b := newBrowser(t, s)
		b.ends("/?signIn=refused", b.begin(name, "/"))
	}
}

// impersonating returns settings of a server that may impersonate, and its identity.
func impersonating(t *testing.T, change ...func(*oidc.Config)) (*settingsOf, *rest.Config) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "config", "overlays", "with-oidc-impersonation", "role.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(raw, role); err != nil {
		t.Fatal(err)
	}
	namespace := newNamespace(t)
	role.Name = namespace
	create(t, role)
	account := client.ObjectKey{Namespace: namespace, Name: namespace}
	if err := access.NewAccount(t.Context(), kube, account, "apiserver"); err != nil {
		t.Fatal(err)
	}
	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: namespace}},
	})
	identity, err := access.As(t.Context(), cluster, account)
	if err != nil {
		t.Fatal(err)
	}
	mapping := func(c *oidc.Config) {
		c.Impersonation = &oidc.Impersonation{UsernameClaim: "email", UsernamePrefix: "sso:", GroupsPrefix: "sso:", Groups: []string{"photographers", "viewers"}}
	}
	return newSettings(t, append([]func(*oidc.Config){mapping}, change...)...), identity
}

func TestSignInWithImpersonation(t *testing.T) {
	t.Parallel()
	settings, identity := impersonating(t)
	as := func(o *apiserver.Options) { o.Cluster = identity }
	s, namespace := start(t, settings.use(t), as), newNamespace(t)
	grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "sso:photographers"}, canEdit)
	idp.AddUser("ivy", "photographers", "unlisted", "system:masters", "sso:photographers")
	b := newBrowser(t, s)
	b.signIn("ivy")
	who := b.who()
	if who.Username != "sso:ivy@example.com" || !slices.Equal(who.Groups, []string{"sso:photographers", "system:authenticated"}) || who.Auth != auth.OIDC {
		t.Errorf("I am %+v", who)
	}
	s.becomes(http.StatusCreated, "", "POST", "/darkrooms?dryRun=All", webFolder(namespace, "photos"), "Cookie", b.cookies())
	b.want(http.StatusCreated, "POST", "/darkrooms", webFolder(namespace, "photos"))
	b.want(http.StatusOK, "GET", "/darkrooms?namespace="+namespace, "")
	// Only the impersonated rights count, not those of the server and not those of system:masters.
	b.want(http.StatusForbidden, "GET", "/darkrooms?namespace=default", "")
	b.want(http.StatusForbidden, "POST", "/darkrooms", webFolder("default", "photos"))

	// A listed group that the ClusterRole does not name cannot be impersonated.
	idp.AddUser("vera", "viewers")
	other := newBrowser(t, s)
	other.signIn("vera")
	if got := other.want(http.StatusForbidden, "POST", "/darkrooms", webFolder(namespace, "more")); !strings.Contains(got.body, "impersonate") {
		t.Errorf("answers %s", got)
	}

	idp.AddUser("reserved")
	idp.Change("reserved", func(c *issuer.Token) { c.Claims["email"] = "system:admin" })
	refused := newBrowser(t, s)
	refused.ends("/?signIn=notAllowed", refused.begin("reserved", "/"))
	// A server that sends ID tokens does not use a session without one, and vice versa.
	passing := settings.config
	passing.Impersonation = nil
	b.on(start(t, (&settingsOf{config: passing}).use(t))).want(http.StatusUnauthorized, "GET", "/session", "")
	// A list of groups that is shorter now applies to sessions that exist.
	settings.config.Impersonation.Groups = []string{"viewers"}
	if who := b.on(start(t, settings.use(t), as)).who(); !slices.Equal(who.Groups, []string{"system:authenticated"}) {
		t.Errorf("groups are %q", who.Groups)
	}
}

func TestIssuerThatTheClusterDoesNotTrust(t *testing.T) {
	t.Parallel()
	stranger, err := issuer.Start(redirectURL)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	stranger.AddUser("eve")
	s := start(t, newSettings(t, func(c *oidc.Config) { c.Issuer, c.CAFile = stranger.URL, file(t, stranger.CA) }).use(t))
	b := newBrowser(t, s)
	b.issuer = stranger
	b.ends("/?signIn=notTrusted", b.begin("eve", "/"))
}

func TestSessionIsRefreshedAtTheIssuer(t *testing.T) {
	t.Parallel()
	settings, s, b := startFor(t, "rita")
	b.signIn("rita")
	first := b.jar[oidc.SessionCookie]
	if b.who(); b.jar[oidc.SessionCookie] != first {
		t.Error("a fresh session is refreshed")
	}
	settings.clock.SetTime(settings.clock.Now().Add(oidc.CheckPeriod))
	stale := newBrowser(t, s)
	stale.jar = maps.Clone(b.jar)
	if who := b.who(); who.Username != "oidc:rita" || b.jar[oidc.SessionCookie] == first {
		t.Errorf("I am %+v", who)
	}
	// Requests that were under way with the previous cookie work too, although this issuer
	// takes each refresh token once.
	stale.who()
	// Revoked at the issuer.
	if err := idp.Revoke(t.Context(), "rita"); err != nil {
		t.Fatal(err)
	}
	b.who()
	settings.clock.SetTime(settings.clock.Now().Add(oidc.CheckPeriod))
	b.want(http.StatusUnauthorized, "GET", "/session", "")

	// No session is longer than its lifetime, and none is of another user after a refresh.
	b = newBrowser(t, s)
	b.signIn("rita")
	idp.Change("rita", func(c *issuer.Token) { c.Claims["sub"] = "id-first" })
	settings.clock.SetTime(settings.clock.Now().Add(oidc.CheckPeriod))
	b.want(http.StatusUnauthorized, "GET", "/session", "")
	idp.Change("rita", nil)
	settings.config.SessionLifetime.Duration = 5 * time.Minute
	b = newBrowser(t, start(t, settings.use(t)))
	b.signIn("rita")
	settings.clock.SetTime(settings.clock.Now().Add(5 * time.Minute))
	b.want(http.StatusUnauthorized, "GET", "/session", "")
}

func TestSignOutEndsTheSession(t *testing.T) {
	t.Parallel()
	settings, one, b := startFor(t, "olga")
	two := start(t, settings.use(t))
	b.signIn("olga")
	b.on(two).who()
	thief := newBrowser(t, two)
	thief.jar = maps.Clone(b.jar)
	b.on(one).want(http.StatusNoContent, "DELETE", "/session", "")
	if len(b.jar) != 0 {
		t.Errorf("the cookies %v are left", b.jar)
	}
	// The replica that ended it refuses a copy of the cookie at once, the other one when it
	// has to be refreshed.
	thief.on(one).want(http.StatusUnauthorized, "GET", "/session", "")
	settings.clock.SetTime(settings.clock.Now().Add(oidc.CheckPeriod))
	thief.on(two).want(http.StatusUnauthorized, "GET", "/session", "")
}

func TestStreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	settings, identity := impersonating(t)
	idp.AddUser("stella", "photographers")
	s, namespace := start(t, settings.use(t), func(o *apiserver.Options) { o.Cluster, o.Heartbeat = identity, 50*time.Millisecond }), newNamespace(t)
	grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "sso:photographers"}, canEdit)
	b := newBrowser(t, s)
	b.signIn("stella")
	s.becomes(http.StatusOK, "", "GET", "/darkrooms?namespace="+namespace, "", "Cookie", b.cookies())
	watching := s.follow("", "/events/stream?namespace="+namespace, "Cookie", b.cookies())
	watching.until(t, "synced")
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
	settings, identity := impersonating(t)
	own, err := issuer.Start(redirectURL)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	own.AddUser("dora")
	own.SetDown(true)
	settings.config.Issuer, settings.config.CAFile = own.URL, file(t, own.CA)
	s := start(t, settings.use(t), func(o *apiserver.Options) { o.Cluster = identity })
	b := newBrowser(t, s)
	if location := b.want(http.StatusSeeOther, "GET", "/auth/login", "").header.Get("Location"); location != "/?signIn=unavailable" {
		t.Errorf("the sign-in ends at %s", location)
	}
	own.SetDown(false)
	b.issuer = own
	b.signIn("dora")
	own.SetDown(true)
	b.who()
	settings.clock.SetTime(settings.clock.Now().Add(oidc.CheckPeriod))
	if got := b.want(http.StatusServiceUnavailable, "GET", "/session", ""); got.header.Get("Retry-After") == "" {
		t.Errorf("answers %s, %v", got, got.header)
	}
	own.SetDown(false)
	b.who()
	// Signing out works without the issuer.
	own.SetDown(true)
	b.want(http.StatusNoContent, "DELETE", "/session", "")
}

func TestCallbacksThatFailAreLimited(t *testing.T) {
	t.Parallel()
	s := start(t, newSettings(t).use(t), func(o *apiserver.Options) { o.SignInBurst = 3 })
	s.becomes(http.StatusTooManyRequests, "", "GET", "/auth/callback?state=x&code=y", "")
}

func TestTokensOfASessionStayInTheCookie(t *testing.T) {
	t.Parallel()
	settings, s, b := startFor(t, "tess")
	callback := b.begin("tess", "/ui/hosts")
	b.ends("/ui/hosts", callback)
	code := must(url.Parse(callback)).Query().Get("code")
	session := opened(t, settings, b)
	answers := []string{b.do("GET", "/session", "").body, b.do("GET", "/settings", "").body, b.do("GET", "/sign-in", "").body}
	settings.clock.SetTime(settings.clock.Now().Add(oidc.CheckPeriod))
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
			t.Errorf("an answer has the %s", name)
		}
		// The code is in the URL of the callback; it is used up, and bound to the verifier.
		if name != "code" && strings.Contains(strings.Join(b.seen, "\n"), secret) {
			t.Errorf("a URL has the %s", name)
		}
	}
}

// opened decrypts the session of a browser, as another replica does.
func opened(t *testing.T, settings *settingsOf, b *browser) *oidc.Session {
	t.Helper()
	provider, err := oidc.New(settings.config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Cookie", b.cookies())
	session, err := provider.Session(nil, request)
	if err != nil || session == nil {
		t.Fatalf("session %v, %v", session, err)
	}
	return session
}
