package v1alpha1

import (
	"fmt"
	"strings"
)

// Concealed replaces a write-only value to show that it is set.
const Concealed = "REDACTED"

// RevisionSpec is the key in a release Secret for the spec from which the revision was made, as JSON, with inline
// credentials. Revisions of other Helm clients and of the operator's first versions do not have it.
const RevisionSpec = "spec"

// Annotations of the ControllerRevision of a revision.
const (
	// AnnotationRevisionStatus is Helm's status of the revision after the operator applied it: deployed or failed.
	AnnotationRevisionStatus = "deployments.example.com/revision-status"
	// AnnotationRevisionAuthor describes the last write of the spec: its time in RFC 3339, a space, and the field
	// manager, such as kubectl-edit. It is for display only, and absent if unknown.
	AnnotationRevisionAuthor = "deployments.example.com/revision-author"
)

// RevisionData is the data of the ControllerRevision of a revision.
//
// +kubebuilder:object:generate=false
type RevisionData struct {
	// Spec is the spec from which the revision was made, with write-only values concealed.
	Spec DarkroomSpec `json:"spec"`
}

// RevisionName returns the name of the ControllerRevision of a revision. It contains the beginning of the UID, so that
// records of a deleted Darkroom of the same name do not conflict.
func RevisionName(darkroom *Darkroom, revision int) string {
	uid, _, _ := strings.Cut(string(darkroom.UID), "-")
	return fmt.Sprintf("%s-%s-v%d", darkroom.Name, uid, revision)
}

// Concealed returns a copy of the spec in which Concealed replaces write-only values: inline keys and the literal
// values of environment variables.
func (s *DarkroomSpec) Concealed() *DarkroomSpec {
	out := s.DeepCopy()
	for source := range out.Sources() {
		for _, key := range []*string{&source.AccessKey, &source.SecretKey} {
			if *key != "" {
				*key = Concealed
			}
		}
	}
	for i := range out.ExtraEnv {
		if variable := &out.ExtraEnv[i]; variable.Value != "" {
			variable.Value = Concealed
		}
	}
	return out
}
