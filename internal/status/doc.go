// Package status reports the observed state of a Darkroom: its phase, the domains at which images are served, its URL,
// its replicas, and the conditions Ready, DomainsReady, CredentialsReady, SourceReady, Reconciling and Stalled.
// docs/conditions.md lists them all with their reasons.
//
// A report is derived from the live Deployment, Ingress and HTTPRoute, the conditions of the Helm reconciler, and the
// resource. Helm's storage is not read. The decisions are pure functions, starting at determine.go. pods.go,
// domains.go, references.go and probe.go each determine one aspect, and progress.go determines Reconciling and Stalled.
// reconciler.go collects the input and writes the report.
package status
