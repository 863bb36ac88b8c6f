package explain

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// asServed returns the Darkroom with the sources that its pods read, which may be from an earlier generation of the
// spec. Unless they are known, it returns the Darkroom unchanged.
func (e *Evidence) asServed(subject *v1alpha1.Darkroom) *v1alpha1.Darkroom {
	variables := e.Variables.Object
	if e.Variables.Access != Found || variables["SOURCE_KIND"] == "" {
		return subject
	}
	out := subject.DeepCopy()
	spec := &out.Spec
	spec.Source, spec.AdditionalSources = sourceIn(variables, "SOURCE_"), nil
	for i, name := range strings.FieldsFunc(variables["GATE_ADDITIONAL_SOURCES"], func(r rune) bool { return r == ',' }) {
		prefix := fmt.Sprintf("SOURCE_%d_", i+1)
		spec.AdditionalSources = append(spec.AdditionalSources, v1alpha1.AdditionalSource{
			Name: name, Path: variables["GATE_"+prefix+"PATH"], Fallback: variables["GATE_"+prefix+"FALLBACK"] == "true",
			Source: sourceIn(variables, prefix),
		})
	}
	if _, gated := variables["GATE_RESIZER"]; !gated {
		spec.Gate = nil
	} else if spec.Gate == nil {
		spec.Gate = &v1alpha1.Gate{}
	}
	return out
}

// kinds are the types of sources by the value of SOURCE_KIND.
var kinds = map[string]v1alpha1.SourceType{
	"webfolder": v1alpha1.WebFolder, "s3": v1alpha1.S3, "gcs": v1alpha1.GoogleCloudStorage,
	"cloudfront": v1alpha1.CloudFront,
}

// sourceIn returns the location of a source in the variables with a prefix, which the chart's darkroom.sourceConfig
// sets.
func sourceIn(variables map[string]string, prefix string) v1alpha1.Source {
	return v1alpha1.Source{
		Type: kinds[variables[prefix+"KIND"]], BaseURL: variables[prefix+"BASEURL"],
		Bucket: variables[prefix+"BUCKET_NAME"], Region: variables[prefix+"BUCKET_REGION"],
		Endpoint: variables[prefix+"BUCKET_ENDPOINT"], Host: variables[prefix+"HOST"],
		PathPrefix: variables[prefix+"PATHPREFIX"],
	}
}

// location describes where a source is.
func location(source *v1alpha1.Source) string {
	out := nameOfSource(source)
	for _, part := range [][2]string{
		{"region", source.Region}, {"endpoint", source.Endpoint}, {"pathPrefix", source.PathPrefix},
	} {
		if part[1] != "" {
			out += fmt.Sprintf(", %s %s", part[0], part[1])
		}
	}
	return out
}

func nameOfSource(source *v1alpha1.Source) string {
	return fmt.Sprintf("%s %s", cmp.Or(source.Type, v1alpha1.WebFolder),
		cmp.Or(strings.TrimSuffix(source.BaseURL, "/"), source.Bucket, source.Host))
}

// lag explains that the pods do not use the source in the spec, or, if isKnown is false, that they may not; empty if
// they use it.
func (e *Evidence) lag(subject *v1alpha1.Darkroom) (text string, isKnown bool) {
	ready := v1alpha1.FindCondition(subject.Status.Conditions, v1alpha1.ConditionReady)
	why := "the operator has not handled the last change yet"
	if ready != nil && ready.ObservedGeneration == subject.Generation {
		why = trimmed(ready.Message)
	}
	if e.Variables.Access == Found {
		used, _, _ := e.sourceOf(&e.asServed(subject).Spec)
		desired, _, _ := e.sourceOf(&subject.Spec)
		if location(used) == location(desired) {
			return "", true
		}
		return fmt.Sprintf("the pods still use %s, not %s as in the spec: %s", location(used), location(desired), why), true
	}
	if e.Answer.Failure == "" && mayLag(subject, ready) {
		return "the pods may still use earlier settings: " + why, false
	}
	return "", false
}

// mayLag reports whether a change of the spec may not have reached the pods. Pods that wait only for their routes
// already use the change.
func mayLag(subject *v1alpha1.Darkroom, ready *v1alpha1.Condition) bool {
	if ready == nil || ready.ObservedGeneration != subject.Generation {
		return true
	}
	domains := v1alpha1.FindCondition(subject.Status.Conditions, v1alpha1.ConditionDomainsReady)
	awaitsRoutes := domains != nil && domains.Reason == ready.Reason
	return ready.Status != metav1.ConditionTrue && !awaitsRoutes && ready.Reason != v1alpha1.ReasonReplicasUnavailable
}
