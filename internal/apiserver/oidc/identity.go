package oidc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// reservedPrefix begins the names of users and groups that Kubernetes defines, for example
// system:masters. They are never impersonated.
const reservedPrefix = "system:"

// maxName bounds a name, in bytes.
const maxName = 512

func reserved(name string) bool { return strings.HasPrefix(name, reservedPrefix) }

// altered reports whether a header of HTTP could not carry a name as it is: it would be another
// user's. White space at its ends is removed, and some control characters end a header.
func altered(name string) bool {
	return name != strings.TrimSpace(name) || strings.ContainsFunc(name, unicode.IsControl)
}

// claims are the claims of an ID token.
type claims map[string]json.RawMessage

// identity returns the name of the user and the listed groups in the claims, without
// prefixes.
func (m *Impersonation) identity(from claims) (username string, groups []string, err error) {
	if err := json.Unmarshal(from[m.UsernameClaim], &username); err != nil || username == "" {
		return "", nil, fmt.Errorf("%w: the ID token has no claim %s that is a name", ErrNotAllowed, m.UsernameClaim)
	}
	if m.UsernameClaim == "email" {
		// As in Kubernetes: absent means that the issuer does not make the difference.
		if verified, found := from["email_verified"]; found && string(verified) != "true" {
			return "", nil, fmt.Errorf("%w: the issuer has not verified the email address", ErrNotAllowed)
		}
	}
	if len(username) > maxName || altered(username) || reserved(username) || reserved(m.UsernamePrefix+username) {
		return "", nil, fmt.Errorf("%w: the name in the claim %s is reserved or invalid", ErrNotAllowed, m.UsernameClaim)
	}
	return username, m.listed(groupsIn(from[m.GroupsClaim])), nil
}

// groupsIn returns the groups of a claim: a list of names, or one name.
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

// listed returns the groups that the configuration lists, without duplicates.
func (m *Impersonation) listed(groups []string) []string {
	var out []string
	for _, group := range m.Groups {
		if slices.Contains(groups, group) && !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	return out
}

// Impersonated returns the user and the groups of the cluster that a session stands for. It
// checks them again, because the configuration may be newer than the session.
func (p *Provider) Impersonated(session *Session) (username string, groups []string) {
	m := p.config.Impersonation
	for _, group := range m.listed(session.Groups) {
		groups = append(groups, m.GroupsPrefix+group)
	}
	return m.UsernamePrefix + session.Username, groups
}
