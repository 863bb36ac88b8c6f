package apiserver_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/issuer"
)

func TestSignInAtAnIssuerThatTheClusterTrusts(t *testing.T) {
	t.Parallel()
	_, s, b := startFor(t, "alice", "photographers", "system:masters")
	namespace := newNamespace(t)
	grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "oidc:photographers"}, canEdit)
	ways := into[apiserver.WaysToSignIn](t, s.want(http.StatusOK, "", "GET", "/sign-in", ""))
	if ways.Issuer != "Dex" || ways.Cluster != "staging" {
		t.Errorf("ways to sign in are %+v", ways)
	}
	callback := b.begin("alice", "/ui/darkrooms/photos?tab=yaml")
	bound := maps.Clone(b.jar)
	b.ends("/ui/darkrooms/photos?tab=yaml", callback)
	who := b.who()
	if who.Username != "oidc:alice" || who.Auth != auth.OIDC || !slices.Contains(who.Groups, "oidc:photographers") ||
		slices.Contains(who.Groups, "system:masters") {
		t.Errorf("I am %+v", who)
	}
	if !strings.HasPrefix(who.SignOutURL, idp.URL) || strings.Contains(who.SignOutURL, "token") {
		t.Errorf("sign out at %q", who.SignOutURL)
	}
	s.becomes(http.StatusCreated, "", "POST", "/darkrooms?dryRun=All",
		webFolder(namespace, "photos"), "Cookie", b.cookies())
	b.want(http.StatusCreated, "POST", "/darkrooms", webFolder(namespace, "photos"))
	b.want(http.StatusOK, "GET", path(namespace, "photos"), "")
	b.want(http.StatusForbidden, "POST", "/darkrooms", webFolder("default", "photos"))

	// A copy of the callback does not sign in a second time, even with its cookie.
	again := newBrowser(t, s)
	again.jar = bound
	again.ends("/?signIn=refused", callback)
	// The middleware rejects requests of other sites that use the session.
	if got := b.do("DELETE", "/session", "", "Sec-Fetch-Site", "cross-site"); got.status != http.StatusForbidden {
		t.Errorf("another site signs out: %s", got)
	}
	one := newUser(t, namespace, "one")
	got := into[apiserver.Who](t, s.want(http.StatusOK, one.token, "GET", "/session", "", "Cookie", b.cookies()))
	if !strings.HasSuffix(got.Username, ":one") || got.Auth != auth.Token {
		t.Errorf("with a token in the header I am %+v, want one", got)
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
	contains(t, "the cookie", login.Get("Set-Cookie"), "__Host-darkroom-sign-in=", "HttpOnly", "Secure",
		"SameSite=Lax", "Path=/", "Max-Age=600")
	for name, want := range map[string]string{
		"response_type": "^code$", "code_challenge_method": "^S256$", "redirect_uri": "^" + redirectURL + "$",
		"client_id": "^" + issuer.ClientID + "$",
		"state":     ".{20}", "nonce": ".{20}", "code_challenge": ".{40}",
	} {
		if got := queryOf(login.Get("Location"), name); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	got := b.do("GET", b.begin("cook", "https://evil.example.com/ui/"), "")
	if location := got.header.Get("Location"); location != "/" {
		t.Errorf("the sign-in ends at %s", location)
	}
	set := strings.Join(got.header.Values("Set-Cookie"), "\n")
	contains(t, "the cookies", set, "__Host-darkroom-session=!1.", "HttpOnly", "Secure", "SameSite=Strict", "Path=/",
		"__Host-darkroom-sign-in=; Path=/; Max-Age=0")
	if strings.Contains(set, "Domain") || strings.Contains(set, "eyJhbGciOi") { // a token
		t.Errorf("the cookies are %q", set)
	}
}

func TestCallbackThatThisBrowserDidNotBegin(t *testing.T) {
	t.Parallel()
	idp.AddUser("mallory")
	s := start(t, newSettings(t).use(t))
	attacker := newBrowser(t, s)
	callback := attacker.begin("mallory", "/")
	victim := newBrowser(t, s)
	// The callback is sent without a cookie, with the cookie of another sign-in, and with a forged one.
	victim.ends("/?signIn=expired", callback)
	victim.begin("mallory", "/")
	victim.ends("/?signIn=expired", callback)
	victim.jar["__Host-darkroom-sign-in"] = attacker.jar["__Host-darkroom-sign-in"] + "x"
	victim.ends("/?signIn=expired", callback)
	// The cookie comes from another server with a different key.
	foreign := newBrowser(t, start(t, newSettings(t).use(t)))
	callback = foreign.begin("mallory", "/")
	foreign.on(s).ends("/?signIn=expired", callback)
	// The user or the issuer refuses; the issuer's text is not repeated.
	b := newBrowser(t, s)
	b.ends("/?signIn=refused", "/auth/callback?error=access_denied&error_description=telephone+us&state="+
		queryOf(b.begin("mallory", "/"), "state"))
	if strings.Contains(s.log.String(), "telephone") {
		t.Error("the log has the text of the link")
	}
	settings := newSettings(t)
	b = newBrowser(t, start(t, settings.use(t)))
	callback = b.begin("mallory", "/")
	settings.pass(11 * time.Minute)
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
		newBrowser(t, s).signsIn(name, "/?signIn=refused")
	}
}

// impersonating returns settings of a server that may impersonate, and the function that gives it the identity.
func impersonating(t *testing.T) (*settingsOf, func(*apiserver.Options)) {
	t.Helper()
	role, err := access.ReadClusterRole(filepath.Join(repository, "config", "components",
		"oidc-impersonation", "role.yaml"))
	expect.NoError(t, err)
	namespace := newNamespace(t)
	account := client.ObjectKey{Namespace: namespace, Name: namespace}
	expect.NoError(t, access.NewAccount(t.Context(), kube, account, "apiserver"))
	grant(t, "", rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: namespace}, role.Rules)
	identity, err := access.As(t.Context(), cluster, account)
	expect.NoError(t, err)
	settings := newSettings(t)
	settings.config.Impersonation = &oidc.Impersonation{
		UsernameClaim: "email", UsernamePrefix: "sso:", GroupsPrefix: "sso:", Groups: []string{"photographers", "viewers"},
	}
	return settings, func(o *apiserver.Options) { o.Cluster = identity }
}

func TestSignInWithImpersonation(t *testing.T) {
	t.Parallel()
	settings, as := impersonating(t)
	s, namespace := start(t, settings.use(t), as), newNamespace(t)
	grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "sso:photographers"}, canEdit)
	idp.AddUser("ivy", "photographers", "unlisted", "system:masters", "sso:photographers")
	b := newBrowser(t, s)
	b.signsIn("ivy", "/")
	who := b.who()
	if who.Username != "sso:ivy@example.com" ||
		!slices.Equal(who.Groups, []string{"sso:photographers", "system:authenticated"}) || who.Auth != auth.OIDC {
		t.Errorf("I am %+v", who)
	}
	s.becomes(http.StatusCreated, "", "POST", "/darkrooms?dryRun=All",
		webFolder(namespace, "photos"), "Cookie", b.cookies())
	b.want(http.StatusCreated, "POST", "/darkrooms", webFolder(namespace, "photos"))
	b.want(http.StatusOK, "GET", "/darkrooms?namespace="+namespace, "")
	// Only the permissions of the impersonated user count, not the permissions of the server or of system:masters.
	b.want(http.StatusForbidden, "GET", "/darkrooms?namespace=default", "")
	b.want(http.StatusForbidden, "POST", "/darkrooms", webFolder("default", "photos"))

	// A group that is configured but not named by the ClusterRole cannot be impersonated.
	idp.AddUser("vera", "viewers")
	grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "sso:viewers"}, canEdit)
	other := newBrowser(t, s)
	other.signsIn("vera", "/")
	eventually(t, "the cluster has the permission", func() error {
		got := other.want(http.StatusForbidden, "POST", "/darkrooms", webFolder(namespace, "more"))
		if !strings.Contains(got.body, "impersonate") {
			return fmt.Errorf("answers %s", got)
		}
		return nil
	})

	idp.AddUser("reserved")
	idp.Change("reserved", func(c *issuer.Token) { c.Claims["email"] = "system:admin" })
	newBrowser(t, s).signsIn("reserved", "/?signIn=notAllowed")
	// A server that sends ID tokens does not accept a session without one, and vice versa.
	passing := settings.config
	passing.Impersonation = nil
	b.on(start(t, (&settingsOf{config: passing}).use(t))).want(http.StatusUnauthorized, "GET", "/session", "")
	// A shorter list of groups also applies to existing sessions.
	settings.config.Impersonation.Groups = []string{"viewers"}
	if who := b.on(start(t, settings.use(t), as)).who(); !slices.Equal(who.Groups, []string{"system:authenticated"}) {
		t.Errorf("groups are %q", who.Groups)
	}
}

func TestIssuerThatTheClusterDoesNotTrust(t *testing.T) {
	t.Parallel()
	stranger, err := issuer.Start(redirectURL)
	expect.NoError(t, err)
	defer stranger.Close()
	stranger.AddUser("eve")
	settings := newSettings(t)
	settings.config.Issuer, settings.config.CAFile = stranger.URL, file(t, stranger.CA)
	b := newBrowser(t, start(t, settings.use(t)))
	b.issuer = stranger
	b.signsIn("eve", "/?signIn=notTrusted")
}
