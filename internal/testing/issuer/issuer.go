// Package issuer runs an OpenID Connect issuer for tests: zitadel/oidc with in-memory users, on a TLS server on a
// loopback address.
package issuer

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The client registered at the issuer.
const (
	ClientID     = "darkroom"
	ClientSecret = "secret-of-the-client"
)

const password = "password"

// form asks a browser for the user name, without a password.
var form = template.Must(template.New("").Parse(`<!doctype html>
<title>Issuer</title>
<form action="/login" method="post">
<input type="hidden" name="authRequestID" value="{{.}}">
<label>User <input name="name"></label>
<button>Sign in</button>
</form>
`))

// Issuer is a running issuer.
type Issuer struct {
	// URL is the issuer in tokens and discovery. CA is its certificate (PEM).
	URL string
	CA  []byte

	redirectURL string
	server      *httptest.Server
	provider    *op.Provider
	store       *store
	down        atomic.Bool

	mu sync.Mutex
	// changes modify the ID tokens of users.
	changes map[string]func(*Token)
	// failures replace the issuer's responses by path.
	failures map[string]http.HandlerFunc
}

// Token is an ID token before it is signed.
type Token struct {
	Claims map[string]any
	// Key signs the token; nil means the key of the issuer.
	Key any
}

// Start starts an issuer that runs until Close. It redirects browsers back to the redirect URL.
func Start(redirectURL string) (*Issuer, error) {
	i := &Issuer{redirectURL: redirectURL, changes: map[string]func(*Token){}, failures: map[string]http.HandlerFunc{}}
	i.server = httptest.NewUnstartedServer(i)
	i.server.StartTLS()
	i.URL = i.server.URL
	i.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.server.Certificate().Raw})
	users := &users{byName: map[string]*storage.User{}, groups: map[string][]string{}}
	i.store = &store{
		Storage: storage.NewStorageWithClients(users,
			map[string]*storage.Client{ClientID: storage.WebClient(ClientID, ClientSecret, redirectURL)}),
		users: users,
	}
	var err error
	i.provider, err = op.NewProvider(&op.Config{
		CodeMethodS256: true, GrantTypeRefreshToken: true,
		SupportedScopes: []string{"openid", "profile", "email", "offline_access"},
	},
		i.store, op.StaticIssuer(i.URL))
	if err != nil {
		i.Close()
		return nil, fmt.Errorf("start issuer: %w", err)
	}
	return i, nil
}

// Close stops the issuer.
func (i *Issuer) Close() { i.server.Close() }

// SetDown makes the issuer drop all connections, or serve requests again.
func (i *Issuer) SetDown(down bool) { i.down.Store(down) }

// Paths of the issuer that servers request.
const (
	DiscoveryPath = "/.well-known/openid-configuration"
	TokenPath     = "/oauth/token" //nolint:gosec // a path
	KeysPath      = "/keys"
)

// Fail makes a handler respond to requests of a path; nil restores the issuer's response.
func (i *Issuer) Fail(path string, by http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.failures[path] = by
}

func (i *Issuer) failureOf(path string) http.HandlerFunc {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.failures[path]
}

// AddUser adds a user with groups. The email address is NAME@example.com.
func (i *Issuer) AddUser(name string, groups ...string) {
	i.store.users.add(&storage.User{
		ID: "id-" + name, Username: name, Password: password, Email: name + "@example.com",
		EmailVerified: true,
	}, groups)
}

// Change modifies all later ID tokens of a user; nil stops this.
func (i *Issuer) Change(name string, change func(*Token)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.changes["id-"+name] = change
}

// Revoke revokes all refresh tokens of a user.
func (i *Issuer) Revoke(ctx context.Context, name string) error {
	return i.store.TerminateSession(ctx, "id-"+name, ClientID)
}

// sign returns a signed token.
func (i *Issuer) sign(ctx context.Context, token *Token) (string, error) {
	signing, err := i.store.SigningKey(ctx)
	if err != nil {
		return "", err
	}
	key := token.Key
	if key == nil {
		key = signing.Key()
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: signing.SignatureAlgorithm(), Key: key},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", signing.ID()))
	if err != nil {
		return "", fmt.Errorf("create signer: %w", err)
	}
	payload, err := json.Marshal(token.Claims)
	if err != nil {
		return "", fmt.Errorf("encode claims: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed.CompactSerialize()
}

// Authorize signs a user in, like a browser that is redirected to the authorization URL. It returns the URL to which
// the browser is redirected back.
func (i *Issuer) Authorize(ctx context.Context, authorization, name string) (*url.URL, error) {
	client := *i.server.Client() // a copy: tests run concurrently
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		switch {
		case len(via) > 10:
			return errors.New("too many redirects")
		case strings.HasPrefix(next.URL.String(), i.redirectURL):
			return http.ErrUseLastResponse
		case next.URL.Path == "/login/username":
			next.URL.Path, next.URL.RawQuery = "/login", next.URL.RawQuery+"&name="+url.QueryEscape(name)
		}
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, authorization, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if err := response.Body.Close(); err != nil {
		return nil, err
	}
	location, err := response.Location()
	if err != nil {
		return nil, fmt.Errorf("GET %s responds with %s: %w", response.Request.URL.Path, response.Status, err)
	}
	return location, nil
}

// ServeHTTP implements http.Handler.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	switch {
	case i.down.Load():
		panic(http.ErrAbortHandler)
	case i.failureOf(request.URL.Path) != nil:
		i.failureOf(request.URL.Path)(w, request)
	case request.URL.Path == "/login/username":
		_ = form.Execute(w, request.FormValue("authRequestID"))
	case request.URL.Path == "/login":
		i.login(w, request)
	case request.URL.Path == i.provider.TokenEndpoint().Relative():
		i.token(w, request)
	default:
		i.provider.ServeHTTP(w, request)
	}
}

func (i *Issuer) login(w http.ResponseWriter, request *http.Request) {
	id := request.FormValue("authRequestID")
	if err := i.store.CheckUsernamePassword(request.FormValue("name"), password, id); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	http.Redirect(w, request, op.AuthCallbackURL(i.provider)(op.ContextWithIssuer(request.Context(), i.URL), id),
		http.StatusFound)
}

// token responds like the issuer, but with the changes to the ID token.
func (i *Issuer) token(w http.ResponseWriter, request *http.Request) {
	recorder := httptest.NewRecorder()
	i.provider.ServeHTTP(recorder, request)
	body := recorder.Body.Bytes()
	if recorder.Code == http.StatusOK {
		if changed, err := i.changed(request.Context(), body); err == nil {
			body = changed
		}
	}
	maps.Copy(w.Header(), recorder.Header())
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(body)
}

func (i *Issuer) changed(ctx context.Context, body []byte) ([]byte, error) {
	answer := map[string]any{}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	raw, _ := answer["id_token"].(string)
	parsed, err := jose.ParseSigned(raw, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return nil, err
	}
	token := &Token{Claims: map[string]any{}}
	decoder := json.NewDecoder(bytes.NewReader(parsed.UnsafePayloadWithoutVerification()))
	decoder.UseNumber()
	if err := decoder.Decode(&token.Claims); err != nil {
		return nil, err
	}
	i.mu.Lock()
	change := i.changes[fmt.Sprint(token.Claims["sub"])]
	i.mu.Unlock()
	if change == nil {
		return body, nil
	}
	change(token)
	if answer["id_token"], err = i.sign(ctx, token); err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// store adds groups and all claims to the ID token.
type store struct {
	*storage.Storage
	users *users
}

func (s *store) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	found, err := s.Storage.GetClientByClientID(ctx, id)
	if err != nil {
		return nil, err
	}
	return client{found}, nil
}

func (s *store) SetUserinfoFromRequest(
	ctx context.Context, info *oidc.UserInfo, token op.IDTokenRequest, scopes []string,
) error {
	if err := s.Storage.SetUserinfoFromRequest(ctx, info, token, scopes); err != nil {
		return err
	}
	info.AppendClaims("groups", s.users.groupsOf(token.GetSubject()))
	return nil
}

type client struct{ op.Client }

func (client) IDTokenUserinfoClaimsAssertion() bool { return true }

// users implements storage.UserStore.
type users struct {
	mu     sync.Mutex
	byName map[string]*storage.User
	groups map[string][]string
}

func (u *users) add(user *storage.User, groups []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.byName[user.Username], u.groups[user.ID] = user, groups
}

func (u *users) groupsOf(id string) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.groups[id])
}

func (u *users) GetUserByID(id string) *storage.User {
	return u.GetUserByUsername(strings.TrimPrefix(id, "id-"))
}

func (u *users) GetUserByUsername(name string) *storage.User {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.byName[name]
}

func (u *users) ExampleClientID() string { return ClientID }
