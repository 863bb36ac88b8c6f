// Package explain explains how the URL of an image is served: which Darkroom holds the host, how each hop from there to
// the source handles the request, which hop fails, and what to do about it.
//
// The URL is parsed (url.go), the hops are observed with the permissions of the caller (collect.go), and the
// explanation is derived from these observations alone (decide.go, response.go, blame.go). No request is sent to the host of the
// URL: the image is requested from the Darkroom's Service through the proxy of the Kubernetes API. Signatures, tokens
// and other parts of a URL that do not select the image are neither sent nor printed.
package explain
