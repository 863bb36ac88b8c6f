package oidc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// reservedPrefix is the prefix of the users and groups of Kubernetes, for example system:masters. They are never
// impersonated.
const reservedPrefix = "system:"

// maxName limits the length of a name, in bytes.
const maxName = 512

func reserved(name string) bool { return strings.HasPrefix(name, reservedPrefix) }

// altered reports whether an HTTP header would change a name, possibly to the name of another user. Leading and
// trailing white space is removed, and control characters may end a header.
func altered(name string) bool {
	return name != strings.TrimSpace(name) || strings.ContainsFunc(name, unicode.IsControl)
}

// claims are the claims of an ID token.
type claims map[string]json.RawMessage

// identity returns the user name and the configured groups in the claims, without prefixes.
func (m *Impersonation) identity(from claims) (username string, groups []string, err error) {
	if err := json.Unmarshal(from[m.UsernameClaim], &username); err != nil || username == "" {
		return "", nil, fmt.Errorf("%w: the ID token has no claim %s that is a name", ErrNotAllowed, m.UsernameClaim)
	}
	if m.UsernameClaim == "email" {
		// As in Kubernetes, an absent claim means that the issuer does not verify addresses.
		if verified, found := from["email_verified"]; found && string(verified) != "true" {
			return "", nil, fmt.Errorf("%w: the issuer has not verified the email address", ErrNotAllowed)
		}
	}
	if len(username) > maxName || altered(username) || reserved(username) || reserved(m.UsernamePrefix+username) {
		return "", nil, fmt.Errorf("%w: the name in the claim %s is reserved or invalid", ErrNotAllowed, m.UsernameClaim)
	}
	return username, m.listed(groupsIn(from[m.GroupsClaim])), nil
}

// groupsIn returns the groups in a claim, which is a list of names or one name.
func groupsIn(raw json.RawMessage) []string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	return nil
}

// listed returns the configured groups, without duplicates.
func (m *Impersonation) listed(groups []string) []string {
	var out []string
	for _, group := range m.Groups {
		if slices.Contains(groups, group) && !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	return out
}

// Impersonated returns the user and the groups to impersonate for a session. It checks them again, because the
// configuration may be newer than the session.
func (p *Provider) Impersonated(session *Session) (username string, groups []string) {
	m := p.config.Impersonation
	for _, group := range m.listed(session.Groups) {
		groups = append(groups, m.GroupsPrefix+group)
	}
	return m.UsernamePrefix + session.Username, groups
}
