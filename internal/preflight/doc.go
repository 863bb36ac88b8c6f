// Package preflight runs one pod of a changed pod template beside the pods that serve, and
// requests the image of spec.probe from it. A change whose pod serves no image is not
// applied.
//
// The pod belongs to a separate Deployment, because the operator has permission to create
// Deployments but not pods. Its labels match no selector of the Darkroom's other objects.
// It is named after the change, so that an operator that takes over continues the check.
package preflight
