// Package preflight runs one pod of a changed pod template beside the pods that serve, and
// requests the image of spec.probe from it. A change whose pod serves no image is not
// applied.
//
// The pod belongs to a Deployment of its own, which the operator may create anyway, and
// which has labels that no selector of the Darkroom's other objects takes. It is named
// after the change, so that an operator that takes over goes on with it.
package preflight
