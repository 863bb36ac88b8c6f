// Package probe finds out whether Darkrooms serve images.
//
// Darkroom answers /ping with 200 while every image fails: with a wrong key, bucket,
// region or base URL. So the operator requests an image, always with the parameter
// w=16. Without a parameter Darkroom passes the error page of a web folder on as a
// 200; with one it must fetch, decode, resize and encode.
//
// A [Client] sends one probe to an address and returns an [Outcome]: the image was
// served, or why not and what to do about it (outcome.go). It can be a Service, the
// Service proxy of the Kubernetes API server ([NewProxyClient]), or a single pod. A [Prober]
// probes many Darkrooms at intervals and reports only changes, so that a Darkroom
// whose state stays the same costs no request to the Kubernetes API.
package probe
