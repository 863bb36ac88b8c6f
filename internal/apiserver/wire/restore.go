package wire

import (
	"fmt"
	"net/http"

	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// Restore returns a Darkroom with an earlier, concealed spec. Inline keys and literal values of variables keep their
// current values. It fails if the Darkroom lacks a value that the earlier spec had.
func Restore(concealed *v1alpha1.DarkroomSpec, now *v1alpha1.Darkroom) (*v1alpha1.Darkroom, error) {
	settings := FlattenRevision(concealed)
	in := &DarkroomInput{
		Name: now.Name, Namespace: now.Namespace,
		DarkroomSpec: settings.DarkroomSpec, Source: SourceInput{Source: settings.Source.Source},
	}
	for _, source := range settings.AdditionalSources {
		in.AdditionalSources = append(in.AdditionalSources, AdditionalSourceInput{AdditionalSource: source.AdditionalSource})
	}
	for _, variable := range concealed.ExtraEnv {
		input := EnvVarInput{Name: variable.Name, ValueFrom: variable.ValueFrom}
		if variable.ValueFrom == nil && variable.Value == "" {
			input.Value = ptr.To("")
		}
		in.ExtraEnv = append(in.ExtraEnv, input)
	}
	out := Expand(in, now)
	var missing []problem.Field
	restored := map[string]*v1alpha1.Source{}
	for source, field := range out.Spec.Sources() {
		restored[field] = source
	}
	for source, field := range concealed.Sources() {
		if source.SecretKey != "" && restored[field].SecretKey == "" {
			missing = append(missing, problem.Field{
				Location: field + ".secretKey",
				Message:  "the revision had inline keys for a different service",
			})
		}
	}
	for i, variable := range concealed.ExtraEnv {
		if variable.Value != "" && out.Spec.ExtraEnv[i].Value == "" {
			missing = append(missing, problem.Field{
				Location: fmt.Sprintf("extraEnv[%d].value", i),
				Message:  variable.Name + " had a literal value and no longer has one",
			})
		}
	}
	if len(missing) > 0 {
		return nil, problem.New(http.StatusUnprocessableEntity,
			"the revision had credentials or literal values that the history "+
				"does not keep: edit the Darkroom instead, or roll back with kubectl and the Secret of the revision", missing...)
	}
	return out, nil
}
