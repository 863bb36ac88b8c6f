package explain

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

// blame determines which hop caused the response; none if the response is an image.
func (e *Evidence) blame(subject *v1alpha1.Darkroom) (at Kind, detail, remedy, field string) {
	a := &e.Answer
	detail = cmp.Or(a.Detail, "the response has "+statusText(a.Status))
	switch {
	case a.Status == http.StatusOK && strings.HasPrefix(a.ContentType, "image/"):
		return "", "", "", ""
	case a.Status == http.StatusOK:
		detail = fmt.Sprintf(
			"the response is %s, not an image: without a gate, Darkroom passes on the error page of a source",
			cmp.Or(a.ContentType, "of no type"),
		)
		return Source, detail, e.remedy(v1alpha1.ReasonImageNotFound, subject), e.fieldOf(subject)
	case subject.Spec.Gate != nil:
		if at, remedy, field = e.blameInGate(subject); at != Source {
			return at, detail, remedy, field
		}
	}
	remedy = cmp.Or(remedy, e.remedy(probe.Classify(a.Status), subject))
	if a.Status >= http.StatusInternalServerError && a.Status != http.StatusLoopDetected {
		reader := Darkroom
		if subject.Spec.Gate != nil {
			reader = Gate
		}
		remedy += ". " + readLog(subject, string(reader)) // responses do not contain the cause
	}
	return Source, detail, remedy, e.fieldOf(subject)
}

// blameInGate decides by the gate's status and the steps in its Server-Timing header.
func (e *Evidence) blameInGate(subject *v1alpha1.Darkroom) (at Kind, remedy, field string) {
	a := &e.Answer
	_, transformed := a.Parts["transform"]
	signs := subject.Spec.Gate.Signing != nil
	silent := subject.Spec.Gate.ServerTiming != nil && !*subject.Spec.Gate.ServerTiming
	switch status := a.Status; {
	case transformed && status >= 500:
		return Darkroom, readLog(subject, "darkroom"), "resources"
	case status == http.StatusForbidden && signs && a.Cache == "" && !silent:
		return Gate,
			"Pods read a changed Secret of gate.signing within two minutes: try again, or check gate.signing.secretRef",
			"gate.signing"
	case status == http.StatusRequestEntityTooLarge:
		return Gate,
			"Raise the limit of gate.limits or the memory of resources that the message names, or store a smaller original",
			"gate.limits"
	case status == http.StatusServiceUnavailable:
		return Gate, "Try again; if it lasts, raise replicas, or resources of Darkroom and of the gate", "replicas"
	case status == http.StatusInternalServerError:
		return Gate, readLog(subject, "gate"), ""
	case status == http.StatusLoopDetected:
		return Source, "Set the source to where the images are stored: it leads back to the gate", ""
	case status == http.StatusForbidden, status == http.StatusNotFound,
		status == http.StatusUnsupportedMediaType, status >= 500:
		return Source, "", ""
	}
	return Gate, "Change the parameter of the URL that the message names, or the settings of spec.gate", "gate"
}
