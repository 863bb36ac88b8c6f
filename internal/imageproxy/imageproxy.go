// Package imageproxy requests images of Darkrooms through the proxy of the Kubernetes API, with the identity of a
// caller.
package imageproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

// SignatureTTL is the validity of signatures of these requests. It is short because the URLs are in the audit log. The
// clock skew between pods and callers must be smaller.
const SignatureTTL = 5 * time.Minute

// Internal are the paths that Darkroom serves in addition to images.
var Internal = []string{"/metrics", "/ping", "/debug"}

// IsInternal reports whether a path equals one of Internal or is below it.
func IsInternal(of string) bool {
	return slices.ContainsFunc(Internal,
		func(prefix string) bool { return of == prefix || strings.HasPrefix(of, prefix+"/") })
}

// IsPlain reports whether a path is absolute, clean, and safe to request through the proxy.
func IsPlain(of string) bool {
	return strings.HasPrefix(of, "/") && path.Clean(of) == of && !strings.ContainsAny(of, "\\?#%\x00\r\n")
}

// NeedsSignature reports whether the gate rejects a URL of a Darkroom without a signature.
func NeedsSignature(spec *v1alpha1.DarkroomSpec, path, query string) bool {
	if spec.Gate == nil || spec.Gate.Signing == nil || spec.Gate.Signing.Mode == v1alpha1.SigningReport {
		return false
	}
	return spec.Probe == nil || path != spec.Probe.Path || query != probe.Query
}

// NewRequest returns a request for an image with a plain path to the Service of a Darkroom.
func NewRequest(
	ctx context.Context, api rest.Interface, darkroom *v1alpha1.Darkroom, path, query, accept string,
) (*http.Request, error) {
	target := api.Get().Namespace(darkroom.Namespace).Resource("services").
		Name("http:" + darkroom.Name + ":http").SubResource("proxy").URL()
	target.Path += path
	target.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("create request for an image: %w", err)
	}
	request.Header.Set("Accept", accept)
	return request, nil
}

// MaxRefusal limits the size of a response to decode, in bytes. A Darkroom may send a larger response, and decoding
// takes a hundred times its size in memory.
const MaxRefusal = 64 << 10

// Refusal returns the error if the response came from the Kubernetes API itself; nil if it came from the Darkroom.
func Refusal(status int, body []byte) *apierrors.StatusError {
	answer := metav1.Status{}
	if status < http.StatusBadRequest || len(body) > MaxRefusal ||
		json.Unmarshal(body, &answer) != nil || answer.Kind != "Status" {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: answer}
}

// IsWithoutPods reports whether the Kubernetes API found no pod that could respond. Since version 1.37, it does not
// distinguish a missing Service from a Service without pods.
func IsWithoutPods(refusal *apierrors.StatusError) bool {
	return apierrors.IsNotFound(refusal) || strings.HasPrefix(refusal.ErrStatus.Message, "no endpoints available")
}
