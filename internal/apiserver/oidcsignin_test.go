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

func TestTheWaysToSignInNameTheIssuerAndTheCluster(t *testing.T) {
	t.Parallel()
	s := start(t, newSettings(t).use(t))
	got := into[apiserver.WaysToSignIn](t, s.want(http.StatusOK, "", "GET", "/sign-in", ""))
	if got.Issuer != "Dex" || got.Cluster != "staging" {
		t.Errorf("got ways to sign in %+v, want at Dex, to the cluster staging", got)
	}
}

func TestASignInEndsAtThePageWhereItBegan(t *testing.T) {
	t.Parallel()
	_, _, b := startFor(t, "ada")
	b.ends("/ui/darkrooms/photos?tab=yaml", b.begin("ada", "/ui/darkrooms/photos?tab=yaml"))
}

func TestAUserOfTheIssuerHasNameAndGroupsWithThePrefixOfTheCluster(t *testing.T) {
	t.Parallel()
	_, _, b := startFor(t, "alice", "photographers", "system:masters")
	b.signsIn("alice", "/")
	who := b.who()
	if who.Username != "oidc:alice" || who.Auth != auth.OIDC {
		t.Errorf("got user %q by %s, want oidc:alice by %s", who.Username, who.Auth, auth.OIDC)
	}
	if !slices.Contains(who.Groups, "oidc:photographers") || slices.Contains(who.Groups, "system:masters") {
		t.Errorf("got groups %q, want oidc:photographers, and not system:masters", who.Groups)
	}
	if !strings.HasPrefix(who.SignOutURL, idp.URL) || strings.Contains(who.SignOutURL, "token") {
		t.Errorf("got sign-out URL %q, want one of the issuer without a token", who.SignOutURL)
	}
}

func TestAUserOfTheIssuerHasTheRightsOfTheirGroup(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	_, s, b := startFor(t, "greta", namespace)
	grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "oidc:" + namespace}, canEdit)
	b.signsIn("greta", "/")
	s.becomes(http.StatusCreated, "", "POST", "/darkrooms?dryRun=All",
		webFolder(namespace, "photos"), "Cookie", b.cookies())
	b.want(http.StatusCreated, "POST", "/darkrooms", webFolder(namespace, "photos"))
	b.want(http.StatusOK, "GET", path(namespace, "photos"), "")
	b.want(http.StatusForbidden, "POST", "/darkrooms", webFolder("default", "photos"))
}

func TestACallbackSignsInOnlyOnce(t *testing.T) {
	t.Parallel()
	_, s, b := startFor(t, "otto")
	callback := b.begin("otto", "/")
	bound := maps.Clone(b.jar) // the cookie that the callback needs
	b.ends("/", callback)
	again := newBrowser(t, s)
	again.jar = bound
	again.ends("/?signIn=refused", callback)
}

func TestAnotherSiteDoesNotEndASession(t *testing.T) {
	t.Parallel()
	_, _, b := startFor(t, "carl")
	b.signsIn("carl", "/")
	got := b.do("DELETE", "/session", "", "Sec-Fetch-Site", "cross-site")
	if got.status != http.StatusForbidden {
		t.Errorf("got %s for a sign-out by another site, want %d", got, http.StatusForbidden)
	}
}

func TestATokenInTheHeaderGoesBeforeTheSession(t *testing.T) {
	t.Parallel()
	_, s, b := startFor(t, "hedy")
	b.signsIn("hedy", "/")
	one := newUser(t, newNamespace(t), "one")
	got := into[apiserver.Who](t, s.want(http.StatusOK, one.token, "GET", "/session", "", "Cookie", b.cookies()))
	if !strings.HasSuffix(got.Username, ":one") || got.Auth != auth.Token {
		t.Errorf("got user %q by %s, want one by %s", got.Username, got.Auth, auth.Token)
	}
}

func TestASignInByTokenReplacesTheSession(t *testing.T) {
	t.Parallel()
	_, _, b := startFor(t, "rosa")
	b.signsIn("rosa", "/")
	one := newUser(t, newNamespace(t), "one")
	b.want(http.StatusOK, "POST", "/session", fmt.Sprintf(`{"token":%q}`, one.token))
	if who := b.who(); !strings.HasSuffix(who.Username, ":one") {
		t.Errorf("got user %q, want one", who.Username)
	}
}

func TestASignInBeginsWithACookieAndAStateAtTheIssuer(t *testing.T) {
	t.Parallel()
	login := newBrowser(t, start(t, newSettings(t).use(t))).want(http.StatusSeeOther, "GET", "/auth/login", "").header
	contains(t, "the cookie", login.Get("Set-Cookie"), "__Host-darkroom-sign-in=", "HttpOnly", "Secure",
		"SameSite=Lax", "Path=/", "Max-Age=600")
	for name, want := range map[string]string{
		"response_type": "^code$", "code_challenge_method": "^S256$", "redirect_uri": "^" + redirectURL + "$",
		"client_id": "^" + issuer.ClientID + "$",
		"state":     ".{20}", "nonce": ".{20}", "code_challenge": ".{40}",
	} {
		if got := queryOf(login.Get("Location"), name); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: got %q, want %s", name, got, want)
		}
	}
}

func TestASessionIsACookieThatOnlyThisServerReads(t *testing.T) {
	t.Parallel()
	_, _, b := startFor(t, "cook")
	set := strings.Join(b.do("GET", b.begin("cook", "/"), "").header.Values("Set-Cookie"), "\n")
	contains(t, "the cookies", set, "__Host-darkroom-session=!1.", "HttpOnly", "Secure", "SameSite=Strict", "Path=/",
		"__Host-darkroom-sign-in=; Path=/; Max-Age=0")
	if strings.Contains(set, "Domain") || strings.Contains(set, "eyJhbGciOi") { // a token
		t.Errorf("got cookies %q, want neither a domain nor a token", set)
	}
}

func TestASignInDoesNotEndAtAnotherSite(t *testing.T) {
	t.Parallel()
	_, _, b := startFor(t, "eve-link")
	b.ends("/", b.begin("eve-link", "https://evil.example.com/ui/"))
}

func TestACallbackNeedsTheCookieOfItsSignIn(t *testing.T) {
	t.Parallel()
	idp.AddUser("mallory")
	s := start(t, newSettings(t).use(t))
	attacker := newBrowser(t, s)
	callback := attacker.begin("mallory", "/")
	for name, prepare := range map[string]func(*browser){
		"none":               func(*browser) {},
		"of another sign-in": func(victim *browser) { victim.begin("mallory", "/") },
		"forged": func(victim *browser) {
			const cookie = "__Host-darkroom-sign-in"
			victim.jar[cookie] = attacker.jar[cookie] + "x"
		},
	} {
		t.Run(name, func(t *testing.T) {
			victim := newBrowser(t, s.on(t))
			prepare(victim)
			victim.ends("/?signIn=expired", callback)
		})
	}
}

func TestACookieOfAServerWithOtherKeysBeginsNoSession(t *testing.T) {
	t.Parallel()
	idp.AddUser("foreign")
	b := newBrowser(t, start(t, newSettings(t).use(t)))
	callback := b.begin("foreign", "/")
	b.on(start(t, newSettings(t).use(t))).ends("/?signIn=expired", callback)
}

func TestTheTextOfARefusalIsNotLogged(t *testing.T) {
	t.Parallel()
	idp.AddUser("refused")
	s := start(t, newSettings(t).use(t))
	b := newBrowser(t, s)
	b.ends("/?signIn=refused", "/auth/callback?error=access_denied&error_description=telephone+us&state="+
		queryOf(b.begin("refused", "/"), "state"))
	if log := s.log.String(); strings.Contains(log, "telephone") {
		t.Errorf("got the text of the link in the log, want it left out:\n%s", log)
	}
}

func TestASignInExpiresAfterTenMinutes(t *testing.T) {
	t.Parallel()
	idp.AddUser("slow")
	settings := newSettings(t)
	b := newBrowser(t, start(t, settings.use(t)))
	callback := b.begin("slow", "/")
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

func TestAnImpersonatedUserHasTheListedGroupsOnly(t *testing.T) {
	t.Parallel()
	settings, as := impersonating(t)
	idp.AddUser("ivy", "photographers", "unlisted", "system:masters", "sso:photographers")
	b := newBrowser(t, start(t, settings.use(t), as))
	b.signsIn("ivy", "/")
	who := b.who()
	if who.Username != "sso:ivy@example.com" || who.Auth != auth.OIDC {
		t.Errorf("got user %q by %s, want sso:ivy@example.com by %s", who.Username, who.Auth, auth.OIDC)
	}
	if want := []string{"sso:photographers", "system:authenticated"}; !slices.Equal(who.Groups, want) {
		t.Errorf("got groups %q, want %q", who.Groups, want)
	}
	// A shorter list of groups also applies to existing sessions.
	settings.config.Impersonation.Groups = []string{"viewers"}
	who = b.on(start(t, settings.use(t), as)).who()
	if want := []string{"system:authenticated"}; !slices.Equal(who.Groups, want) {
		t.Errorf("with a shorter list: got groups %q, want %q", who.Groups, want)
	}
}

// Only the permissions of the impersonated user count, not the permissions of the server or of system:masters.
func TestAnImpersonatedUserHasTheRightsOfTheirGroup(t *testing.T) {
	t.Parallel()
	settings, as := impersonating(t)
	s, namespace := start(t, settings.use(t), as), newNamespace(t)
	grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "sso:photographers"}, canEdit)
	idp.AddUser("iris", "photographers", "system:masters")
	b := newBrowser(t, s)
	b.signsIn("iris", "/")
	s.becomes(http.StatusCreated, "", "POST", "/darkrooms?dryRun=All",
		webFolder(namespace, "photos"), "Cookie", b.cookies())
	b.want(http.StatusCreated, "POST", "/darkrooms", webFolder(namespace, "photos"))
	b.want(http.StatusOK, "GET", "/darkrooms?namespace="+namespace, "")
	b.want(http.StatusForbidden, "GET", "/darkrooms?namespace=default", "")
	b.want(http.StatusForbidden, "POST", "/darkrooms", webFolder("default", "photos"))
}

func TestAGroupThatTheServerMayNotImpersonateIsNamed(t *testing.T) {
	t.Parallel()
	settings, as := impersonating(t)
	s, namespace := start(t, settings.use(t), as), newNamespace(t)
	grant(t, namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "sso:viewers"}, canEdit)
	idp.AddUser("vera", "viewers") // listed, but the ClusterRole does not name it
	b := newBrowser(t, s)
	b.signsIn("vera", "/")
	eventually(t, "the cluster has the permission", func() error {
		got := b.want(http.StatusForbidden, "POST", "/darkrooms", webFolder(namespace, "more"))
		if !strings.Contains(got.body, "impersonate") {
			return fmt.Errorf("got %s, want that the server may not impersonate", got)
		}
		return nil
	})
}

func TestAReservedNameIsNotImpersonated(t *testing.T) {
	t.Parallel()
	settings, as := impersonating(t)
	idp.AddUser("reserved")
	idp.Change("reserved", func(c *issuer.Token) { c.Claims["email"] = "system:admin" })
	newBrowser(t, start(t, settings.use(t), as)).signsIn("reserved", "/?signIn=notAllowed")
}

func TestASessionForImpersonationIsNoneForAServerThatSendsIDTokens(t *testing.T) {
	t.Parallel()
	settings, as := impersonating(t)
	idp.AddUser("ines", "photographers")
	b := newBrowser(t, start(t, settings.use(t), as))
	b.signsIn("ines", "/")
	passing := settings.config
	passing.Impersonation = nil
	b.on(start(t, (&settingsOf{config: passing}).use(t))).want(http.StatusUnauthorized, "GET", "/session", "")
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
