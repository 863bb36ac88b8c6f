// Package reach checks whether a URL answers, for callers who choose the URL.
//
// Such a check must not become a way into the network of the server (SSRF). A [Checker]
// therefore connects only to addresses that a tenant's own pods could use as well: the
// address is checked after the name was resolved, when the connection is made, so that a
// name that resolves differently the second time gains nothing (address.go). It sends no
// credentials, follows redirects only at the same host name, and reads no body. The result
// is a class, such as a refused connection, and never text of the server at the URL.
//
// Limits per caller are those of the package's user.
package reach
