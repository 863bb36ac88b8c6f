// Package status reports the observed state of a Darkroom: its phase, the domains at
// which images are served, its URL, its replicas, and the conditions Ready,
// DomainsReady, CredentialsReady, Reconciling and Stalled. docs/conditions.md has
// them all, with their reasons; a test keeps the page complete.
//
// It knows nothing of Helm's storage. A report follows from the live Deployment and
// the live Ingress and HTTPRoute, from the conditions that the Helm reconciler wrote,
// and from the resource. The decisions are pure functions (determine.go, pods.go,
// domains.go, gateway.go, progress.go); reconciler.go gathers what they need and
// writes the report.
package status
