// Package status reports the observed state of a Darkroom: its phase, the domains at which
// images are served, its URL, its replicas, and the conditions Ready, DomainsReady,
// CredentialsReady, SourceReady, Reconciling and Stalled. docs/conditions.md lists all of
// them with their reasons; a test keeps it complete.
//
// It does not read Helm's storage. A report is derived from the live Deployment, Ingress
// and HTTPRoute, the conditions of the Helm reconciler, and the resource. The decisions are
// pure functions: determine.go begins, pods.go, domains.go, references.go and probe.go judge one thing each, and
// progress.go says what is on its way. reconciler.go collects their input and writes the report.
package status
