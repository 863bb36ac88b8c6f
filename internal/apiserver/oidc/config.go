package oidc

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"
)

// CallbackPath is the path of the redirect URL.
const CallbackPath = "/auth/callback"

const (
	defaultLifetime = 8 * time.Hour
	maxLifetime     = 24 * time.Hour
	// keySize is the size of a cookie key in bytes: AES-256.
	keySize = 32
)

// Config is the content of the file --oidc-config.
type Config struct {
	// Name is the issuer's name shown on the page. Empty means its host.
	Name string `json:"name,omitempty"`
	// Issuer is the URL of the issuer, exactly as in its discovery document and its tokens.
	Issuer string `json:"issuer"`
	// CAFile contains certificates (PEM) to verify the issuer's certificate. Empty means the certificate authorities of
	// the system.
	CAFile string `json:"caFile,omitempty"`
	// ClientID is the client ID of the server at the issuer.
	ClientID string `json:"clientID"`
	// ClientSecretFile contains the client's secret. Empty means a public client.
	ClientSecretFile string `json:"clientSecretFile,omitempty"`
	// RedirectURL is the external URL of the server with the path /auth/callback.
	RedirectURL string `json:"redirectURL"`
	// Scopes are requested at sign-in. Empty means openid, profile, email and offline_access.
	Scopes []string `json:"scopes,omitempty"`
	// CookieKeysFile contains the keys for cookies, one per line: 32 bytes in base64. The first key encrypts; all keys
	// decrypt.
	CookieKeysFile string `json:"cookieKeysFile"`
	// SessionLifetime is the time after which users must sign in again. Default 8h, at most
	// 24h.
	SessionLifetime metav1.Duration `json:"sessionLifetime,omitzero"`
	// Impersonation maps users of the issuer to users of a cluster that does not trust the issuer. By default the ID
	// token is sent to the cluster.
	Impersonation *Impersonation `json:"impersonation,omitempty"`

	// Clock is for tests. Nil means the real time.
	Clock clock.PassiveClock `json:"-"`
}

// Impersonation maps the claims of an ID token to a user and groups of the cluster.
type Impersonation struct {
	// UsernameClaim is the claim with the name of the user. Empty means sub.
	UsernameClaim string `json:"usernameClaim,omitempty"`
	// UsernamePrefix is added to the name, so that users of the issuer cannot take the names of other users. Required.
	UsernamePrefix string `json:"usernamePrefix"`
	// GroupsClaim is the claim with the groups of the user. Empty means groups.
	GroupsClaim string `json:"groupsClaim,omitempty"`
	// GroupsPrefix is added to the name of each group.
	GroupsPrefix string `json:"groupsPrefix,omitempty"`
	// Groups are the groups in the claim that are impersonated. Others are ignored.
	Groups []string `json:"groups,omitempty"`
}

// Load reads a configuration. Unknown fields are errors.
func Load(path string) (*Config, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the administrator configures the file name
	if err != nil {
		return nil, fmt.Errorf("read OIDC configuration: %w", err)
	}
	config := &Config{}
	if err := yaml.UnmarshalStrict(raw, config); err != nil {
		return nil, fmt.Errorf("read OIDC configuration %s: %w", path, err)
	}
	return config, nil
}

// withDefaults returns a copy with defaults in place of empty fields.
func (c Config) withDefaults() Config {
	if len(c.Scopes) == 0 {
		c.Scopes = []string{"openid", "profile", "email", "offline_access"}
	}
	if issuer, err := url.Parse(c.Issuer); err == nil {
		c.Name = cmp.Or(c.Name, issuer.Host)
	}
	c.SessionLifetime.Duration = cmp.Or(c.SessionLifetime.Duration, defaultLifetime)
	if c.Impersonation != nil {
		mapping := *c.Impersonation
		mapping.UsernameClaim = cmp.Or(mapping.UsernameClaim, "sub")
		mapping.GroupsClaim = cmp.Or(mapping.GroupsClaim, "groups")
		c.Impersonation = &mapping
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	return c
}

// validate returns all errors of a configuration with defaults. Each error names the field and the remedy.
func (c Config) validate() error {
	errs := []error{checkURL("issuer", c.Issuer), checkURL("redirectURL", c.RedirectURL)}
	if target, err := url.Parse(c.RedirectURL); err == nil && target.Path != CallbackPath {
		errs = append(errs, fmt.Errorf("redirectURL %q: the path must be %s", c.RedirectURL, CallbackPath))
	}
	if c.ClientID == "" {
		errs = append(errs, errors.New("clientID: required; set the ID of the client that is registered at the issuer"))
	}
	if c.CookieKeysFile == "" {
		errs = append(errs, errors.New("cookieKeysFile: required; make a key with `openssl rand -base64 32`"))
	}
	if !slices.Contains(c.Scopes, "openid") {
		errs = append(errs, fmt.Errorf("scopes %q: must contain openid", c.Scopes))
	}
	if lifetime := c.SessionLifetime.Duration; lifetime < time.Minute || lifetime > maxLifetime {
		errs = append(errs, fmt.Errorf("sessionLifetime %s: must be between 1m and %s", lifetime, maxLifetime))
	}
	if c.Impersonation != nil {
		errs = append(errs, c.Impersonation.validate())
	}
	return errors.Join(errs...)
}

func (m *Impersonation) validate() error {
	var errs []error
	if m.UsernamePrefix == "" {
		errs = append(errs,
			errors.New(
				`impersonation.usernamePrefix: required; set a prefix that no other user of the cluster has, for example "oidc:"`,
			))
	}
	for name, prefix := range map[string]string{"usernamePrefix": m.UsernamePrefix, "groupsPrefix": m.GroupsPrefix} {
		if altered(prefix) {
			errs = append(errs, fmt.Errorf("impersonation.%s %q: must have no white space at its ends and no control characters",
				name, prefix))
		}
	}
	if reserved(m.UsernamePrefix) {
		errs = append(errs, fmt.Errorf("impersonation.usernamePrefix %q: must not begin with %s",
			m.UsernamePrefix, reservedPrefix))
	}
	for _, group := range m.Groups {
		if altered(group) {
			errs = append(errs,
				fmt.Errorf("impersonation.groups %q: must have no white space at its ends and no control characters", group))
		}
		if group == "" || reserved(m.GroupsPrefix+group) {
			errs = append(errs, fmt.Errorf("impersonation.groups %q: with the prefix %q it is empty or begins with %s", group,
				m.GroupsPrefix, reservedPrefix))
		}
	}
	return errors.Join(errs...)
}

// checkURL accepts https URLs, and http URLs of loopback addresses.
func checkURL(field, text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%s %q: must be a URL such as https://example.com without user, query and fragment", field, text)
	case u.Scheme == "https", u.Scheme == "http" && IsLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%s %q: must begin with https://; http:// is for loopback addresses only", field, text)
}

// IsLoopback reports whether a host is a loopback address or localhost. Names are not resolved.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// clientSecret returns the secret of the client; empty for a public client.
func (c Config) clientSecret() (string, error) {
	if c.ClientSecretFile == "" {
		return "", nil
	}
	raw, err := os.ReadFile(c.ClientSecretFile)
	if err != nil {
		return "", fmt.Errorf("clientSecretFile: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return "", fmt.Errorf("clientSecretFile %s: is empty; remove the field for a public client", c.ClientSecretFile)
	}
	return secret, nil
}

// cookieKeys returns the keys of cookies, at least one.
func (c Config) cookieKeys() ([][]byte, error) {
	raw, err := os.ReadFile(c.CookieKeysFile)
	if err != nil {
		return nil, fmt.Errorf("cookieKeysFile: %w", err)
	}
	var keys [][]byte
	for i, line := range strings.Fields(string(raw)) {
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != keySize {
			return nil,
				fmt.Errorf("cookieKeysFile %s: key %d must be %d bytes in base64; make one with `openssl rand -base64 32`",
					c.CookieKeysFile, i+1, keySize)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("cookieKeysFile %s: is empty; make a key with `openssl rand -base64 32`", c.CookieKeysFile)
	}
	return keys, nil
}

// issuerTimeout limits the time of a request to the issuer.
const issuerTimeout = 10 * time.Second

// httpClient returns the client for requests to the issuer. It does not follow redirects, which could receive the
// client secret.
func (c Config) httpClient() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if c.CAFile != "" {
		raw, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("caFile: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("caFile %s: contains no certificate in PEM", c.CAFile)
		}
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	}
	return &http.Client{
		Transport:     transport,
		Timeout:       issuerTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
