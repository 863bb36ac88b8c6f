package reply

import (
	"fmt"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// Darkroom is a response with a Darkroom.
type Darkroom struct {
	ETag    string   `header:"ETag" doc:"Version of the Darkroom, for If-Match and If-None-Match"`
	Warning []string `header:"Warning" doc:"For a dry run: each host that another Darkroom holds"`
	Body    wire.Darkroom
}

// WithDarkroom returns a response with a Darkroom and its ETag.
func WithDarkroom(darkroom *v1alpha1.Darkroom) *Darkroom {
	return &Darkroom{ETag: wire.ETag(darkroom), Body: wire.Flatten(darkroom)}
}

// Unless returns a response with a Darkroom, or 304 if the header If-None-Match contains its tag.
func Unless(ifNoneMatch string, darkroom *v1alpha1.Darkroom) (*Darkroom, error) {
	if ifNoneMatch != "" && wire.Matches(ifNoneMatch, darkroom) {
		return nil, problem.New(http.StatusNotModified, "").WithHeader("ETag", wire.ETag(darkroom))
	}
	return WithDarkroom(darkroom), nil
}

// Created is a response with a new Darkroom.
type Created struct {
	Location string   `header:"Location" doc:"URL path of the Darkroom"`
	ETag     string   `header:"ETag" doc:"Version of the Darkroom"`
	Warning  []string `header:"Warning" doc:"For a dry run: each host that another Darkroom holds"`
	Body     wire.Darkroom
}

// WithCreated returns a response with a new Darkroom.
func WithCreated(darkroom *v1alpha1.Darkroom) *Created {
	return &Created{
		Location: "/darkrooms/" + url.PathEscape(darkroom.Namespace) + "/" + url.PathEscape(darkroom.Name),
		ETag:     wire.ETag(darkroom),
		Body:     wire.Flatten(darkroom),
	}
}

// NotFound is the problem of a Darkroom that does not exist.
func NotFound(key types.NamespacedName) *problem.Details {
	return problem.New(http.StatusNotFound,
		fmt.Sprintf("there is no Darkroom %q in the namespace %q", key.Name, key.Namespace))
}

// FromKubernetes is wire.FromKubernetes for a request for a Darkroom. A missing Darkroom becomes NotFound.
func FromKubernetes(err error, key types.NamespacedName, redact func(string) string) error {
	if apierrors.IsNotFound(err) {
		return NotFound(key)
	}
	return wire.FromKubernetes(err, redact)
}
