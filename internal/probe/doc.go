// Package probe checks whether Darkrooms serve images.
//
// Darkroom responds to /ping with 200 even if every image fails because of a wrong key, bucket, region or base URL. So
// the operator requests an image, always with the parameter w=16. Without a parameter, Darkroom passes on the error
// page of a web folder with status 200. With the parameter, it has to fetch, decode, resize and encode the image.
//
// A [Client] sends one probe to an address and returns an [Outcome]: the image was served, or the reason for the
// failure and what to do about it (classify.go, remedy.go). The address is a Service, the Service proxy of the Kubernetes API
// server ([NewProxyClient]), or a single pod. A [Prober] probes many Darkrooms at intervals and reports only changes, so
// that a Darkroom in a steady state causes no requests to the Kubernetes API.
//
// New pods request the same image by the startup probe of the chart, so a change that cannot serve it replaces no pod.
package probe
