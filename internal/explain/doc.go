// Package explain answers why the URL of an image is served as it is: which Darkroom has the host, what each
// hop from there to the source does with the request, which hop is at fault, and how to fix it.
//
// The URL is parsed (url.go), the hops are observed with the rights of the caller (collect.go), and the answer
// is decided from these observations alone (decide.go, response.go). Nothing is ever sent to the host of the URL:
// the image is requested from the Darkroom's own Service, through the proxy of the Kubernetes API. Signatures,
// tokens and other parts of a URL that do not select the image are neither sent on nor shown.
package explain
