package explain

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/imageproxy"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

// inside examines gate, Darkroom and source as the pods use them. If the spec has another source, the change must
// reach the pods first.
func (e *Evidence) inside(subject *v1alpha1.Darkroom) []finding {
	way := e.served(e.asServed(subject))
	last := &way[len(way)-1]
	lag, isKnown := e.lag(subject)
	if lag == "" {
		return way
	}
	last.Detail = strings.TrimPrefix(last.Detail+"; "+lag, "; ")
	if isKnown && last.State == Failed {
		last.remedy, last.field = remedyOf(subject, v1alpha1.ConditionReady), e.fieldOf(subject)
	}
	return way
}

// served examines gate, Darkroom and source. Only the response of the first of these hops is known.
func (e *Evidence) served(subject *v1alpha1.Darkroom) []finding {
	source, _, _ := e.sourceOf(&subject.Spec)
	way := []finding{hop(Darkroom, nameOf(subject)), hop(Source, nameOfSource(source))}
	if subject.Spec.Gate != nil {
		way = append([]finding{hop(Gate, "gate of "+subject.Name)}, way...)
	}
	for i := range way {
		way[i].State = NotAsked
	}
	first, last := &way[0], &way[len(way)-1]
	if detail, remedy, field := e.outside(&subject.Spec); detail != "" {
		*first = first.failed(detail, remedy, field)
		return way
	}
	if detail, remedy := unsigned(e.Signature); detail != "" {
		*first = first.failed(detail, remedy, "")
		first.Status = http.StatusForbidden
		switch e.Signature {
		case SignatureExpired:
			first.Status = http.StatusGone
		case SignatureUntimely:
			first.Status = http.StatusBadRequest
		}
		return way
	}
	if e.Answer.Failure != "" {
		e.unanswered(subject, first, last)
		return way
	}
	first.Status, first.Bytes, first.Milliseconds = e.Answer.Status, e.Answer.Bytes,
		float64(e.Answer.Took)/float64(time.Millisecond)
	e.times(way)
	at, detail, remedy, field := e.blame(subject)
	for i := range way {
		switch {
		case way[i].Kind == at:
			way[i] = way[i].failed(detail, remedy, field)
		case at == Gate, way[i].State != NotAsked:
		case i == 0, at == Darkroom, at == "" && e.Answer.Cache == "":
			way[i].State = OK
		}
	}
	return way
}

// times adds the durations in the gate's Server-Timing header.
func (e *Evidence) times(way []finding) {
	if way[0].Kind != Gate || e.Answer.Cache == "" {
		return
	}
	way[0] = way[0].ok("cache: %s", e.Answer.Cache)
	for i, name := range []string{"transform", "fetch"} {
		if took, found := e.Answer.Parts[name]; found {
			way[i+1].State, way[i+1].Milliseconds = OK, took
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Answer.Parts)) {
		if name != "transform" && name != "fetch" && name != "total" {
			way[0].Detail += fmt.Sprintf(", %s: %.0f ms", name, e.Answer.Parts[name])
		}
	}
}

// outside explains a path that cannot be the path of an image.
func (e *Evidence) outside(spec *v1alpha1.DarkroomSpec) (detail, remedy, field string) {
	prefix := strings.TrimSuffix(spec.Source.PathPrefix, "/")
	hasPrefix := spec.Source.Type == v1alpha1.S3 || spec.Source.Type == v1alpha1.CloudFront
	switch {
	case imageproxy.IsInternal(e.URL.Path):
		return "the path is not one of an image", "Request the path of an image in the source", ""
	case e.URL.Path == "/":
		return "the URL has no path of an image", "Add the path of an image in the source, for example /cat.jpg", ""
	case !imageproxy.IsPlain(e.URL.Path):
		return "the path contains .., //, or one of \\ ? # %, which browsers and proxies change",
			"Use the plain path of the image in the URL", ""
	case hasPrefix && prefix != "" && len(spec.AdditionalSources) == 0 && !strings.HasPrefix(e.URL.Path, prefix):
		return fmt.Sprintf("the path does not begin with %s", spec.Source.PathPrefix),
			"Begin the path of the URL with source.pathPrefix, which is not stripped, or change that field", "source.pathPrefix"
	}
	return "", "", ""
}

// unsigned explains a signature that the gate rejects.
func unsigned(signature Signature) (detail, remedy string) {
	const sign = "Sign the URL: kubectl darkroom sign, or GET …/signed-url of the REST API"
	switch signature {
	case SignatureMissing:
		return "the URL is not signed, and gate.signing requires it", sign
	case SignatureInvalid:
		return "the signature of the URL is invalid: the URL was changed, or signed with another key",
			sign + "; check that the key is in the Secret of gate.signing.secretRef"
	case SignatureUntimely:
		return "the parameter expires of the URL is not a time in seconds since 1970", sign
	case SignatureExpired:
		return "the URL has expired", sign
	}
	return "", ""
}

// unanswered explains why there is no response.
func (e *Evidence) unanswered(subject *v1alpha1.Darkroom, first, last *finding) {
	switch e.Answer.Failure {
	case NoRight:
		*first = first.unknown("you may not request it",
			"Ask for permission to get services/proxy in the namespace "+subject.Namespace)
	case NoKeys:
		*first = first.unknown("URLs are signed, and you may not read the key",
			"Ask for permission to get the Secret of gate.signing in the namespace "+subject.Namespace)
	case TimedOut:
		*last = last.failed("no response in time", e.remedy(v1alpha1.ReasonSourceTimeout, subject), e.fieldOf(subject))
	case Unreachable:
		*first = first.failed("no ready pod responds", readLog(subject, "darkroom"), "")
	default:
		*first = first.unknown("the request could not be sent", "Try again")
	}
	// Without a request, only the last probe gives information about the source.
	condition := v1alpha1.FindCondition(subject.Status.Conditions, v1alpha1.ConditionSourceReady)
	if last.State == NotAsked && first.State == Unknown && condition != nil && condition.Status == metav1.ConditionFalse {
		*last = last.failed("the image of probe.path is not served: "+trimmed(condition.Message),
			remedyOf(subject, v1alpha1.ConditionSourceReady), e.fieldOf(subject))
	}
}

// sourceOf returns the source for the URL, the prefix of its fields, and its name if it is an additional source. It is
// the source named in a failure, or else the source of the path.
func (e *Evidence) sourceOf(spec *v1alpha1.DarkroomSpec) (source *v1alpha1.Source, field, name string) {
	source, field = &spec.Source, "source"
	named, longest := probe.AdditionalSource(e.Answer.Detail), 0
	for i := range spec.AdditionalSources {
		other := &spec.AdditionalSources[i]
		isOfPath := !other.Fallback && len(other.Path) > longest && strings.HasPrefix(e.URL.Path, other.Path+"/")
		if other.Name == named || named == "" && isOfPath {
			source, field, name, longest = &other.Source, fmt.Sprintf("additionalSources.%d", i), other.Name, len(other.Path)
		}
	}
	return source, field, name
}

// remedy returns what to check about the source.
func (e *Evidence) remedy(reason string, subject *v1alpha1.Darkroom) string {
	if _, _, name := e.sourceOf(&subject.Spec); name != "" {
		return probe.RemedyOfAdditional(name)
	}
	return probe.Remedy(reason, subject)
}

// fieldOf returns the field with the location of the source.
func (e *Evidence) fieldOf(subject *v1alpha1.Darkroom) string {
	source, field, _ := e.sourceOf(&subject.Spec)
	switch source.Type {
	case v1alpha1.S3, v1alpha1.GoogleCloudStorage:
		return field + ".bucket"
	case v1alpha1.CloudFront:
		return field + ".host"
	}
	return field + ".baseUrl"
}

// readLog returns how to read the logs of a container in all pods.
func readLog(darkroom *v1alpha1.Darkroom, container string) string {
	return fmt.Sprintf("Read the log: kubectl logs -n %s -l app.kubernetes.io/name=darkroom,app.kubernetes.io/instance=%s "+
		"-c %s --tail=100", darkroom.Namespace, darkroom.Name, container)
}

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("status %d %s", status, http.StatusText(status)))
}
