package wire

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMessagesWithoutValues(t *testing.T) {
	for message, want := range map[string]string{
		`Required value: needed`:                                   `Required value: needed`,
		`Invalid value: "sec\"ret": must be short`:                 `Invalid value: must be short`,
		`Invalid value: -1: spec.replicas in body should be more`:  `Invalid value: should be more`,
		`Unsupported value: "loud": supported values: "a", "b"`:    `Unsupported value: supported values: "a", "b"`,
		`Invalid value: "object": rule broken: see "x": and so on`: `Invalid value: rule broken: see "x": and so on`,
	} {
		if got := withoutValue(message); got != want {
			t.Errorf("%s becomes %s, want %s", message, got, want)
		}
	}
}

func TestPathsOfFields(t *testing.T) {
	for field, want := range map[string]string{
		"spec.source.baseUrl": "body.source.baseUrl", "spec.subDomains[0]": "body.subDomains[0]", ".spec.replicas": "body.replicas",
		"metadata.name": "body.name", "spec": "body", "": "body", "<nil>": "body",
	} {
		if got := bodyPath(metav1.StatusCause{Field: field}); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
}
