// Package oidc signs users in at an OpenID Connect issuer: authorization code flow with
// PKCE, discovery, refresh and sign-out. It keeps the session in an encrypted cookie, so that replicas with the same
// key share sessions.
//
// [Provider.Begin] and [Provider.Finish] are the two halves of a sign-in. [Provider.Session]
// finds the session of a request, and refreshes it at the issuer every [CheckPeriod]. So if a user is blocked at the
// issuer or the refresh token is revoked, the session ends within that time. [Provider.End] ends a session.
package oidc
