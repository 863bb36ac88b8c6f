package oidc

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

const (
	// SessionCookie is the cookie of a session. With the prefix __Host-, browsers accept it only if it is Secure and
	// for this host only. A bearer token is stored in the same cookie, so that each sign-in replaces the previous one.
	SessionCookie = "__Host-darkroom-session"
	// flowCookie is the cookie of a sign-in in progress.
	flowCookie = "__Host-darkroom-sign-in"
	// mark is the prefix of a session in a cookie. Bearer tokens cannot contain it.
	mark = "!"
	// maxPart limits the value of a cookie, in bytes. Browsers allow 4096 bytes for name, value and attributes
	// together. maxParts limits the cookies of a session, because proxies limit the size of all headers.
	maxPart  = 3800
	maxParts = 4
)

// IsSession reports whether the value of SessionCookie is a session rather than a bearer
// token.
func IsSession(value string) bool { return strings.HasPrefix(value, mark) }

// Cookies returns the cookies that store a session.
func (p *Provider) Cookies(session *Session) ([]*http.Cookie, error) {
	sealed, err := p.sealer.seal(SessionCookie, session)
	if err != nil {
		return nil, err
	}
	parts := (len(sealed) + maxPart - 1) / maxPart
	if parts > maxParts {
		return nil, fmt.Errorf(
			"%w: the tokens have %d bytes in the cookie, at most %d are possible; limit the claims and groups that "+
				"the issuer puts into them", ErrRefused, len(sealed), maxParts*maxPart,
		)
	}
	out := []*http.Cookie{}
	for i := range parts {
		value := sealed[i*maxPart : min((i+1)*maxPart, len(sealed))]
		if i == 0 {
			value = fmt.Sprintf("%s%d.%s", mark, parts, value)
		}
		out = append(out, cookie(partName(i), value, 0, http.SameSiteStrictMode))
	}
	return out, nil
}

// TokenCookie returns the cookie that stores a bearer token.
func TokenCookie(token string) *http.Cookie {
	return cookie(SessionCookie, token, 0, http.SameSiteStrictMode)
}

// Deletions returns cookies that delete the session, or the token, of a request.
func Deletions(request *http.Request) []*http.Cookie {
	out := []*http.Cookie{cookie(SessionCookie, "", -1, http.SameSiteStrictMode)}
	for i := 1; i < maxParts; i++ {
		if _, err := request.Cookie(partName(i)); err == nil {
			out = append(out, cookie(partName(i), "", -1, http.SameSiteStrictMode))
		}
	}
	return out
}

// sealedIn returns the encrypted session in the cookies of a request, or an empty string.
func sealedIn(request *http.Request) string {
	first, err := request.Cookie(SessionCookie)
	if err != nil || !IsSession(first.Value) {
		return ""
	}
	count, value, _ := strings.Cut(strings.TrimPrefix(first.Value, mark), ".")
	parts, err := strconv.Atoi(count)
	if err != nil || parts > maxParts {
		return ""
	}
	for i := 1; i < parts; i++ {
		part, err := request.Cookie(partName(i))
		if err != nil {
			return ""
		}
		value += part.Value
	}
	return value
}

func partName(i int) string {
	if i == 0 {
		return SessionCookie
	}
	return fmt.Sprintf("%s-%d", SessionCookie, i)
}

func cookie(name, value string, maxAge int, sameSite http.SameSite) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // strict or lax
		Name: name, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: true, SameSite: sameSite,
	}
}
