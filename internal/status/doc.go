// Package status reports what became of a Darkroom: its phase, the domains at
// which pictures are served, its replicas, and the conditions Ready and
// DomainsReady.
//
// It knows nothing of Helm's storage. What it says follows from the live
// Deployment and the live Ingress or HTTPRoute, from the conditions that the Helm
// reconciler wrote, and from the resource. The decisions are pure functions
// (determine.go, pods.go, domains.go); reconciler.go gathers what they need and
// writes what they say.
package status
